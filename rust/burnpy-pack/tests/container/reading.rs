//! What a reader promises: order, names, paths, sources.

use std::fs;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use burnpy_buffer::{Bytes, DType};
use burnpy_pack::{
    Backend, ErrorKind, Header, MemorySource, ReadOptions, Reader, Source, Tensor, Writer, resolve_read_path,
};

use crate::{f32_tensor, file_of, open, payload, refusal};

#[test]
fn names_and_tensors_come_in_name_order_and_entries_in_data_order() {
    let tensors = vec![f32_tensor("zebra", &[9.0]), f32_tensor("alpha", &[1.0]), f32_tensor("mango", &[5.0])];
    let reader = open(Writer::new(tensors).into_bytes().unwrap().to_vec()).unwrap();
    assert_eq!(reader.names().collect::<Vec<_>>(), ["alpha", "mango", "zebra"]);
    let in_data_order: Vec<_> = reader.entries().map(|entry| entry.name().to_owned()).collect();
    assert_eq!(in_data_order, ["zebra", "alpha", "mango"]);
    let values: Vec<_> =
        reader.into_tensors().unwrap().iter().map(|t| (t.name.clone(), t.to_bytes().unwrap()[3])).collect();
    assert_eq!(values, [("alpha".into(), 0x3F), ("mango".into(), 0x40), ("zebra".into(), 0x41)]);
}

#[test]
fn each_name_keeps_its_values() {
    let numbers = |range: Range<u8>| range.map(f32::from).collect::<Vec<_>>();
    let content = [("zebra", numbers(100..105)), ("alpha", numbers(0..3)), ("mango", numbers(50..57))];
    let tensors = content.iter().map(|(name, values)| f32_tensor(name, values)).collect();
    let reader = open(Writer::new(tensors).into_bytes().unwrap().to_vec()).unwrap();
    for (name, values) in &content {
        assert_eq!(payload(&reader, name), crate::f32_bytes(values)[..]);
    }
}

#[test]
fn ids_and_dtypes_are_kept() {
    let ids = [Some(123), None, Some(42), Some(0), Some(u64::MAX)];
    let dtypes =
        [DType::F32, DType::F64, DType::I64, DType::I32, DType::I8, DType::U8, DType::BF16, DType::F16];
    let tensors = dtypes.iter().zip(ids.iter().cycle()).map(|(&dtype, &id)| {
        let len = dtype.payload_len(&[3]).unwrap();
        Tensor::new(dtype.name(), dtype, vec![3], id, Bytes::from(vec![7; len as usize]))
    });
    let reader = open(Writer::new(tensors.collect()).into_bytes().unwrap().to_vec()).unwrap();
    for (dtype, id) in dtypes.iter().zip(ids.iter().cycle()) {
        let entry = reader.entry(dtype.name()).unwrap();
        assert_eq!((entry.dtype(), entry.shape(), entry.param_id()), (*dtype, &[3][..], *id));
    }
}

#[test]
fn files_of_old_releases_without_scalars_have_none() {
    let reader = open(Writer::new(vec![]).into_bytes().unwrap().to_vec()).unwrap();
    assert!(reader.scalars().is_empty() && reader.metadata().is_empty() && reader.is_empty());
}

#[test]
fn a_name_that_is_not_there_is_told_with_the_nearest() {
    let reader =
        open(Writer::new(vec![f32_tensor("encoder.weight", &[1.0])]).into_bytes().unwrap().to_vec()).unwrap();
    let error = reader.entry("encoder.wieght").err().unwrap();
    let ErrorKind::TensorNotFound { name, nearest } = &error.kind else { panic!("{error:?}") };
    assert_eq!((name.as_str(), nearest.as_deref()), ("encoder.wieght", Some("encoder.weight")));
    assert!(reader.get("").is_none());
}

#[test]
fn a_header_without_its_metadata_is_refused() {
    assert_eq!(refusal([0; 4]).kind_name(), "InvalidHeader");
    assert_eq!(refusal(Header::new(4096).into_bytes()).kind_name(), "InvalidHeader");
    let newer = Header { version: 2, ..Header::new(0) };
    assert_eq!(refusal(newer.into_bytes()).kind_name(), "InvalidVersion");
    let error = refusal(Header::new(104_857_601).into_bytes());
    assert_eq!(
        (error.kind_name(), error.found(), error.limit()),
        ("ValidationError", Some(104_857_601), Some(104_857_600))
    );
}

#[test]
fn a_half_of_a_file_is_called_cut_off() {
    let file = Writer::new(vec![f32_tensor("w", &[1.0; 512])]).into_bytes().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("half.bpk");
    fs::write(&path, &file[..file.len() / 2]).unwrap();
    let error = Reader::from_file(&path, &ReadOptions::default()).unwrap_err();
    assert_eq!((error.kind_name(), error.path.as_deref()), ("ValidationError", Some(path.as_path())));

    // Where a file without alignment would end, as Burn 0.19 wrote it; one tensor at 0 is no sign of that.
    let file = Writer::new(vec![f32_tensor("w", &[1.0; 4])]).into_bytes().unwrap();
    let size = Header::from_bytes(&file).unwrap().metadata_size as usize;
    let error = refusal(&file[..10 + size + 16]);
    assert_eq!(error.kind_name(), "ValidationError");
    assert!(error.to_string().contains("cut off"), "{error}");
}

