//! Files that the real Burn wrote, held against its manifests. Nothing here names a file but the table of exceptions.

use std::fs;
use std::path::{Path, PathBuf};

use burnpy_buffer::{BoolStore, DType, QuantScheme, QuantStore};
use burnpy_pack::{Backend, Entry, Error, ReadOptions, Reader, Scalar, Writer};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::{open, open_strict, scalar_bits};

/// Where burnpy takes or refuses another file than Burn, and why.
const EXCEPTIONS: [(&str, Instead); 6] = [
    // Burn 0.19 and 0.20 wrote the name alone; it can mean one thing only.
    ("reader/bool_plain_text.bpk", Instead::Reads),
    // Burn ignores the old keys, and so reads every scheme as one f32 scale of the whole tensor. The payload of the first
    // file is made for that.
    ("reader/qfloat_old_keys.bpk", Instead::ReadsOtherDType),
    ("reader/qfloat_old_block.bpk", Instead::ReadsOtherDType),
    // Burn's answer depends on what follows the surplus offset.
    ("reader/offsets_three.bpk", Instead::Refuses("MetadataDeserializationError")),
    // Burn hands the tensor out, and whoever unpacks it crashes.
    ("reader/qfloat_any_length.bpk", Instead::RefusesTensor),
    ("reader/qfloat_block_len_6.bpk", Instead::RefusesTensor),
];

#[derive(Clone, Copy)]
enum Instead {
    Reads,
    ReadsOtherDType,
    Refuses(&'static str),
    RefusesTensor,
}

fn golden() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("BURNPY_GOLDEN").unwrap_or_else(|| "tests/golden".into());
    root.join(folder).join("burn")
}

