//! Hostile files, and what fuzzing found: each must give the error that the manifest says, or be read.

use std::fs;
use std::path::{Path, PathBuf};

use burnpy_pack::{Backend, ReadOptions, Reader, Result};
use serde_json::Value;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

fn manifest() -> Vec<Value> {
    let text = fs::read(corpus().join("manifest.json")).expect("the manifest of the corpus");
    let manifest: Value = serde_json::from_slice(&text).expect("JSON");
    manifest["files"].as_array().expect("a list of files").clone()
}

/// Opens and reads every tensor.
fn read(path: &Path, backend: Backend, strict: bool) -> Result<()> {
    let reader = Reader::from_file_exact(path, &ReadOptions { backend, strict, ..ReadOptions::default() })?;
    reader.entries().try_for_each(|entry| reader.bytes(&entry).map(drop))
}

#[test]
fn every_hostile_file_gives_the_error_that_it_must() {
    for case in manifest() {
        let name = case["file"].as_str().unwrap();
        for backend in [Backend::Mmap, Backend::Pread] {
            for (mode, strict) in [("tolerant", false), ("strict", true)] {
                let kind =
                    read(&corpus().join(name), backend, strict).map_err(|error| error.kind_name()).err();
                assert_eq!(kind, case[mode].as_str(), "{name}, {mode}: {}", case["what"]);
            }
        }
    }
}

#[test]
fn the_manifest_lists_every_file() {
    let mut listed: Vec<_> =
        manifest().iter().map(|case| case["file"].as_str().unwrap().to_owned()).collect();
    let mut present: Vec<_> = fs::read_dir(corpus())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".bpk"))
        .collect();
    listed.sort();
    present.sort();
    assert_eq!(listed, present);
}