#[test]
fn a_file_of_burn_0_19_is_read_where_its_tensors_lie() {
    use crate::cbor::{array, map, offsets, text, uint};
    let descriptor = |dims: u64, start: u64, end: u64| {
        map(&[("dtype", text("U8")), ("shape", array(&[uint(dims)])), ("data_offsets", offsets(start, end))])
    };
    let metadata = map(&[("tensors", map(&[("a", descriptor(3, 0, 3)), ("b", descriptor(2, 3, 5))]))]);
    let header = Header::new(metadata.len() as u32).into_bytes();
    let file = [&header[..], &metadata, &[1, 2, 3, 4, 5]].concat();
    let reader = open(file.clone()).unwrap();
    assert_eq!((payload(&reader, "a"), payload(&reader, "b")), (vec![1, 2, 3], vec![4, 5]));
    assert_eq!(refusal(&file[..file.len() - 1]).kind_name(), "ValidationError");
    assert!(crate::open_strict(file).is_err());
}

#[test]
fn the_extension_is_appended_only_where_nothing_is_at_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, extended) = (folder.path().join("model"), folder.path().join("model.bpk"));
    let writer = |value| Writer::new(vec![f32_tensor("w", &[value])]).durable(false);
    let first = |path: &std::path::Path| {
        Reader::from_file(path, &ReadOptions::default()).map(|reader| payload(&reader, "w")[3])
    };
    writer(1.0).write_to_file(&plain).unwrap();
    assert!(extended.exists() && !plain.exists());
    assert_eq!(first(&plain).unwrap(), 0x3F);
    assert_eq!(Reader::from_file_exact(&plain, &ReadOptions::default()).unwrap_err().kind_name(), "IoError");

    writer(-1.0).auto_extension(false).write_to_file(&plain).unwrap();
    assert_eq!((first(&plain).unwrap(), first(&extended).unwrap()), (0xBF, 0x3F));
    assert_eq!(resolve_read_path(&plain), plain);
}

#[test]
fn a_missing_file_and_a_folder_keep_the_systems_error() {
    let folder = tempfile::tempdir().unwrap();
    let kind = |path: &std::path::Path| {
        let error = Reader::from_file(path, &ReadOptions::default()).unwrap_err();
        assert!(error.path.is_some());
        match error.kind {
            ErrorKind::Io(error) => error.kind(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(kind(&folder.path().join("none.bpk")), io::ErrorKind::NotFound);
    assert_eq!(kind(folder.path()), io::ErrorKind::IsADirectory);
}

#[test]
fn a_file_that_is_replaced_is_read_in_its_old_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bpk");
    for backend in [Backend::Mmap, Backend::Pread] {
        Writer::new(vec![f32_tensor("w", &[1.0])]).durable(false).write_to_file(&path).unwrap();
        let reader = Reader::from_file(&path, &ReadOptions { backend, ..ReadOptions::default() }).unwrap();
        Writer::new(vec![f32_tensor("w", &[2.0])]).durable(false).write_to_file(&path).unwrap();
        assert_eq!(payload(&reader, "w"), 1f32.to_le_bytes(), "{backend:?}");
    }
}

#[test]
fn a_file_that_is_cut_while_it_is_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bpk");
    Writer::new(vec![f32_tensor("w", &[1.0; 4096])]).durable(false).write_to_file(&path).unwrap();
    let options = ReadOptions { backend: Backend::Pread, ..ReadOptions::default() };
    let reader = Reader::from_file(&path, &options).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1000).unwrap();
    let error = reader.bytes(&reader.at(0)).unwrap_err();
    assert_eq!((error.kind_name(), error.tensor.as_deref()), ("IoError", Some("w")));
    assert!(error.to_string().ends_with("cut off: bytes 256 to 16640 are not all there any more"), "{error}");
}

#[test]
fn a_payload_is_copied_only_into_memory_of_its_length() {
    let reader =
        open(Writer::new(vec![f32_tensor("w", &[1.0, 2.0])]).into_bytes().unwrap().to_vec()).unwrap();
    let entry = reader.entry("w").unwrap();
    let mut out = [0; 8];
    reader.read_into(&entry, &mut out).unwrap();
    assert_eq!(out[..], reader.bytes(&entry).unwrap()[..]);
    for len in [7, 9] {
        assert_eq!(reader.read_into(&entry, &mut vec![0; len]).unwrap_err().kind_name(), "ValidationError");
    }
}

/// A source that lends less than it is asked for.
struct Stingy(Vec<u8>);

impl Source for Stingy {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, start: u64, out: &mut [u8]) -> io::Result<()> {
        MemorySource::new(Bytes::from(self.0.clone())).read_into(start, out)
    }

    fn view(&self, range: Range<u64>) -> Option<Bytes> {
        let half = range.start + (range.end - range.start) / 2;
        MemorySource::new(Bytes::from(self.0.clone())).view(range.start..half)
    }
}

#[test]
fn a_window_of_another_length_than_asked_for_is_not_used() {
    let file = Writer::new(vec![f32_tensor("w", &[1.0, 2.0])]).into_bytes().unwrap();
    let reader = Reader::from_source(Arc::new(Stingy(file.to_vec())), &ReadOptions::default()).unwrap();
    assert_eq!(payload(&reader, "w"), crate::f32_bytes(&[1.0, 2.0])[..]);
}

#[test]
fn an_error_about_a_monstrous_shape_or_name_is_short() {
    use crate::cbor::{array, descriptor_with, file_with, map, uint};
    let shape = array(&vec![uint(1); 100_000]);
    let error = refusal(file_with(&descriptor_with("shape", shape)));
    assert_eq!(error.kind_name(), "ValidationError");
    assert!(error.to_string().len() < 1000, "{} bytes", error.to_string().len());

    let name = "n".repeat(100_000);
    let metadata = map(&[("tensors", map(&[(name.as_str(), map(&descriptor_with("shape", array(&[]))))]))]);
    let error = refusal(file_of(&metadata, &[0; 8]));
    assert_eq!(error.tensor.as_deref(), Some(name.as_str()));
    assert!(error.to_string().len() < 1000, "{} bytes", error.to_string().len());
}
