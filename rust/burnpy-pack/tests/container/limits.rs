//! Limits: each one met, exceeded by one, and overridden; by the reader and, before any byte, by the writer.

use std::sync::Arc;

use burnpy_buffer::{Bytes, DType};
use burnpy_pack::{Backend, Error, Limits, ReadOptions, Reader, Result, Tensor, Writer};

use crate::cbor::*;
use crate::{f32_tensor, file_of};

fn read(file: &[u8], limits: Limits) -> Result<Reader> {
    Reader::from_bytes(Bytes::from(file.to_vec()), &ReadOptions { limits, ..ReadOptions::default() })
}

#[track_caller]
fn assert_over(error: Error, found: u64, limit: u64) {
    assert_eq!(
        (error.kind_name(), error.found(), error.limit()),
        ("ValidationError", Some(found), Some(limit)),
        "{error}"
    );
}

fn deferred(shape: Vec<u64>, dtype: DType) -> Tensor {
    let len = dtype.payload_len(&shape).unwrap();
    Tensor::deferred("w", dtype, shape, None, len, Arc::new(|| panic!("must not run")))
}

#[test]
fn the_defaults_are_burns() {
    let limits = Limits::default();
    assert_eq!(limits.max_metadata_bytes, 104_857_600);
    assert_eq!(limits.max_tensors, 100_000);
    assert_eq!(limits.max_tensor_bytes, 10_737_418_240);
    assert_eq!(limits.max_depth, 128);
    assert_eq!(limits.max_file_bytes, 107_374_182_400);
}

#[test]
fn tensors_are_counted() {
    let tensors = || vec![f32_tensor("a", &[1.0]), f32_tensor("b", &[1.0])];
    let file = Writer::new(tensors()).into_bytes().unwrap();
    let limits = |max_tensors| Limits { max_tensors, ..Limits::default() };
    read(&file, limits(2)).unwrap();
    assert_over(read(&file, limits(1)).unwrap_err(), 2, 1);
    assert_over(Writer::new(tensors()).limits(limits(1)).into_bytes().unwrap_err(), 2, 1);
}

#[test]
fn one_tensor_over_the_default_count_is_refused_and_taken_on_request() {
    let empty = |i: u64| Tensor::new(format!("t{i}"), DType::U8, vec![0], None, Bytes::empty());
    let tensors: Vec<_> = (0..100_001).map(empty).collect();
    let folder = tempfile::tempdir().unwrap();
    let error = Writer::new(tensors.clone()).write_to_file(folder.path().join("m")).unwrap_err();
    assert_over(error, 100_001, 100_000);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "refused before any file exists");

    let wider = Limits { max_tensors: 100_001, ..Limits::default() };
    let file = Writer::new(tensors).limits(wider).into_bytes().unwrap();
    assert_over(read(&file, Limits::default()).unwrap_err(), 100_001, 100_000);
    assert_eq!(read(&file, wider).unwrap().len(), 100_001);
}

#[test]
fn metadata_is_measured() {
    let file = Writer::new(vec![f32_tensor("a", &[1.0])]).into_bytes().unwrap();
    let size = u64::from(read(&file, Limits::default()).unwrap().header().metadata_size);
    let limits = |max_metadata_bytes| Limits { max_metadata_bytes, ..Limits::default() };
    read(&file, limits(size)).unwrap();
    assert_over(read(&file, limits(size - 1)).unwrap_err(), size, size - 1);
    let writer = || Writer::new(vec![f32_tensor("a", &[1.0])]);
    writer().limits(limits(size)).into_bytes().unwrap();
    assert_over(writer().limits(limits(size - 1)).into_bytes().unwrap_err(), size, size - 1);
}

#[test]
fn one_byte_over_100_mib_of_metadata_is_refused_before_any_file_exists() {
    const LIMIT: u64 = 100 << 20;
    // {"tensors": {}, "metadata": {"": text of four length bytes}} has 26 bytes around the text.
    let text = |size: u64| "x".repeat((size - 26) as usize);
    let folder = tempfile::tempdir().unwrap();
    let writer = |size| Writer::new(vec![]).with_metadata("", text(size));
    let error = writer(LIMIT + 1).write_to_file(folder.path().join("m")).unwrap_err();
    assert_over(error, LIMIT + 1, LIMIT);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let file = writer(LIMIT).into_bytes().unwrap();
    assert_eq!(
        Reader::from_bytes(file.into(), &ReadOptions::default()).unwrap().metadata()[""].len() as u64,
        LIMIT - 26
    );
}

