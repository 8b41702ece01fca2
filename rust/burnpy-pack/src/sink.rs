//! Where a container goes: a slice of memory or a file.

use std::fs::File;
use std::io::{self, IoSlice, Seek, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use burnpy_buffer::{copy_bytes, fetch_pages, is_in_shared_map};

use crate::source::on_two_threads;

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

/// Anything that takes bytes; it gathers small pieces itself if it wants to.
pub(crate) struct StreamSink<'w> {
    out: &'w mut dyn Write,
}

impl<'w> StreamSink<'w> {
    pub(crate) const fn new(out: &'w mut dyn Write) -> Self {
        Self { out }
    }
}

impl Sink for StreamSink<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    fn pad(&mut self, count: usize) -> io::Result<()> {
        io::copy(&mut io::Read::take(io::repeat(0), count as u64), &mut self.out).map(drop)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Small pieces (header, padding, small tensors) are gathered up to this size: a write of 256 KiB runs at full speed,
/// and a call for each of 100 000 small tensors would cost more than their bytes. A large tensor is written in pieces
/// of it as well, which end at its multiples in the file: ext4 is slower at one write of all.
const GATHER: usize = 256 << 10;

/// From this length on, mapped bytes are fetched by a second thread while the first ones are written.
const FETCHED: usize = 1 << 20;

/// The second thread looks this often whether there is still somebody to fetch for.
const FETCH: usize = 4 << 20;

/// A file, written front to back from where it stands.
pub struct FileSink<'f> {
    file: &'f File,
    gathered: Vec<u8>,
    /// Place in the file of the first byte that is gathered.
    at: u64,
}

impl<'f> FileSink<'f> {
    pub(crate) fn new(mut file: &'f File) -> Self {
        // What cannot tell its place is written as well; only the pieces lie differently.
        let at = file.stream_position().unwrap_or(0);
        Self { file, gathered: Vec::new(), at }
    }

    /// Writes what was gathered and `bytes`, up to a multiple of the size of a piece, and gathers the rest.
    fn write_through(&mut self, bytes: &[u8]) -> io::Result<()> {
        let end = self.at + self.gathered.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(GATHER - (end % GATHER as u64) as usize));
        self.flush_with(head)?;
        let (pieces, rest) = rest.as_chunks::<GATHER>();
        pieces.iter().try_for_each(|piece| self.flush_with(piece))?;
        self.gathered.extend_from_slice(rest);
        Ok(())
    }

    /// Writes what was gathered and `bytes` behind it, in one call where the system takes all.
    fn flush_with(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut slices = [IoSlice::new(&self.gathered), IoSlice::new(bytes)];
        let mut slices = &mut slices[..];
        while slices.iter().any(|slice| !slice.is_empty()) {
            match self.file.write_vectored(slices) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.at += count as u64;
                    IoSlice::advance_slices(&mut slices, count);
                }
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
        if self.gathered.len() + bytes.len() <= GATHER {
            self.gathered.extend_from_slice(bytes);
            return Ok(());
        }
        if bytes.len() < FETCHED || !is_in_shared_map(bytes) {
            return self.write_through(bytes);
        }
        fetched_ahead(bytes, || self.write_through(bytes))
    }

    fn pad(&mut self, count: usize) -> io::Result<()> {
        self.gathered.resize(self.gathered.len() + count, 0);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush_with(&[])
    }
}

impl Write for FileSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.finish()
    }
}

/// Runs `write` while another thread fetches the pages of a mapped file that it is going to need: page faults are a
/// fifth of a copy, and the kernel lets only one thread write to a file.
fn fetched_ahead<T>(bytes: &[u8], write: impl FnOnce() -> T) -> T {
    let is_done = AtomicBool::new(false);
    let fetch = || {
        let pieces = bytes.chunks(FETCH).take_while(|_| !is_done.load(Ordering::Relaxed));
        pieces.for_each(fetch_pages);
    };
    let written = || {
        let written = write();
        is_done.store(true, Ordering::Relaxed);
        written
    };
    on_two_threads(written, fetch).0
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Seek, SeekFrom};

    use super::*;

    /// A file with these pieces behind `before` bytes, and what it should hold.
    fn written(name: &str, before: usize, pieces: &[&[u8]]) -> (Vec<u8>, Vec<u8>) {
        let path = std::env::temp_dir().join(format!("burnpy-sink-{name}-{}", std::process::id()));
        let mut file = File::create(&path).unwrap();
        file.write_all(&vec![9; before]).unwrap();
        file.seek(SeekFrom::Start(before as u64)).unwrap();
        let mut sink = FileSink::new(&file);
        pieces.iter().for_each(|piece| sink.put(piece).unwrap());
        sink.finish().unwrap();
        let found = fs::read(&path).unwrap();
        fs::remove_file(path).unwrap();
        (found, [vec![9; before], pieces.concat()].concat())
    }

    #[test]
    fn pieces_of_every_length_arrive_in_order() {
        let bytes: Vec<u8> = (0..3 * GATHER + 7).map(|i| (i % 251) as u8).collect();
        for len in [0, 1, GATHER - 1, GATHER, GATHER + 1, 2 * GATHER, 3 * GATHER + 7] {
            for before in [0, 5, GATHER] {
                let (found, expected) = written("order", before, &[&bytes[..len], b"xy", &bytes[..len]]);
                assert!(found == expected, "{len} bytes behind {before}");
            }
        }
    }

    #[test]
    fn a_mapped_tensor_that_is_fetched_ahead_arrives_whole() {
        let path = std::env::temp_dir().join(format!("burnpy-sink-source-{}", std::process::id()));
        let bytes: Vec<u8> = (0..2 * FETCH + 3 * FETCHED + 5).map(|i| (i % 253) as u8).collect();
        fs::write(&path, &bytes).unwrap();
        let map =
            burnpy_buffer::map_file(&File::open(&path).unwrap(), burnpy_buffer::MapMode::Shared).unwrap();
        fs::remove_file(path).unwrap();
        assert!(is_in_shared_map(&map));

        let (found, expected) = written("fetched", 3, &[&map[1..]]);

        assert!(found == expected);
    }
}
