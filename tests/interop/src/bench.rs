//! Times `burn-pack` on one file, row by row, as the benchmarks in `benches/python` ask for it.
//!
//! The program reads the name of a row per line and answers each with `{"row": ..., "seconds": ...}`, so that
//! the asker can alternate between this program and its own process (A B A B) and take the medians himself.
//! What a row starts from (resident tensors, the file's bytes) is made at its first call and not timed.

use std::cell::OnceCell;
use std::fs;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use burn_pack::{Bytes, Error, Reader, Tensor, Writer};
use serde_json::json;

const PAGE: usize = 4096;

/// Answers rows until standard input ends.
pub fn serve(file: &Path, folder: &Path, one: &str) -> io::Result<()> {
    let bench = Bench::new(file, folder, one);
    for line in io::stdin().lock().lines() {
        let line = line?;
        let row = line.trim();
        let answer = match bench.seconds(row) {
            Ok(seconds) => json!({"row": row, "seconds": seconds}),
            Err(error) => json!({"row": row, "error": error.to_string()}),
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
    /// The tensor of the row that reads only one.
    one: String,
    tensors: OnceCell<Vec<Tensor>>,
    content: OnceCell<Bytes>,
}

impl Bench {
    fn new(file: &Path, folder: &Path, one: &str) -> Self {
        Self {
            file: file.to_path_buf(),
            target: folder.join("saved-by-burn-pack.bpk"),
            one: one.to_owned(),
            tensors: OnceCell::new(),
            content: OnceCell::new(),
        }
    }

    fn seconds(&self, row: &str) -> Result<f64, Error> {
        let input = self.input(row)?;
        let start = Instant::now();
        let output = self.run(row, input)?;
        let seconds = start.elapsed().as_secs_f64();
        drop(output); // giving memory back is not timed: the peers keep their result past the clock, too
        Ok(seconds)
    }

    /// What the row starts from. Payloads are shared, so that a clone is a reference count.
    fn input(&self, row: &str) -> Result<Input, Error> {
        Ok(if row.starts_with("save") {
            let _ = fs::remove_file(&self.target); // every save makes a fresh file, as the peers do
            Input::Tensors(or_make(&self.tensors, || resident_tensors(&self.file))?)
        } else if row == "load from bytes" {
            Input::Content(or_make(&self.content, || read_shared(&self.file))?)
        } else {
            Input::File
        })
    }

    fn run(&self, row: &str, input: Input) -> Result<Output, Error> {
        let open = || Reader::from_file(&self.file);
        Ok(match (row, input) {
            ("open and list", _) => Output::Names(names(&open()?)),
            ("load all, untouched", _) => Output::Tensors(open()?.into_tensors()?),
            ("load and touch", _) => Output::Payloads(touched(open()?)?),
            ("load, private copy", _) => Output::Payloads(payloads(open()?)?),
            ("one tensor", _) => Output::Data(open()?.tensor_data(&self.one)?),
            ("load from bytes", Input::Content(bytes)) => {
                Output::Tensors(Reader::from_bytes(bytes)?.into_tensors()?)
            }
            ("save", Input::Tensors(tensors)) => {
                Output::File(Writer::new(tensors).write_to_file_in_place(&self.target)?)
            }
            ("save durable", Input::Tensors(tensors)) => {
                Output::File(Writer::new(tensors).write_to_file(&self.target)?)
            }
            ("save to bytes", Input::Tensors(tensors)) => {
                Output::Payloads(vec![Writer::new(tensors).into_bytes()?])
            }
            _ => return Err(Error::ValidationError(format!("no row {row:?}"))),
        })
    }
}

enum Input {
    File,
    Tensors(Vec<Tensor>),
    Content(Bytes),
}

/// What a row made, handed back so that its release stays outside the measurement.
#[expect(dead_code, reason = "held for its destructor")]
enum Output {
    File(()),
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

fn read_shared(file: &Path) -> Result<Bytes, Error> {
    let content = fs::read(file).map_err(|error| Error::IoError(error.to_string()))?;
    Ok(Bytes::from_bytes_vec(content).shared())
}

fn or_make<T: Clone>(cell: &OnceCell<T>, make: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    match cell.get() {
        Some(value) => Ok(value.clone()),
        None => make().map(|value| cell.get_or_init(|| value).clone()),
    }
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