#[test]
fn a_tensor_is_measured() {
    let file = Writer::new(vec![f32_tensor("a", &[1.0, 2.0])]).into_bytes().unwrap();
    let limits = |max_tensor_bytes| Limits { max_tensor_bytes, ..Limits::default() };
    read(&file, limits(8)).unwrap();
    assert_over(read(&file, limits(7)).unwrap_err(), 8, 7);
    let writer = Writer::new(vec![f32_tensor("a", &[1.0, 2.0])]).limits(limits(7));
    let error = writer.into_bytes().unwrap_err();
    assert_eq!(error.tensor.as_deref(), Some("a"));
    assert_over(error, 8, 7);
}

#[test]
fn a_deferred_tensor_of_10_gib_and_4_bytes_is_refused_before_any_file_exists() {
    const LIMIT: u64 = 10 << 30;
    let folder = tempfile::tempdir().unwrap();
    let over = Writer::new(vec![deferred(vec![LIMIT / 4 + 1], DType::F32)]);
    assert_over(over.write_to_file(folder.path().join("m")).unwrap_err(), LIMIT + 4, LIMIT);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let size = Writer::new(vec![deferred(vec![LIMIT / 4], DType::F32)]).size().unwrap();
    assert_eq!(size, LIMIT + 256);
}

#[test]
fn a_file_is_measured_and_memory_is_not() {
    let file = Writer::new(vec![f32_tensor("a", &[1.0])]).into_bytes().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bpk");
    std::fs::write(&path, &file[..]).unwrap();
    let len = file.len() as u64;
    let limits = |max_file_bytes| Limits { max_file_bytes, ..Limits::default() };
    for backend in [Backend::Mmap, Backend::Pread] {
        let open =
            |limits| Reader::from_file(&path, &ReadOptions { limits, backend, ..ReadOptions::default() });
        open(limits(len)).unwrap();
        assert_over(open(limits(len - 1)).unwrap_err(), len, len - 1);
    }
    read(&file, limits(1)).unwrap();

    let target = folder.path().join("n.bpk");
    let writer = || Writer::new(vec![f32_tensor("a", &[1.0])]).limits(limits(len - 1));
    assert_over(writer().write_to_file(&target).unwrap_err(), len, len - 1);
    assert_over(writer().write_to_file_in_place(&target).unwrap_err(), len, len - 1);
    assert!(!target.exists());
    writer().into_bytes().unwrap();
}

#[test]
fn a_file_over_100_gib_is_refused_by_the_writer() {
    let tensors = (0..10).map(|i| {
        let mut tensor = deferred(vec![10 << 30], DType::U8);
        tensor.name = format!("t{i}");
        tensor
    });
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(tensors.collect());
    let size = writer.size().unwrap();
    let error = writer.write_to_file(folder.path().join("m")).unwrap_err();
    assert_over(error, size, 100 << 30);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn levels_are_counted() {
    let limits = |max_depth| Limits { max_depth, ..Limits::default() };
    // Top level, tensors, descriptor, shape.
    let plain = file_with(&descriptor());
    read(&plain, limits(4)).unwrap();
    for depth in 0..4 {
        assert_eq!(
            read(&plain, limits(depth)).unwrap_err().kind_name(),
            "MetadataDeserializationError",
            "{depth}"
        );
    }
    let deep = |count| file_with(&descriptor_with("unknown", [vec![0x81; count], uint(0)].concat()));
    read(&deep(7), limits(10)).unwrap();
    assert!(read(&deep(8), limits(10)).is_err());
    read(&deep(500), limits(503)).unwrap();
    // However high the limit, there is an end.
    assert!(read(&deep(3_000_000), limits(u32::MAX)).is_err());
}

#[test]
fn what_is_declared_costs_no_memory() {
    // A hundred thousand tensors are promised, and a map of 2^62: neither is allocated for.
    for promised in [100_000, 1 << 62] {
        let metadata = map(&[("tensors", wide_head(5, promised))]);
        let error = read(&file_of(&metadata, &[]), Limits::default()).unwrap_err();
        assert!(["MetadataDeserializationError", "ValidationError"].contains(&error.kind_name()));
    }
}
