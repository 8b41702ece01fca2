//! Where a container goes: a slice of memory or a file.

use std::fs::File;
use std::io::{self, IoSlice, Write};

use burnpy_buffer::copy_bytes;

/// Takes the bytes of a container in order.
pub(crate) trait Sink {
    /// Appends bytes.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Appends zeros.
    fn pad(&mut self, count: usize) -> io::Result<()>;
    /// Nothing more comes.
    fn finish(&mut self) -> io::Result<()>;
}

/// Memory of the right length.
pub(crate) struct SliceSink<'m> {
    rest: &'m mut [u8],
}

impl<'m> SliceSink<'m> {
    pub(crate) const fn new(memory: &'m mut [u8]) -> Self {
        Self { rest: memory }
    }

    fn take(&mut self, count: usize) -> io::Result<&'m mut [u8]> {
        let rest = std::mem::take(&mut self.rest);
        let (taken, rest) = rest.split_at_mut_checked(count).ok_or(io::ErrorKind::WriteZero)?;
        self.rest = rest;
        Ok(taken)
    }
}

impl Sink for SliceSink<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        copy_bytes(self.take(bytes.len())?, bytes);
        Ok(())
    }

    fn pad(&mut self, count: usize) -> io::Result<()> {
        self.take(count)?.fill(0);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Small pieces (header, padding, small tensors) are gathered up to this size: a write of 256 KiB runs at full speed,
/// and a call for each of 100 000 small tensors would cost more than their bytes.
const GATHER: usize = 256 << 10;

/// A file, written front to back.
pub(crate) struct FileSink<'f> {
    file: &'f File,
    gathered: Vec<u8>,
}

impl<'f> FileSink<'f> {
    pub(crate) fn new(file: &'f File) -> Self {
        Self { file, gathered: Vec::with_capacity(GATHER) }
    }

    /// Writes what was gathered and `bytes` behind it, in one call where the system takes all.
    fn flush_with(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut slices = [IoSlice::new(&self.gathered), IoSlice::new(bytes)];
        let mut slices = &mut slices[..];
        while slices.iter().any(|slice| !slice.is_empty()) {
            match self.file.write_vectored(slices) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => IoSlice::advance_slices(&mut slices, count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.gathered.clear();
        Ok(())
    }
}

impl Sink for FileSink<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.gathered.len() + bytes.len() > GATHER {
            return self.flush_with(bytes);
        }
        self.gathered.extend_from_slice(bytes);
        Ok(())
    }

    fn pad(&mut self, count: usize) -> io::Result<()> {
        self.gathered.resize(self.gathered.len() + count, 0);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush_with(&[])
    }
}
