//! Tests of the container through its public interface. One binary: each one more would link the crate again.

mod cbor;
mod corpus;
mod format;
mod golden;
mod hostile;
mod kinds;
mod limits;
mod manners;
mod reading;
mod round_trip;
mod strict;
mod tolerance;
mod tolerance_rejects;
mod writing;

use burnpy_buffer::{Bytes, DType};
use burnpy_pack::{Error, Header, Limits, ReadOptions, Reader, Result, Tensor, data_start};

/// Opens as Burn does.
fn open(file: impl Into<Vec<u8>>) -> Result<Reader> {
    Reader::from_bytes(Bytes::from(file.into()), &ReadOptions::default())
}

/// Opens only what Burn's writer would have written.
fn open_strict(file: impl Into<Vec<u8>>) -> Result<Reader> {
    Reader::from_bytes(Bytes::from(file.into()), &ReadOptions { strict: true, ..ReadOptions::default() })
}

/// Looks behind the metadata, too: gaps and booleans. Not for content that is made up, whose booleans may be any byte.
fn assert_no_problem(reader: &Reader) {
    let problems = reader.problems(&Limits::default()).expect("it can be read");
    assert!(problems.is_empty(), "{problems:?}");
}

/// The error that opening must give.
fn refusal(file: impl Into<Vec<u8>>) -> Error {
    open(file).expect_err("the file is to be refused")
}

/// A file of this metadata and this data section.
fn file_of(metadata: &[u8], data: &[u8]) -> Vec<u8> {
    let size = u32::try_from(metadata.len()).expect("metadata of a test is small");
    let mut file = [&Header::new(size).into_bytes()[..], metadata].concat();
    file.resize(data_start(size.into()).expect("a small start") as usize, 0);
    file.extend(data);
    file
}

fn f32_bytes(values: &[f32]) -> Bytes {
    Bytes::from(values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
}

/// An f32 tensor of rank 1 without an id.
fn f32_tensor(name: &str, values: &[f32]) -> Tensor {
    Tensor::new(name, DType::F32, vec![values.len() as u64], None, f32_bytes(values))
}

/// The payload of a name.
fn payload(reader: &Reader, name: &str) -> Vec<u8> {
    reader.bytes(&reader.entry(name).expect("the name is there")).expect("it can be read").to_vec()
}

/// Whether two readers hold the same: tensors with their bytes, texts and scalars (NaN by its bits).
fn assert_same_content(left: &Reader, right: &Reader) {
    assert_eq!(left.names().collect::<Vec<_>>(), right.names().collect::<Vec<_>>());
    for name in left.names() {
        let (a, b) = (left.entry(name).expect("a name"), right.entry(name).expect("a name"));
        assert_eq!((a.dtype(), a.shape(), a.param_id()), (b.dtype(), b.shape(), b.param_id()), "{name:?}");
        assert_eq!(left.bytes(&a).ok().as_deref(), right.bytes(&b).ok().as_deref(), "{name:?}");
    }
    assert_eq!(left.metadata(), right.metadata());
    let bits = |reader: &Reader| {
        reader.scalars().iter().map(|(k, v)| (k.clone(), scalar_bits(*v))).collect::<Vec<_>>()
    };
    assert_eq!(bits(left), bits(right));
}

/// Kind and bits, in which NaN equals itself.
fn scalar_bits(scalar: burnpy_pack::Scalar) -> (&'static str, u64) {
    use burnpy_pack::Scalar;
    let bits = match scalar {
        Scalar::Int(value) => value.cast_unsigned(),
        Scalar::UInt(value) => value,
        Scalar::Float(value) => value.to_bits(),
        Scalar::Bool(value) => u64::from(value),
    };
    (scalar.kind(), bits)
}
