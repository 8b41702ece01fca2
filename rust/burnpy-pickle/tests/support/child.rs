//! Reading a file in a process of its own, to see what that takes.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use burnpy_pickle::{Limits, open};

/// What a file took.
pub struct Usage {
    pub micros: u64,
    pub kib: u64,
    /// How it ended: the kind of error, or the number of tensors.
    pub end: String,
}

const FILE: &str = "BURNPY_PICKLE_FILE";

/// The child's part, called from an ignored test named `child_reads_one_file`.
pub fn child() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let file = std::fs::read(path).unwrap();
    let before = peak_kib();
    let start = Instant::now();
    let end = read(&file);
    println!("took {} {} {end}", start.elapsed().as_micros(), peak_kib() - before);
}

/// Reads all there is: values, listing, bytes.
fn read(file: &[u8]) -> String {
    let result = open(file, &Limits::default()).and_then(|checkpoint| {
        let leaves = checkpoint.leaves()?;
        leaves.ties();
        leaves.overlaps();
        for leaf in &leaves.tensors {
            checkpoint.verify(file, leaf)?;
            checkpoint.read(file, leaf)?;
        }
        Ok(leaves)
    });
    match result {
        Ok(leaves) => format!("{} tensors", leaves.tensors.len()),
        Err(error) => error.kind.name().to_owned(),
    }
}

/// Runs the child. A child that does not end within a minute would hold up the test, which says so by itself.
pub fn measure(path: &Path) -> Usage {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_reads_one_file", "--ignored", "--nocapture"])
        .env(FILE, path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let took = text.lines().find_map(|line| line.split_once("took ")).map(|(_, rest)| rest);
    let took = took.unwrap_or_else(|| panic!("{}: the child did not finish: {text}", path.display()));
    let mut words = took.splitn(3, ' ');
    let mut number = || words.next().unwrap().parse().unwrap();
    let (micros, kib) = (number(), number());
    Usage { micros, kib, end: words.next().unwrap().to_owned() }
}

/// The peak of this process's memory; 0 where the system does not tell.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
}
