//! A container whose bytes Python serves, from an object store or a file object; and one that goes to Python in parts.

use std::io;
use std::ops::Range;

use burnpy_buffer::Bytes;
use burnpy_pack::{Identity, Source};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::enter::Raised;
use crate::import::{Held, buffer_bytes};

/// An object with ``read_ranges([(start, end), …])``, which returns a buffer for each.
pub(crate) struct PythonSource {
    object: Held,
    len: u64,
    tag: String,
}

impl PythonSource {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (len, tag) = (object.getattr("size")?.extract()?, object.getattr("etag")?);
        let tag = tag.extract::<Option<String>>()?.unwrap_or_default();
        Ok(Self { object: Held::new(object), len, tag })
    }

    fn ask(&self, ranges: &[Range<u64>]) -> PyResult<Vec<Bytes>> {
        let pairs: Vec<(u64, u64)> = ranges.iter().map(|range| (range.start, range.end)).collect();
        Python::attach(|py| {
            let buffers = self.object.bind(py).call_method1("read_ranges", (pairs,))?;
            buffers.try_iter()?.map(|buffer| buffer_bytes(&buffer?)).collect()
        })
    }
}

impl Source for PythonSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, start: u64, out: &mut [u8]) -> io::Result<()> {
        let range = start..start.saturating_add(out.len() as u64);
        let bytes = self.read_ranges(std::slice::from_ref(&range))?;
        burnpy_buffer::copy_bytes(out, &bytes[0]);
        Ok(())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        let buffers = self.ask(ranges).map_err(|error| io::Error::other(Raised(error)))?;
        let lengths = buffers.iter().map(|buffer| buffer.len() as u64);
        match lengths.eq(ranges.iter().map(|range| range.end.saturating_sub(range.start))) {
            true => Ok(buffers),
            false => Err(io::Error::other("read_ranges returned other lengths than it was asked for")),
        }
    }

    fn identity(&self) -> Option<Identity> {
        Some(Identity::Tag(self.tag.clone()))
    }
}

/// Hands what is written to a Python function, in parts of one length; the last one may be shorter.
pub(crate) struct PartWriter {
    write: Held,
    part_bytes: usize,
    gathered: Vec<u8>,
}

impl PartWriter {
    pub(crate) fn new(write: &Bound<'_, PyAny>, part_bytes: usize) -> Self {
        Self { write: Held::new(write), part_bytes: part_bytes.max(1), gathered: Vec::new() }
    }

    fn hand_over(&mut self) -> io::Result<()> {
        let call = |py: Python<'_>| self.write.bind(py).call1((PyBytes::new(py, &self.gathered),)).map(drop);
        Python::attach(call).map_err(|error| io::Error::other(Raised(error)))?;
        self.gathered.clear();
        Ok(())
    }
}

impl io::Write for PartWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.part_bytes - self.gathered.len());
        self.gathered.extend_from_slice(&bytes[..taken]);
        if self.gathered.len() == self.part_bytes {
            self.hand_over()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.gathered.is_empty() { Ok(()) } else { self.hand_over() }
    }
}
