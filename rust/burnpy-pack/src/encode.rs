//! Writes the metadata to the byte as Burn does.

use std::collections::BTreeMap;

use burnpy_buffer::{BlockScale, BoolStore, DType, QuantScheme, QuantStore};

use crate::cbor::{ARRAY, MAP, NEGATIVE, NULL, TEXT, UNSIGNED, put_float};
use crate::dtype_name::plain_name;
use crate::scalar::Scalar;

/// What the writer says of one tensor.
pub(crate) struct Described<'t> {
    pub(crate) name: &'t str,
    pub(crate) dtype: DType,
    pub(crate) shape: &'t [u64],
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) param_id: Option<u64>,
}

/// Writes the metadata as Burn does: fixed order of keys, maps sorted by key, empty maps left out.
/// `tensors` must come in name order.
pub(crate) fn encode<'t>(
    tensors: impl ExactSizeIterator<Item = Described<'t>>,
    metadata: &BTreeMap<String, String>,
    scalars: &BTreeMap<String, Scalar>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + 80 * tensors.len());
    put_head(&mut out, MAP, 1 + u64::from(!metadata.is_empty()) + u64::from(!scalars.is_empty()));
    put_text(&mut out, "tensors");
    put_head(&mut out, MAP, tensors.len() as u64);
    tensors.for_each(|tensor| put_tensor(&mut out, &tensor));
    if !metadata.is_empty() {
        put_text(&mut out, "metadata");
        put_head(&mut out, MAP, metadata.len() as u64);
        for (key, value) in metadata {
            put_text(&mut out, key);
            put_text(&mut out, value);
        }
    }
    if !scalars.is_empty() {
        put_text(&mut out, "scalars");
        put_head(&mut out, MAP, scalars.len() as u64);
        for (key, value) in scalars {
            put_text(&mut out, key);
            put_scalar(&mut out, *value);
        }
    }
    out
}

/// A CBOR head in its shortest form. Written here and not through the library's encoder, which is generic over
/// fallible sinks: a vector never fails, and 100 000 descriptors are 2 million heads.
fn put_head(out: &mut Vec<u8>, major: u8, value: u64) {
    match value {
        0..=23 => out.push(major | value as u8),
        24..=0xFF => out.extend([major | 24, value as u8]),
        0x100..=0xFFFF => {
            out.push(major | 25);
            out.extend((value as u16).to_be_bytes());
        }
        0x1_0000..=0xFFFF_FFFF => {
            out.push(major | 26);
            out.extend((value as u32).to_be_bytes());
        }
        _ => {
            out.push(major | 27);
            out.extend(value.to_be_bytes());
        }
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_head(out, TEXT, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn put_tensor(out: &mut Vec<u8>, tensor: &Described<'_>) {
    put_text(out, tensor.name);
    put_head(out, MAP, 3 + u64::from(tensor.param_id.is_some()));
    // Heads and keys that never differ go out as one.
    out.extend_from_slice(b"\x65dtype");
    put_dtype(out, tensor.dtype);
    out.extend_from_slice(b"\x65shape");
    put_head(out, ARRAY, tensor.shape.len() as u64);
    tensor.shape.iter().for_each(|&dim| put_head(out, UNSIGNED, dim));
    out.extend_from_slice(b"\x6Cdata_offsets\x82");
    put_head(out, UNSIGNED, tensor.start);
    put_head(out, UNSIGNED, tensor.end);
    if let Some(id) = tensor.param_id {
        out.extend_from_slice(b"\x68param_id");
        put_head(out, UNSIGNED, id);
    }
}

fn put_dtype(out: &mut Vec<u8>, dtype: DType) {
    match dtype {
        DType::Bool(store) => {
            put_head(out, MAP, 1);
            put_text(out, "Bool");
            put_text(out, bool_store_name(store));
        }
        DType::QFloat(scheme) => {
            put_head(out, MAP, 1);
            put_text(out, "QFloat");
            put_scheme(out, &scheme);
        }
        _ => match plain_name(dtype) {
            Some(name) => {
                put_head(out, TEXT, name.len() as u64);
                out.extend_from_slice(name);
            }
            None => unreachable!("every dtype but Bool and QFloat has a plain name"),
        },
    }
}

const fn bool_store_name(store: BoolStore) -> &'static str {
    match store {
        BoolStore::Native => "Native",
        BoolStore::U8 => "U8",
        BoolStore::U32 => "U32",
    }
}

fn put_scheme(out: &mut Vec<u8>, scheme: &QuantScheme) {
    put_head(out, MAP, 5);
    put_text(out, "value");
    put_text(out, scheme.value.name());
    put_text(out, "store");
    match scheme.store {
        QuantStore::Native => put_text(out, "Native"),
        QuantStore::PackedNative(dim) => put_packed(out, "PackedNative", dim),
        QuantStore::PackedU32(dim) => put_packed(out, "PackedU32", dim),
    }
    put_text(out, "mode");
    put_text(out, scheme.mode.name());
    put_text(out, "tensor");
    match scheme.tensor {
        Some(dtype) => put_text(out, dtype.name()),
        None => out.push(NULL),
    }
    put_text(out, "block");
    match scheme.block {
        Some(block) => put_block(out, &block),
        None => out.push(NULL),
    }
}

fn put_packed(out: &mut Vec<u8>, name: &str, dim: u64) {
    put_head(out, MAP, 1);
    put_text(out, name);
    put_head(out, UNSIGNED, dim);
}

fn put_block(out: &mut Vec<u8>, block: &BlockScale) {
    put_head(out, MAP, 2);
    put_text(out, "size");
    put_head(out, MAP, 2);
    put_text(out, "storage");
    put_head(out, ARRAY, 5);
    block.size.storage.iter().for_each(|&extent| put_head(out, UNSIGNED, u64::from(extent)));
    put_text(out, "len");
    put_head(out, UNSIGNED, u64::from(block.size.len));
    put_text(out, "dtype");
    put_text(out, block.dtype.name());
}

fn put_scalar(out: &mut Vec<u8>, scalar: Scalar) {
    put_head(out, MAP, 1);
    put_text(out, scalar.kind());
    match scalar {
        Scalar::Int(value) if value < 0 => put_head(out, NEGATIVE, !(value as u64)),
        Scalar::Int(value) => put_head(out, UNSIGNED, value as u64),
        Scalar::UInt(value) => put_head(out, UNSIGNED, value),
        Scalar::Float(value) => put_float(out, value),
        Scalar::Bool(value) => out.push(if value { 0xF5 } else { 0xF4 }),
    }
}
