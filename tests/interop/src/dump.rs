//! A container as `burn-pack` reads it, as JSON.
//!
//! Success: `{"tensors": [...], "scalars": {...}, "metadata": {...}}`, tensors in name order as Burn
//! hands them out. Failure: `{"error": {"kind": ..., "text": ...}}`.

use std::fs;
use std::path::Path;

use burn_pack::{Bytes, Error, Reader, Scalar, Tensor};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Reads by path, payloads through Burn's lazy windows on the file.
pub fn from_file(path: &Path) -> Value {
    Reader::from_file_exact(path).and_then(content).unwrap_or_else(|error| failure(&error))
}

/// Reads the whole file into memory first.
pub fn from_bytes(path: &Path) -> Value {
    match fs::read(path) {
        Ok(bytes) => Reader::from_bytes(Bytes::from_bytes_vec(bytes))
            .and_then(content)
            .unwrap_or_else(|error| failure(&error)),
        Err(error) => failure(&Error::IoError(error.to_string())),
    }
}

fn content(reader: Reader) -> Result<Value, Error> {
    let metadata = json!(reader.metadata());
    let scalars: Map<_, _> =
        reader.scalars().iter().map(|(key, value)| (key.clone(), scalar(*value))).collect();
    let tensors: Vec<Value> = reader.into_tensors()?.into_iter().map(tensor).collect::<Result<_, _>>()?;
    Ok(json!({"tensors": tensors, "scalars": scalars, "metadata": metadata}))
}

fn tensor(tensor: Tensor) -> Result<Value, Error> {
    let (name, dtype, shape, param_id, bytes) = tensor.into_parts()?;
    Ok(json!({
        "name": name,
        "dtype": dtype, // serde's form, the same that the file holds in CBOR
        "shape": shape.to_vec(),
        "param_id": param_id,
        "byte_len": bytes.len(),
        "sha256": hex(&Sha256::digest(&bytes[..])),
    }))
}

/// The kind and the 64 bits: JSON has neither NaN nor the sign of zero.
fn scalar(scalar: Scalar) -> Value {
    let (kind, bits) = match scalar {
        Scalar::Int(value) => ("Int", value.cast_unsigned()),
        Scalar::UInt(value) => ("UInt", value),
        Scalar::Float(value) => ("Float", value.to_bits()),
        Scalar::Bool(value) => ("Bool", u64::from(value)),
    };
    json!({"kind": kind, "bits": format!("{bits:016x}")})
}

fn failure(error: &Error) -> Value {
    let debug = format!("{error:?}");
    let kind = debug.split('(').next().unwrap_or_default();
    json!({"error": {"kind": kind, "text": error.to_string()}})
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
