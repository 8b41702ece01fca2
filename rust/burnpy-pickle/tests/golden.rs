//! Every file of the golden data, read to its manifest: each listed byte, name and value, or the named error.
//!
//! `BURNPY_GOLDEN` names the folder of golden data, `BURNPY_GOLDEN_EXTRA` a folder of further checkpoints with a
//! manifest of the same form; both may be relative to the checkout. Without the second its test says so and passes.

#![allow(unreachable_pub, reason = "a test has no outside")]

#[path = "golden_support/manifest.rs"]
mod manifest;
#[path = "golden_support/outcome.rs"]
mod outcome;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use burnpy_pickle::{Limits, open};

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

/// The work of a child process, which then says what it took.
#[test]
#[ignore = "started by the test below"]
fn child_reads_one_file() {
    let Some(path) = std::env::var_os("BURNPY_PICKLE_FILE") else { return };
    let file = std::fs::read(path).unwrap();
    let before = peak_kib();
    let start = Instant::now();
    let outcome = Outcome::of(&file);
    println!("took {} us, {} KiB", start.elapsed().as_micros(), peak_kib() - before);
    drop(outcome);
}

/// The peak of this process's memory; 0 where the system does not tell.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
}

#[test]
fn malicious_files_end_early_and_stay_small() {
    let mut slowest = (0, String::new());
    let mut largest = (0, String::new());
    for entry in read_manifest(&golden().join("manifest.json")).iter().filter(|entry| entry.limits.is_some())
    {
        let (seconds, bytes) = entry.limits.unwrap();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_reads_one_file", "--ignored", "--nocapture"])
            .env("BURNPY_PICKLE_FILE", golden().join(&entry.file))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let took = text.lines().find_map(|line| line.split_once("took ")).map(|(_, rest)| rest.to_owned());
        let took = took.unwrap_or_else(|| panic!("{}: the child did not finish: {text}", entry.file));
        let numbers: Vec<u64> =
            took.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
        let (micros, kib) = (numbers[0], numbers[1]);
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
