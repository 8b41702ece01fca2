//! What the published `burn-pack` reads from a file, and how fast it is: the other side of `test_interop.py`.
//!
//! ```text
//! burnpy-interop dump FILE...               one line of JSON per file, read through `Reader::from_file_exact`
//! burnpy-interop dump-bytes FILE...         the same through `Reader::from_bytes`
//! burnpy-interop bench FILE FOLDER TENSOR   times rows that are named on standard input, see `bench.rs`
//! ```

mod bench;
mod dump;

use std::env;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: burnpy-interop (dump | dump-bytes) FILE... | bench FILE FOLDER TENSOR";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["dump", ref files @ ..] => dump_all(files, dump::from_file),
        ["dump-bytes", ref files @ ..] => dump_all(files, dump::from_bytes),
        ["bench", file, folder, tensor] => bench::serve(Path::new(file), Path::new(folder), tensor),
        _ => Err(io::Error::other(USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn dump_all(files: &[&str], dump: fn(&Path) -> serde_json::Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for file in files {
        writeln!(out, "{}", dump(Path::new(file)))?;
    }
    Ok(())
}
