//! Any content, written and read: the same comes back, strict mode takes it, and it is written again in the same bytes.
#![no_main]

use std::collections::{BTreeMap, HashSet};

use arbitrary::Arbitrary;
use burnpy_buffer::{
    BlockScale, BlockSize, Bytes, DType, QuantMode, QuantScheme, QuantStore, QuantValue, ScaleDType,
};
use burnpy_pack::{Scalar, Tensor, Writer};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Content {
    tensors: Vec<Description>,
    metadata: BTreeMap<String, String>,
    scalars: BTreeMap<String, Number>,
}

#[derive(Arbitrary, Debug)]
struct Description {
    name: String,
    dtype: Kind,
    shape: Vec<u8>,
    param_id: Option<u64>,
    fill: u8,
}

#[derive(Arbitrary, Debug)]
enum Kind {
    Plain(u8),
    Quantized {
        value: u8,
        store: u8,
        dim: u8,
        lookup: bool,
        tensor: Option<u8>,
        block: Option<(Vec<u8>, u8)>,
    },
}

#[derive(Arbitrary, Debug)]
enum Number {
    Int(i64),
    UInt(u64),
    Float(u64),
    Bool(bool),
}

fn chosen<T: Copy>(all: &[T], index: u8) -> T {
    all[usize::from(index) % all.len()]
}

fn dtype(kind: &Kind, rank: usize) -> DType {
    match kind {
        Kind::Plain(index) => chosen(&DType::plain().collect::<Vec<_>>(), *index),
        Kind::Quantized { value, store, dim, lookup, tensor, block } => {
            let dim = u64::from(*dim) % rank.max(1) as u64;
            DType::QFloat(QuantScheme {
                value: chosen(&QuantValue::ALL, *value),
                store: chosen(
                    &[QuantStore::Native, QuantStore::PackedNative(dim), QuantStore::PackedU32(dim)],
                    *store,
                ),
                mode: if *lookup { QuantMode::Lookup } else { QuantMode::Symmetric },
                tensor: tensor.map(|index| chosen(&ScaleDType::ALL, index)),
                block: block.as_ref().and_then(|(extents, dtype)| {
                    let extents: Vec<u8> = extents.iter().take(5).map(|&extent| extent.max(1)).collect();
                    Some(BlockScale {
                        size: BlockSize::new(&extents)?,
                        dtype: chosen(&ScaleDType::ALL, *dtype),
                    })
                }),
            })
        }
    }
}

fn tensor(description: &Description) -> Option<Tensor> {
    let shape: Vec<u64> = description.shape.iter().take(6).map(|&dim| u64::from(dim % 12)).collect();
    let dtype = dtype(&description.dtype, shape.len());
    let len = dtype.payload_len(&shape).ok().filter(|&len| len < 1 << 16)?;
    // Booleans are 0 or 1, as strict readers may ask for.
    let fill = if matches!(dtype, DType::Bool(_)) { 0 } else { description.fill };
    let bytes = Bytes::from(vec![fill; len as usize]);
    Some(Tensor::new(description.name.clone(), dtype, shape, description.param_id, bytes))
}

const fn scalar(number: &Number) -> Scalar {
    match *number {
        Number::Int(value) => Scalar::Int(value),
        Number::UInt(value) => Scalar::UInt(value),
        Number::Float(bits) => Scalar::Float(f64::from_bits(bits)),
        Number::Bool(value) => Scalar::Bool(value),
    }
}

fn assert_same(left: Scalar, right: Scalar) {
    match (left, right) {
        (Scalar::Float(a), Scalar::Float(b)) => assert_eq!(a.to_bits(), b.to_bits()),
        _ => assert_eq!(left, right),
    }
}

fuzz_target!(|content: Content| {
    let mut names = HashSet::new();
    let described = content.tensors.iter().filter(|description| names.insert(description.name.as_str()));
    let tensors: Vec<Tensor> = described.filter_map(tensor).collect();
    let mut writer = Writer::new(tensors.clone());
    for (key, value) in &content.metadata {
        writer = writer.with_metadata(key, value);
    }
    for (key, value) in &content.scalars {
        writer = writer.with_scalar(key, scalar(value));
    }
    let file = writer.into_bytes().expect("valid content can be written");

    let reader = burnpy_fuzz::open(&file, true).expect("strict mode takes what the writer wrote");
    assert_eq!(reader.len(), tensors.len());
    for tensor in &tensors {
        let entry = reader.entry(&tensor.name).expect("every name is there");
        assert_eq!(
            (entry.dtype(), entry.shape(), entry.param_id()),
            (tensor.dtype, &tensor.shape[..], tensor.param_id)
        );
        assert!(
            reader.bytes(&entry).expect("it can be read")[..] == tensor.to_bytes().expect("resident")[..]
        );
    }
    assert_eq!(*reader.metadata(), content.metadata);
    assert_eq!(reader.scalars().len(), content.scalars.len());
    content.scalars.iter().for_each(|(key, value)| assert_same(reader.scalars()[key], scalar(value)));
    burnpy_fuzz::check(&file);
    assert!(burnpy_fuzz::written_again(reader)[..] == file[..]);
});
