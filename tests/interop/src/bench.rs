//! Times `burn-pack` on one file, row by row, as the benchmarks in `benches/python` ask for it.
//!
//! The program reads the name of a row per line and answers each with `{"row": ..., "seconds": ...}`, so that
//! the asker can alternate between this program and its own process (A B A B) and take the medians himself.
//! Reading the file and making its tensors resident is done once, before the first row, and not timed.

use std::fs;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use burn_pack::{Bytes, Error, Reader, Tensor, Writer};
use serde_json::json;

const PAGE: usize = 4096;

/// Answers rows until standard input ends.
pub fn serve(file: &Path, folder: &Path) -> io::Result<()> {
    let bench = Bench::new(file, folder).map_err(io::Error::other)?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let answer = match bench.seconds(line.trim()) {
            Ok(seconds) => json!({"row": line.trim(), "seconds": seconds}),
            Err(error) => json!({"row": line.trim(), "error": error.to_string()}),
        };
        let mut out = io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

struct Bench {
    file: PathBuf,
    target: PathBuf,
    /// The file's content, shared so that a clone is a reference count.
    content: Bytes,
    tensors: Vec<Tensor>,
    first_name: String,
}

impl Bench {
    fn new(file: &Path, folder: &Path) -> Result<Self, Error> {
        let content = fs::read(file).map_err(|error| Error::IoError(error.to_string()))?;
        let tensors = resident_tensors(file)?;
        Ok(Self {
            file: file.to_path_buf(),
            target: folder.join("saved-by-burn-pack.bpk"),
            content: Bytes::from_bytes_vec(content).shared(),
            first_name: tensors.first().map(|tensor| tensor.name.clone()).unwrap_or_default(),
            tensors,
        })
    }

    fn seconds(&self, row: &str) -> Result<f64, Error> {
        if row.starts_with("save") {
            // Every save makes a fresh file, as the peers do; removing the last one is not timed.
            let _ = fs::remove_file(&self.target);
        }
        let tensors = if row.starts_with("save") { self.tensors.clone() } else { Vec::new() };
        let start = Instant::now();
        let kept = self.run(row, tensors)?;
        let seconds = start.elapsed().as_secs_f64();
        drop(kept); // giving memory back is not timed: the peers keep their result past the clock, too
        Ok(seconds)
    }

    fn run(&self, row: &str, tensors: Vec<Tensor>) -> Result<Kept, Error> {
        let file = &self.file;
        Ok(match row {
            "open and list" => Kept::Names(names(&Reader::from_file(file)?)),
            "load all, untouched" => Kept::Tensors(Reader::from_file(file)?.into_tensors()?),
            "load and touch" => Kept::Payloads(touched(Reader::from_file(file)?)?),
            "load, private copy" => Kept::Payloads(payloads(Reader::from_file(file)?)?),
            "one tensor" => Kept::Data(Reader::from_file(file)?.tensor_data(&self.first_name)?),
            "load from bytes" => Kept::Tensors(Reader::from_bytes(self.content.clone())?.into_tensors()?),
            "save" => Kept::Nothing(Writer::new(tensors).write_to_file_in_place(&self.target)?),
            "save durable" => Kept::Nothing(Writer::new(tensors).write_to_file(&self.target)?),
            "save to bytes" => Kept::Payloads(vec![Writer::new(tensors).into_bytes()?]),
            other => return Err(Error::ValidationError(format!("no row {other:?}"))),
        })
    }
}

/// What a row made, handed back so that its release stays outside the measurement.
#[expect(dead_code, reason = "held for its destructor")]
enum Kept {
    Nothing(()),
    Names(Vec<String>),
    Data(Vec<u8>),
    Tensors(Vec<Tensor>),
    Payloads(Vec<Bytes>),
}

/// The tensors with their payloads on the heap, shared: handing them to a writer copies nothing.
fn resident_tensors(file: &Path) -> Result<Vec<Tensor>, Error> {
    let copy = |tensor: Tensor| {
        let (name, dtype, shape, param_id, bytes) = tensor.into_parts()?;
        let bytes = Bytes::from_bytes_vec(bytes.to_vec()).shared();
        Ok(Tensor::new(name, dtype, shape, param_id, bytes))
    };
    Reader::from_file(file)?.into_tensors()?.into_iter().map(copy).collect()
}

fn names(reader: &Reader) -> Vec<String> {
    reader.tensor_names().into_iter().map(str::to_owned).collect()
}

/// Every payload read into memory of its own. Burn's windows on a file are read at the first dereference.
fn payloads(reader: Reader) -> Result<Vec<Bytes>, Error> {
    let read = |tensor: Tensor| {
        let bytes = tensor.into_bytes()?;
        black_box(bytes.first());
        Ok(bytes)
    };
    reader.into_tensors()?.into_iter().map(read).collect()
}

fn touched(reader: Reader) -> Result<Vec<Bytes>, Error> {
    let payloads = payloads(reader)?;
    for bytes in &payloads {
        black_box(bytes.iter().step_by(PAGE).fold(0u8, |sum, byte| sum.wrapping_add(*byte)));
    }
    Ok(payloads)
}
