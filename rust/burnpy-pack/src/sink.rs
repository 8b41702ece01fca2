//! Where a container goes: a slice of memory or a file.

use std::fs::File;
use std::io::{self, IoSlice, Seek, SeekFrom, Write};

use burnpy_buffer::copy_bytes;

#[cfg(unix)]
use crate::send::send;

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

/// A file, written front to back from where it stands.
pub struct FileSink<'f> {
    file: &'f File,
    gathered: Vec<u8>,
    /// Place in the file of the first byte that is gathered.
    at: u64,
    /// Whether bytes can be written at a place, whatever the order.
    is_placed: bool,
}

impl<'f> FileSink<'f> {
    pub(crate) fn new(mut file: &'f File) -> Self {
        // What cannot tell its place is written as well; only the pieces lie differently.
        let at = file.stream_position().unwrap_or(0);
        Self { file, gathered: Vec::new(), at, is_placed: takes_places(file) }
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

    /// Copies bytes of a mapped file from the file itself, and returns whether that was possible. No page of the map is
    /// touched: to bring them in, 16 at a time, is a fifth of a copy.
    #[cfg(unix)]
    fn send(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let Some(origin) = self.is_placed.then(|| burnpy_buffer::mapped_file(bytes)).flatten() else {
            return Ok(false);
        };
        self.flush_with(&[])?;
        let range = origin.start as u64..(origin.start + bytes.len()) as u64;
        let sum = send(&origin.file, range, self.file, self.at, origin.witness.is_some())?;
        if let (Some(witness), Some(sum)) = (origin.witness, sum) {
            witness(origin.start..origin.start + bytes.len(), sum);
        }
        self.at += bytes.len() as u64;
        self.file.seek(SeekFrom::Start(self.at))?;
        Ok(true)
    }

    #[cfg(not(unix))]
    fn send(&mut self, _bytes: &[u8]) -> io::Result<bool> {
        Ok(false)
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
        if self.send(bytes)? { Ok(()) } else { self.write_through(bytes) }
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

/// Not where a file is open for appending: Linux writes to its end, whatever place it is told. Nor where a program plays
/// the file system (FUSE): those that send files elsewhere may take bytes in order alone.
#[cfg(unix)]
fn takes_places(file: &File) -> bool {
    use rustix::fs::{OFlags, fcntl_getfl};
    file.metadata().is_ok_and(|meta| meta.is_file())
        && fcntl_getfl(file).is_ok_and(|flags| !flags.contains(OFlags::APPEND))
        && !is_on_fuse(file)
}

#[cfg(target_os = "linux")]
fn is_on_fuse(file: &File) -> bool {
    const FUSE: u32 = 0x6573_5546;
    rustix::fs::fstatfs(file).is_ok_and(|system| system.f_type as u32 == FUSE)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_on_fuse(_file: &File) -> bool {
    false
}

#[cfg(not(unix))]
fn takes_places(_file: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use burnpy_buffer::{Bytes, MapMode, map_file};

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

    /// The bytes of a file in a folder, mapped; whoever is given the path deletes it.
    fn mapped(folder: &Path, name: &str, bytes: &[u8]) -> (Bytes, PathBuf) {
        let path = folder.join(format!("burnpy-sink-source-{name}-{}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        (map_file(&File::open(&path).unwrap(), MapMode::Shared).unwrap(), path)
    }

    fn numbered(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i % 253) as u8).collect()
    }

    #[test]
    fn a_part_of_a_mapped_file_arrives_whole_from_every_place_and_behind_anything() {
        let (map, path) = mapped(&std::env::temp_dir(), "places", &numbered(3 * GATHER + 4096 + 5));
        for start in [0, 1, 4096, GATHER + 3] {
            for len in [0, 1, 4096, GATHER, GATHER + 1, 2 * GATHER + 4097] {
                for before in [0, 5, 4096, GATHER + 1] {
                    let part = &map[start..map.len().min(start + len)];
                    let (found, expected) = written("places", before, &[b"xy", part, part, b"z"]);
                    assert!(found == expected, "{len} bytes from {start} behind {before}");
                }
            }
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_mapped_file_that_has_no_name_any_more_or_is_on_another_file_system_arrives_as_well() {
        for folder in [std::env::temp_dir(), "/dev/shm".into()].iter().filter(|folder| folder.is_dir()) {
            let (map, path) = mapped(folder, "elsewhere", &numbered(2 * GATHER + 7));
            let (found, expected) = written("elsewhere", 3, &[&map[1..]]);
            assert!(found == expected);
            fs::remove_file(path).unwrap();
            let (found, expected) = written("nameless", 3, &[&map[1..]]);
            assert!(found == expected);
        }
    }

    #[test]
    fn what_takes_no_places_is_written_in_order() {
        let (map, source) = mapped(&std::env::temp_dir(), "appended", &numbered(2 * GATHER + 7));
        let path = std::env::temp_dir().join(format!("burnpy-sink-appended-{}", std::process::id()));
        let file = File::options().append(true).create_new(true).open(&path).unwrap();
        let mut sink = FileSink::new(&file);
        [b"xy", &map[3..], b"z"].iter().for_each(|piece| sink.put(piece).unwrap());
        sink.finish().unwrap();
        assert!(fs::read(&path).unwrap() == [b"xy", &map[3..], b"z"].concat());
        [source, path].iter().for_each(|path| fs::remove_file(path).unwrap());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_witness_is_told_of_what_is_copied_from_the_file() {
        use std::sync::{Arc, Mutex};
        let (map, source) = mapped(&std::env::temp_dir(), "witness", &numbered(9 << 20));
        let told = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&told);
        let watch = burnpy_buffer::watch_copies(
            &map,
            Arc::new(move |range, sum| list.lock().unwrap().push((range, sum))),
        );
        // Small bytes are gathered, and nobody sums them.
        let ranges = [5..GATHER + 6, 4096..9 << 20, 0..100];
        let (found, expected) = written("witness", 3, &ranges.clone().map(|range| &map[range]));
        assert!(found == expected);
        drop(watch);
        let sums = ranges[..2].iter().map(|range| (range.clone(), crc32fast::hash(&map[range.clone()])));
        assert_eq!(*told.lock().unwrap(), sums.collect::<Vec<_>>());
        fs::remove_file(source).unwrap();
    }
}
