//! Every file of the golden data, read to its manifest: each listed byte, name and value, or the named error.
//!
//! `BURNPY_GOLDEN` names the folder of golden data, `BURNPY_GOLDEN_EXTRA` a folder of further checkpoints
//! with a manifest of the same form; both may be relative to the checkout. Without the second its test says
//! so and passes.

#![allow(unreachable_pub, reason = "a test has no outside")]

#[path = "support/child.rs"]
mod child;
#[path = "support/manifest.rs"]
mod manifest;
#[path = "support/outcome.rs"]
mod outcome;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use burnpy_pickle::{ErrorKind, Limits, open};

use child::{Usage, measure};
use manifest::{Entry, read_manifest};
use outcome::{Outcome, check_content, check_error};

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn golden() -> PathBuf {
    let folder = std::env::var_os("BURNPY_GOLDEN").map_or_else(|| "tests/golden".into(), PathBuf::from);
    checkout().join(folder).join("pytorch")
}

/// Checks every file of a folder, and reports all that fail.
fn check_folder(folder: &Path) -> usize {
    let entries = read_manifest(&folder.join("manifest.json"));
    let failures: Vec<String> = entries.iter().flat_map(|entry| check_file(folder, entry)).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    for place in [folder, Path::new(".")] {
        assert!(!place.join("PWNED").exists(), "a file's payload was run");
    }
    entries.len()
}

fn check_file(folder: &Path, entry: &Entry) -> Vec<String> {
    let file = std::fs::read(folder.join(&entry.file)).unwrap();
    let outcome = Outcome::of(&file);
    let problems = match &*entry.expect {
        "ok" => check_content(&file, entry, &outcome),
        "error" => check_error(&file, entry, &outcome),
        _ if outcome.first_error().is_some() => check_error(&file, entry, &outcome),
        _ => check_content(&file, entry, &outcome),
    };
    problems.into_iter().map(|problem| format!("{}: {problem}", entry.file)).collect()
}

#[test]
fn every_file_is_read_to_its_manifest() {
    assert_eq!(check_folder(&golden()), 200);
}

#[test]
fn every_further_file_is_read_to_its_manifest() {
    match std::env::var_os("BURNPY_GOLDEN_EXTRA") {
        Some(folder) => assert!(check_folder(&checkout().join(folder)) > 0),
        None => println!("skipped: BURNPY_GOLDEN_EXTRA is not set"),
    }
}

#[test]
#[ignore = "started by the test below"]
fn child_reads_one_file() {
    child::child();
}

#[test]
fn malicious_files_end_early_and_stay_small() {
    let mut slowest = (0, String::new());
    let mut largest = (0, String::new());
    for entry in read_manifest(&golden().join("manifest.json")).iter().filter(|entry| entry.limits.is_some())
    {
        let (seconds, bytes) = entry.limits.unwrap();
        let Usage { micros, kib, end } = measure(&golden().join(&entry.file));
        println!("{}: {micros} us, {kib} KiB, {end}", entry.file);
        // A watchdog, not a measurement: other processes share the machine.
        assert!(micros < 30 * seconds * 1_000_000, "{} took {micros} us", entry.file);
        assert!(kib * 1024 < bytes, "{} took {kib} KiB", entry.file);
        slowest = slowest.max((micros, entry.file.clone()));
        largest = largest.max((kib, entry.file.clone()));
    }
    println!("slowest: {} us ({}); largest: {} KiB ({})", slowest.0, slowest.1, largest.0, largest.1);
}

#[test]
fn no_cut_of_a_good_file_is_read_as_something_else() {
    for name in ["model_linear_zip.pt", "model_linear_legacy.pth", "tar_era.pt", "raw_pickle_p4.pkl"] {
        let file = std::fs::read(golden().join(name)).unwrap();
        let whole = Outcome::of(&file);
        for len in 0..file.len() {
            let cut = Outcome::of(&file[..len]);
            let same = cut.first_error().is_none() && cut.data == whole.data;
            // A tar archive ends with blocks of zeros, which say nothing.
            assert!(cut.first_error().is_some() || (same && name == "tar_era.pt"), "{name} cut after {len}");
        }
    }
}

#[test]
fn every_kind_of_error_has_a_file_that_provokes_it() {
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    for entry in read_manifest(&golden().join("manifest.json")) {
        let outcome = Outcome::of(&std::fs::read(golden().join(&entry.file)).unwrap());
        kinds.extend(outcome.first_error().map(|error| error.kind.name()));
    }
    let linear = std::fs::read(golden().join("model_linear_zip.pt")).unwrap();
    let replaced = |from: &[u8], to: &[u8]| {
        let at = linear.windows(from.len()).position(|window| window == from).unwrap();
        let mut file = linear.clone();
        file[at..at + from.len()].copy_from_slice(to);
        Outcome::of(&file).first_error().map(|error| error.kind.name())
    };
    kinds.extend(replaced(b"FloatStorage", b"OtherStorage"));
    kinds.extend(replaced(b"PK\x01\x02", b"PK\x01\x03"));
    assert_eq!(kinds, BTreeSet::from(ErrorKind::NAMES));
}

#[test]
fn limits_are_kept() {
    let file = std::fs::read(golden().join("checkpoint_ddp_zip.pth.tar")).unwrap();
    let refused = |limits: Limits| {
        let error = open(&file, &limits).and_then(|checkpoint| checkpoint.leaves()).unwrap_err();
        assert_eq!(error.kind.name(), "over limit", "{error}");
    };
    refused(Limits { max_memory: 1000, ..Limits::default() });
    refused(Limits { max_memo: 10, ..Limits::default() });
    refused(Limits { max_stack: 5, ..Limits::default() });
    refused(Limits { max_depth: 2, ..Limits::default() });
    refused(Limits { max_leaves: 20, ..Limits::default() });
    refused(Limits { max_members: 3, ..Limits::default() });
    refused(Limits { max_length: 5, ..Limits::default() });
}
