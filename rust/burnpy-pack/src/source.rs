//! Where a reader's bytes come from: memory, a file map, an open file, or anything that serves ranges.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use burnpy_buffer::{AlignedBuf, Bytes};

/// What tells two versions of a source apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// A file of this machine.
    File {
        /// Device number.
        device: u64,
        /// Inode number.
        inode: u64,
        /// Last change, in nanoseconds since 1970.
        modified_ns: i128,
    },
    /// An object's version, as its store names it.
    Tag(String),
}

/// Random access to bytes that do not change while they are read.
pub trait Source: Send + Sync {
    /// Length in bytes.
    fn len(&self) -> u64;

    /// Whether there is no byte.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `out` with the bytes from `start` on.
    ///
    /// # Errors
    /// `UnexpectedEof` when fewer are there; whatever the medium says.
    fn read_into(&self, start: u64, out: &mut [u8]) -> io::Result<()>;

    /// Reads several ranges; a remote source overrides this to ask for them at once.
    ///
    /// # Errors
    /// As [`Source::read_into`].
    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Bytes>> {
        ranges.iter().map(|range| read_range(self, range)).collect()
    }

    /// The range as a window that costs nothing, if the source has such.
    fn view(&self, _range: Range<u64>) -> Option<Bytes> {
        None
    }

    /// How many bytes were read so far, if the source counts them.
    fn bytes_read(&self) -> Option<u64> {
        None
    }

    /// What tells this version of the source from another one.
    fn identity(&self) -> Option<Identity> {
        None
    }
}

fn read_range<S: Source + ?Sized>(source: &S, range: &Range<u64>) -> io::Result<Bytes> {
    if let Some(view) = source.view(range.clone()) {
        return Ok(view);
    }
    let len = range.end.checked_sub(range.start).and_then(|len| usize::try_from(len).ok());
    let len = len.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a range without a length"))?;
    let mut out = AlignedBuf::try_for_overwrite(len)?;
    source.read_into(range.start, &mut out)?;
    Ok(out.into())
}

/// Bytes in memory, or a file map: every range is a window.
#[derive(Debug, Clone)]
pub struct MemorySource {
    bytes: Bytes,
    identity: Option<Identity>,
}

impl MemorySource {
    /// A source over these bytes.
    pub const fn new(bytes: Bytes) -> Self {
        Self { bytes, identity: None }
    }

    /// A source over the map of this file.
    pub(crate) fn of_map(bytes: Bytes, file: &File) -> Self {
        Self { bytes, identity: file_identity(file) }
    }
}

impl Source for MemorySource {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_into(&self, start: u64, out: &mut [u8]) -> io::Result<()> {
        let end = start.checked_add(out.len() as u64).ok_or(io::ErrorKind::UnexpectedEof)?;
        let view = self.view(start..end).ok_or(io::ErrorKind::UnexpectedEof)?;
        burnpy_buffer::copy_bytes(out, &view);
        Ok(())
    }

    fn view(&self, range: Range<u64>) -> Option<Bytes> {
        self.bytes.slice(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
    }

    fn identity(&self) -> Option<Identity> {
        self.identity.clone()
    }
}

/// An open file, read range by range. The handle is kept, so a file that is replaced is read in its old version,
/// and one that is cut gives an error, never a signal.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    len: u64,
    identity: Option<Identity>,
    bytes_read: AtomicU64,
}

/// From this size on a read is split among two threads: one `pread` moves 4–6 GB/s, two together up to 8.5.
const PARALLEL_READ: usize = 8 << 20;

impl FileSource {
    /// A source over an open file.
    ///
    /// # Errors
    /// Whatever `fstat` says.
    pub fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        let identity = file_identity(&file);
        Ok(Self { file, len, identity, bytes_read: AtomicU64::new(0) })
    }
}

impl Source for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, start: u64, out: &mut [u8]) -> io::Result<()> {
        self.bytes_read.fetch_add(out.len() as u64, Ordering::Relaxed);
        if out.len() < PARALLEL_READ {
            return read_exact_at(&self.file, out, start);
        }
        // Halves on page boundaries, so that no page is read by both.
        let (head, tail) = out.split_at_mut((out.len() / 2).next_multiple_of(4096));
        let middle = start + head.len() as u64;
        let (first, second) = on_two_threads(
            || read_exact_at(&self.file, head, start),
            || read_exact_at(&self.file, &mut *tail, middle),
        );
        first.and(second.unwrap_or_else(|| read_exact_at(&self.file, tail, middle)))
    }

    fn bytes_read(&self) -> Option<u64> {
        Some(self.bytes_read.load(Ordering::Relaxed))
    }

    fn identity(&self) -> Option<Identity> {
        self.identity.clone()
    }
}

/// Runs one closure here and the other in a thread of its own; `None` where the system gives no thread.
pub(crate) fn on_two_threads<A, B: Send>(
    here: impl FnOnce() -> A,
    there: impl FnOnce() -> B + Send,
) -> (A, Option<B>) {
    std::thread::scope(|scope| {
        let second = std::thread::Builder::new().spawn_scoped(scope, there);
        let here = here();
        let there = second.ok().map(|second| second.join());
        (here, there.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))))
    })
}

#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, out: &mut [u8], start: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, start)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut out: &mut [u8], mut start: u64) -> io::Result<()> {
    while !out.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, out, start) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                out = &mut out[count..];
                start += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn file_identity(file: &File) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let meta = file.metadata().ok()?;
    let modified_ns = i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec());
    Some(Identity::File { device: meta.dev(), inode: meta.ino(), modified_ns })
}

#[cfg(not(unix))]
fn file_identity(_file: &File) -> Option<Identity> {
    None
}

/// Whether a path leads to the file that a source reads from.
pub(crate) fn is_same_file(path: &std::path::Path, identity: &Identity) -> bool {
    let here = File::open(path).ok().as_ref().and_then(file_identity);
    match (here, identity) {
        (Some(Identity::File { device: d, inode: i, .. }), Identity::File { device, inode, .. }) => {
            (d, i) == (*device, *inode)
        }
        _ => false,
    }
}
