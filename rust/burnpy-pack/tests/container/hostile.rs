//! Damaged files: a typed error or a valid container, never a crash.

use std::fs;

use burnpy_buffer::{
    BlockScale, BlockSize, BoolStore, Bytes, DType, QuantScheme, QuantStore, QuantValue, ScaleDType,
};
use burnpy_pack::{Backend, Header, Limits, ReadOptions, Reader, Tensor, Writer};

use crate::cbor::{array, map, offsets, text, uint};
use crate::{f32_tensor, file_of, open, open_strict, refusal};

/// A file with one of everything.
fn varied() -> Vec<u8> {
    let block = BlockScale { size: BlockSize::new(&[2, 4]).unwrap(), dtype: ScaleDType::F16 };
    let scheme = QuantScheme {
        value: QuantValue::Q4S,
        store: QuantStore::PackedU32(0),
        block: Some(block),
        ..Default::default()
    };
    let quantized = DType::QFloat(scheme);
    let len = quantized.payload_len(&[4, 8]).unwrap() as usize;
    let tensors = vec![
        f32_tensor("weight", &[1.0; 70]),
        Tensor::new(
            "mask",
            DType::Bool(BoolStore::U32),
            vec![1],
            Some(u64::MAX),
            Bytes::from(vec![1, 0, 0, 0]),
        ),
        Tensor::new("q", quantized, vec![4, 8], Some(3), Bytes::from(vec![9; len])),
        f32_tensor("empty", &[]),
    ];
    let writer = Writer::new(tensors).with_metadata("producer", "a test").with_scalar("lr", 0.001);
    writer.with_scalar("step", -300i64).with_scalar("on", true).into_bytes().unwrap().to_vec()
}

/// Opens and reads everything that there is, in both modes.
fn read_all(file: &[u8]) {
    for opened in [open(file), open_strict(file)] {
        let Ok(reader) = opened else { continue };
        for entry in reader.entries() {
            if let Ok(bytes) = reader.bytes(&entry) {
                assert_eq!(bytes.len() as u64, entry.byte_len());
            }
        }
        let _ = reader.problems(&Limits::default());
        let _ = reader.copy_all();
        let _ = reader.entry("weihgt");
        let _ = reader.into_tensors();
    }
}

#[test]
fn every_byte_of_header_and_metadata_changed_in_every_way() {
    let file = varied();
    let end = 10 + Header::from_bytes(&file).unwrap().metadata_size as usize;
    let mut changed = file.clone();
    for at in 0..end {
        for value in 0..=255 {
            changed[at] = value;
            read_all(&changed);
        }
        changed[at] = file[at];
    }
}

#[test]
fn a_changed_bit_never_goes_unseen_by_strict_mode_in_header_or_padding() {
    let file = varied();
    let header = Header::from_bytes(&file).unwrap();
    let (end, start) =
        (10 + header.metadata_size as usize, open(file.clone()).unwrap().data_start() as usize);
    for at in (0..10).chain(end..start) {
        for bit in 0..8 {
            let mut changed = file.clone();
            changed[at] ^= 1 << bit;
            assert!(open_strict(changed).is_err(), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn a_file_cut_at_any_length_is_refused() {
    let file = varied();
    for len in 0..file.len() {
        let error = open(&file[..len]).expect_err("a part is taken for the whole");
        assert!(["InvalidHeader", "ValidationError"].contains(&error.kind_name()), "{len}: {error}");
        assert!(open_strict(&file[..len]).is_err());
    }
}

#[test]
fn a_file_on_disk_that_lost_up_to_300_bytes_is_refused() {
    // The last tensor has 320 bytes, so that every cut is one through it.
    let file = Writer::new(vec![f32_tensor("w", &[1.0; 80])]).into_bytes().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.bpk");
    for lost in 1..=300 {
        fs::write(&path, &file[..file.len() - lost]).unwrap();
        for backend in [Backend::Mmap, Backend::Pread] {
            let error =
                Reader::from_file(&path, &ReadOptions { backend, ..ReadOptions::default() }).unwrap_err();
            assert_eq!(
                (error.kind_name(), error.path.as_deref()),
                ("ValidationError", Some(path.as_path())),
                "{lost}"
            );
        }
    }
}

fn u8_tensor_at(start: u64, end: u64, len: u64) -> Vec<u8> {
    let descriptor =
        map(&[("dtype", text("U8")), ("shape", array(&[uint(len)])), ("data_offsets", offsets(start, end))]);
    file_of(&map(&[("tensors", map(&[("w", descriptor)]))]), &[0; 512])
}

#[test]
fn ranges_that_are_reversed_wrap_or_end_behind_the_file_are_refused() {
    for (start, end, len) in [
        (8, 0, 0),
        (8, 7, u64::MAX),
        (u64::MAX, 0, 1),
        (u64::MAX - 8, u64::MAX, 8),
        (u64::MAX - 263, u64::MAX - 255, 8),
        (0, u64::MAX, u64::MAX),
        (0, 513, 513),
        (512, 513, 1),
        (1 << 63, (1 << 63) + 8, 8),
        (u64::MAX, u64::MAX, 0),
    ] {
        let error = refusal(u8_tensor_at(start, end, len));
        assert_eq!(error.kind_name(), "ValidationError", "{start}..{end}: {error}");
    }
    open(u8_tensor_at(512, 512, 0)).unwrap();
    open(u8_tensor_at(0, 512, 512)).unwrap();
}

#[test]
fn overlapping_tensors_are_read_as_burn_reads_them() {
    let descriptor = |start, end| {
        map(&[
            ("dtype", text("U8")),
            ("shape", array(&[uint(end - start)])),
            ("data_offsets", offsets(start, end)),
        ])
    };
    let tensors = map(&[("a", descriptor(0, 8)), ("b", descriptor(4, 12)), ("c", descriptor(4, 5))]);
    let data: Vec<u8> = (0..12).collect();
    let reader = open(file_of(&map(&[("tensors", tensors)]), &data)).unwrap();
    assert_eq!(crate::payload(&reader, "b"), data[4..12]);
    let copies = reader.copy_all().unwrap();
    for (entry, (block, at)) in reader.entries().zip(copies.places) {
        let copy = &copies.blocks[block][at..][..entry.byte_len() as usize];
        assert_eq!(copy, &reader.bytes(&entry).unwrap()[..], "{}", entry.name());
    }
}

#[test]
fn many_tensors_over_the_same_bytes_are_not_copied() {
    // 1 MiB of file that would be 4 GiB of copies.
    let descriptor = map(&[
        ("dtype", text("U8")),
        ("shape", array(&[uint(1 << 20)])),
        ("data_offsets", offsets(0, 1 << 20)),
    ]);
    let names: Vec<String> = (0..4096).map(|i| format!("t{i:04}")).collect();
    let tensors: Vec<_> = names.iter().map(|name| (name.as_str(), descriptor.clone())).collect();
    let reader = open(file_of(&map(&[("tensors", map(&tensors))]), &vec![0; 1 << 20])).unwrap();
    let error = reader.copy_all().err().expect("4 GiB are not to be allocated for a file of 1 MiB");
    assert_eq!(error.kind_name(), "ValidationError");
}
