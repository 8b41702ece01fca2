//! Bytes on their way from one file into another, which never are memory of a map.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use burnpy_buffer::AlignedBuf;
use crc32fast::Hasher;

use crate::source::{on_two_threads, read_exact_at};

/// A piece is read, summed and written while it is in the cache of a core, of which this is the half or less.
const PIECE: u64 = 512 << 10;

/// From this length on a second thread helps; to start it costs some 40 µs.
const PARALLEL: u64 = 4 << 20;

/// Copies a range of `source` to `at` in `target` and returns the CRC-32 of what was written, if it `is_summed`.
///
/// Two threads take the pieces in turn. The system lets only one of them write to a file at a time: the other reads and
/// sums meanwhile, so that the whole takes as long as the system's own copy from file to file.
///
/// # Errors
/// What the system says. `UnexpectedEof`: the source ends before the range does.
pub(crate) fn send(
    source: &File,
    range: Range<u64>,
    target: &File,
    at: u64,
    is_summed: bool,
) -> io::Result<Option<u32>> {
    let job = Job { source, range, target, at, is_summed, next: AtomicU64::new(0) };
    let mut sums = match job.range.end - job.range.start < PARALLEL {
        true => job.work()?,
        false => {
            let (here, there) = on_two_threads(|| job.work(), || job.work());
            let mut sums = here?;
            sums.extend(there.transpose()?.into_iter().flatten());
            sums
        }
    };
    sums.sort_unstable_by_key(|(piece, _)| *piece);
    let mut sum = Hasher::new();
    sums.iter().for_each(|(_, piece)| sum.combine(piece));
    Ok(is_summed.then(|| sum.finalize()))
}

/// A copy that several threads work at.
struct Job<'f> {
    source: &'f File,
    range: Range<u64>,
    target: &'f File,
    at: u64,
    is_summed: bool,
    /// The first piece that nobody has taken.
    next: AtomicU64,
}

impl Job<'_> {
    /// Copies pieces until none is left, and returns their numbers and sums.
    fn work(&self) -> io::Result<Vec<(u64, Hasher)>> {
        let len = self.range.end - self.range.start;
        let mut memory = AlignedBuf::try_for_overwrite(len.min(PIECE) as usize)?;
        let mut sums = Vec::new();
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            let start = piece.saturating_mul(PIECE);
            if start >= len {
                return Ok(sums);
            }
            let bytes = &mut memory[..PIECE.min(len - start) as usize];
            // After a failure there is no piece left for anybody.
            let sum = self.copy(start, bytes).inspect_err(|_| self.next.store(len, Ordering::Relaxed))?;
            sums.extend(sum.map(|sum| (piece, sum)));
        }
    }

    /// Copies the bytes that begin at `start` of the range, through memory of their length.
    fn copy(&self, start: u64, bytes: &mut [u8]) -> io::Result<Option<Hasher>> {
        read_exact_at(self.source, bytes, self.range.start + start).map_err(|error| self.cut(error))?;
        let sum = self.is_summed.then(|| {
            let mut sum = Hasher::new();
            sum.update(bytes);
            sum
        });
        self.target.write_all_at(bytes, self.at + start)?;
        Ok(sum)
    }

    /// What is wrong with a source that has become shorter. Who read on in a map of it would be killed.
    fn cut(&self, error: io::Error) -> io::Error {
        let (io::ErrorKind::UnexpectedEof, Ok(found)) = (error.kind(), self.source.metadata()) else {
            return error;
        };
        let (found, expected) = (found.len(), self.range.end);
        let what = format!(
            "the source was cut while it was read: it ends at byte {found} instead of {expected} or more"
        );
        io::Error::new(io::ErrorKind::UnexpectedEof, what)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn scratch(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("burnpy-send-{name}-{}", std::process::id()))
    }

    #[test]
    fn every_length_arrives_at_its_place_with_its_sum() {
        let bytes: Vec<u8> = (0..2 * PARALLEL + PIECE + 9).map(|i| (i * i % 253) as u8).collect();
        let (path, copy) = (scratch("source"), scratch("copy"));
        fs::write(&path, &bytes).unwrap();
        let source = File::open(&path).unwrap();
        for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, PARALLEL - 1, PARALLEL, PARALLEL + 1, 2 * PARALLEL + 7]
        {
            for (start, at) in [(0, 0), (1, 5), (PIECE, 4096)] {
                fs::write(&copy, vec![9; 8192]).unwrap();
                let target = File::options().write(true).open(&copy).unwrap();
                let sum = send(&source, start..start + len, &target, at, true).unwrap();
                let expected = &bytes[start as usize..(start + len) as usize];
                assert_eq!(sum, Some(crc32fast::hash(expected)), "{len} bytes from {start}");
                let mut all = vec![9; 8192.max((at + len) as usize)];
                all[at as usize..(at + len) as usize].copy_from_slice(expected);
                assert!(fs::read(&copy).unwrap() == all, "{len} bytes from {start} to {at}");
                assert_eq!(send(&source, start..start + len, &target, at, false).unwrap(), None);
            }
        }
        [path, copy].iter().for_each(|path| fs::remove_file(path).unwrap());
    }

    #[test]
    fn a_source_that_was_cut_is_an_error_with_its_length() {
        let (path, copy) = (scratch("cut"), scratch("cut-copy"));
        fs::write(&path, vec![1; 2 * PARALLEL as usize]).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(PARALLEL + 9).unwrap();
        let (source, target) = (File::open(&path).unwrap(), File::create(&copy).unwrap());
        let error = send(&source, 0..2 * PARALLEL, &target, 0, true).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(error.to_string().contains("ends at byte 4194313 instead of 8388608"), "{error}");
        [path, copy].iter().for_each(|path| fs::remove_file(path).unwrap());
    }

    #[test]
    fn a_target_that_takes_nothing_is_an_error_of_the_system() {
        let path = scratch("refused");
        fs::write(&path, vec![1; 2 * PARALLEL as usize]).unwrap();
        let file = File::open(&path).unwrap();
        let error = send(&file, 0..2 * PARALLEL, &file, 0, false).unwrap_err();
        assert!(error.raw_os_error().is_some(), "{error}");
        fs::remove_file(path).unwrap();
    }
}