fn manifest(folder: &str) -> Value {
    let path = golden().join(folder).join("manifest.json");
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The containers of a folder: path and what the manifest says. Some manifests list files, some map them by name.
fn containers(folder: &str) -> Vec<(PathBuf, Value)> {
    let files = match &manifest(folder)["files"] {
        Value::Array(files) => {
            files.iter().map(|file| (file["file"].as_str().unwrap().to_owned(), file.clone())).collect()
        }
        Value::Object(files) => files.clone().into_iter().collect::<Vec<_>>(),
        other => panic!("{folder}: files is {other}"),
    };
    let mut packs = files;
    packs.retain(|(name, file)| name.ends_with(".bpk") && file["tensors"].is_array());
    packs.into_iter().map(|(name, file)| (golden().join(folder).join(name), file)).collect()
}

const FOLDERS: [&str; 7] = ["containers", "modules", "records", "store", "optim", "schedulers", "training"];

fn every_container(check: impl Fn(&Path, &Value)) {
    for folder in FOLDERS {
        let files = containers(folder);
        assert!(!files.is_empty(), "the manifest of {folder} lists no container");
        files.iter().for_each(|(path, file)| check(path, file));
    }
}

#[test]
fn every_file_of_burn_is_read_to_the_values_of_its_manifest() {
    for backend in [Backend::Mmap, Backend::Pread] {
        every_container(|path, file| {
            let options = ReadOptions { strict: true, backend, ..ReadOptions::default() };
            let reader = Reader::from_file(path, &options).unwrap_or_else(|error| panic!("{error}"));
            assert_content(&reader, file, path);
        });
    }
}

#[test]
fn every_file_of_burn_written_again_has_the_same_bytes() {
    every_container(|path, file| {
        let bytes = fs::read(path).unwrap();
        assert_eq!(file["sha256"], hex(&bytes), "{} is not the file of the manifest", path.display());
        let reader = open(bytes.clone()).unwrap();
        assert!(rewritten(&reader)[..] == bytes[..], "{}: other bytes", path.display());
    });
}

fn rewritten(reader: &Reader) -> impl std::ops::Deref<Target = [u8]> + use<> {
    let tensors = reader.entries().map(|entry| reader.tensor(&entry).unwrap()).collect();
    let mut writer = Writer::new(tensors);
    for (key, value) in reader.metadata() {
        writer = writer.with_metadata(key, value);
    }
    for (key, value) in reader.scalars() {
        writer = writer.with_scalar(key, *value);
    }
    writer.into_bytes().unwrap()
}

fn assert_content(reader: &Reader, file: &Value, path: &Path) {
    let path = path.display();
    let expected = file["tensors"].as_array().unwrap();
    assert_eq!(reader.len(), expected.len(), "{path}");
    for tensor in expected {
        let entry = reader.entry(tensor["name"].as_str().unwrap()).unwrap();
        assert_eq!(described(&entry), described_in(tensor), "{path}");
        if let Some(offsets) = tensor.get("data_offsets") {
            assert_eq!(&json!([entry.start(), entry.end()]), offsets, "{path}: {}", entry.name());
        }
        assert_eq!(tensor["sha256"], hex(&reader.bytes(&entry).unwrap()), "{path}: {}", entry.name());
    }
    assert_eq!(&json!(reader.metadata()), file.get("metadata").unwrap_or(&json!({})), "{path}");
    let scalars: Vec<_> = reader.scalars().iter().map(|(key, value)| (key, scalar_bits(*value))).collect();
    // A manifest of files without any has no such key.
    let listed = file.get("scalars").map(|listed| listed.as_object().unwrap().clone()).unwrap_or_default();
    assert_eq!(scalars.len(), listed.len(), "{path}");
    for (key, bits) in scalars {
        assert_eq!(bits, scalar_bits(scalar_of(&listed[key])), "{path}: scalar {key:?}");
    }
    for (key, value) in [("size", reader.source().len()), ("data_start", reader.data_start())] {
        assert!(file.get(key).is_none_or(|listed| *listed == value), "{path}: {key} is {value}");
    }
    let size = u64::from(reader.header().metadata_size);
    assert!(
        file.get("metadata_size").is_none_or(|listed| *listed == size),
        "{path}: metadata of {size} bytes"
    );
}

fn described(entry: &Entry<'_>) -> Value {
    let (name, dtype) = (entry.name(), manifest_dtype(entry.dtype()));
    json!({"name": name, "dtype": dtype, "shape": entry.shape(), "param_id": entry.param_id()})
}

fn described_in(tensor: &Value) -> Value {
    let keys = ["name", "dtype", "shape", "param_id"];
    keys.iter().map(|key| ((*key).to_owned(), tensor[*key].clone())).collect::<Map<_, _>>().into()
}

/// A dtype in the manifests' form.
fn manifest_dtype(dtype: DType) -> Value {
    match dtype {
        DType::Flex32 => json!("Flex32"),
        DType::Bool(BoolStore::Native) => json!("Bool(Native)"),
        DType::Bool(BoolStore::U8) => json!("Bool(U8)"),
        DType::Bool(BoolStore::U32) => json!("Bool(U32)"),
        DType::QFloat(scheme) => json!({"QFloat": manifest_scheme(&scheme)}),
        _ => json!(dtype.name().to_uppercase()),
    }
}

fn manifest_scheme(scheme: &QuantScheme) -> Value {
    let store = match scheme.store {
        QuantStore::Native => json!("Native"),
        QuantStore::PackedNative(dim) => json!({"PackedNative": dim}),
        QuantStore::PackedU32(dim) => json!({"PackedU32": dim}),
    };
    let block = scheme.block.map(|block| {
        json!({"size": block.size.extents().expect("at most five extents"), "dtype": block.dtype.name()})
    });
    let (value, mode) = (scheme.value.name(), scheme.mode.name());
    json!({"value": value, "store": store, "mode": mode, "tensor": scheme.tensor.map(|t| t.name()), "block": block})
}

fn scalar_of(value: &Value) -> Scalar {
    if let Some(bits) = value["bits"].as_str() {
        return Scalar::Float(f64::from_bits(u64::from_str_radix(bits, 16).unwrap()));
    }
    let (kind, value) = value.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "Int" => Scalar::Int(value.as_i64().unwrap()),
        "UInt" => Scalar::UInt(value.as_u64().unwrap()),
        "Float" => Scalar::Float(value.as_f64().unwrap()),
        "Bool" => Scalar::Bool(value.as_bool().unwrap()),
        other => panic!("{other} is no kind of scalar"),
    }
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn reader_cases() -> Vec<Value> {
    manifest("containers")["reader_cases"].as_array().unwrap().clone()
}

fn exception(case: &Value) -> Option<Instead> {
    EXCEPTIONS.iter().find(|(name, _)| case["file"] == *name).map(|&(_, instead)| instead)
}

fn case_path(case: &Value) -> PathBuf {
    golden().join("containers").join(case["file"].as_str().unwrap())
}

#[test]
fn odd_files_in_memory_are_taken_or_refused_as_burn_does() {
    for case in reader_cases() {
        let name = &case["file"];
        let opened = open(fs::read(case_path(&case)).unwrap());
        match exception(&case) {
            None => assert_as_burn(opened, &case["from_bytes"], name),
            Some(Instead::Reads) => assert_reads(&opened.unwrap(), name),
            Some(Instead::ReadsOtherDType) => assert_other_dtype(&opened.unwrap(), &case, name),
            Some(Instead::Refuses(kind)) => assert_eq!(opened.unwrap_err().kind_name(), kind, "{name}"),
            Some(Instead::RefusesTensor) => assert_refuses_tensor(opened.unwrap(), name),
        }
    }
}

#[test]
fn odd_files_on_disk_are_taken_or_refused_as_burn_does() {
    for backend in [Backend::Mmap, Backend::Pread] {
        let options = ReadOptions { backend, ..ReadOptions::default() };
        for case in reader_cases() {
            let name = &case["file"];
            let opened = Reader::from_file(case_path(&case), &options);
            match (exception(&case), case["from_file"]["ok"].as_bool().unwrap()) {
                (Some(Instead::Refuses(kind)), _) => {
                    assert_eq!(opened.unwrap_err().kind_name(), kind, "{name}")
                }
                (Some(Instead::RefusesTensor), _) => assert_refuses_tensor(opened.unwrap(), name),
                (Some(Instead::ReadsOtherDType), _) => assert_other_dtype(&opened.unwrap(), &case, name),
                (Some(Instead::Reads), _) => assert_reads(&opened.unwrap(), name),
                (None, true) => assert_reads(&opened.unwrap(), name),
                (None, false) => assert_kind(&opened.unwrap_err(), &case["from_file"], name),
            }
        }
    }
}

#[test]
fn strict_mode_takes_no_odd_file_that_burn_refuses() {
    for case in reader_cases() {
        let opened = open_strict(fs::read(case_path(&case)).unwrap());
        let is_taken = case["from_bytes"]["ok"] == true;
        assert!(is_taken || opened.is_err(), "{}", case["file"]);
    }
}

fn assert_as_burn(opened: Result<Reader, Error>, expected: &Value, name: &Value) {
    if expected["ok"] != true {
        return assert_kind(&opened.expect_err(&name.to_string()), expected, name);
    }
    let reader = opened.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(json!(reader.names().collect::<Vec<_>>()), expected["names"], "{name}");
    for tensor in expected["tensors"].as_array().unwrap() {
        let entry = reader.entry(tensor["name"].as_str().unwrap()).unwrap();
        assert_eq!(described(&entry), described_in(tensor), "{name}");
        assert_eq!(tensor["byte_len"], entry.byte_len(), "{name}");
        assert_eq!(tensor["sha256"], hex(&reader.bytes(&entry).unwrap()), "{name}");
    }
}

fn assert_kind(error: &Error, expected: &Value, name: &Value) {
    let kind = match expected["error"]["kind"].as_str().unwrap() {
        // A file that ends inside header or metadata is the same mistake as in memory. Unlike Burn: it is not `IoError`.
        "IoError" => "InvalidHeader",
        kind => kind,
    };
    assert_eq!(error.kind_name(), kind, "{name}: {error}");
}

fn assert_reads(reader: &Reader, name: &Value) {
    for entry in reader.entries() {
        reader.bytes(&entry).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

fn assert_other_dtype(reader: &Reader, case: &Value, name: &Value) {
    for tensor in case["from_bytes"]["tensors"].as_array().unwrap() {
        let entry = reader.entry(tensor["name"].as_str().unwrap()).unwrap();
        assert_ne!(manifest_dtype(entry.dtype()), tensor["dtype"], "{name}");
    }
}

fn assert_refuses_tensor(reader: Reader, name: &Value) {
    let error = reader.bytes(&reader.at(0)).expect_err(&name.to_string());
    assert_eq!(
        (error.kind_name(), error.tensor.as_deref()),
        ("ValidationError", Some(reader.at(0).name())),
        "{name}"
    );
    assert_eq!(reader.into_tensors().unwrap_err().kind_name(), "ValidationError", "{name}");
}
