//! Which memory is mapped from which file, so that nobody overwrites a file in place while its bytes are
//! the source.

use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::fork::hold_over_forks;

/// Device and inode.
type FileId = (u64, u64);

static MAPS: Mutex<Vec<Map>> = Mutex::new(Vec::new());

/// Is told which bytes of a mapped file were copied into another file, and the CRC-32 of what was written there.
pub type Witness = dyn Fn(Range<usize>, u32) + Send + Sync;

/// Where a map is, of which file, and whether its pages are the file's own.
#[derive(Clone)]
struct Map {
    range: Range<usize>,
    file: FileId,
    is_shared: bool,
    /// What the file was called when it was mapped, where the system tells.
    path: Option<PathBuf>,
    witness: Option<Arc<Witness>>,
}

impl Map {
    fn holds(&self, bytes: &Range<usize>) -> bool {
        self.range.start <= bytes.start && bytes.end <= self.range.end
    }
}

/// An entry of the registry; gone when the map is.
pub(crate) struct Registered(Range<usize>);

impl Registered {
    /// Notes that `len` bytes from `address` on are a map of `file`; one that `is_shared` cannot be written to.
    pub(crate) fn new(address: usize, len: usize, file: &File, is_shared: bool) -> Self {
        let range = address..address + len;
        if let Some(id) = file_id(file) {
            let path = if is_shared { path_of(file) } else { None };
            lock().push(Map { range: range.clone(), file: id, is_shared, path, witness: None });
        }
        Self(range)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // What a witness owns may be another map: it must not go while the list is locked.
        let _gone: Vec<Map> = lock().extract_if(.., |map| map.range == self.0).collect();
    }
}

/// Whether bytes lie in a map of the file that a path leads to, whoever handed them out.
pub fn is_mapped_from(bytes: &[u8], path: &Path) -> bool {
    let address = bytes.as_ptr() as usize;
    let mapped = lock().iter().find(|map| map.range.contains(&address)).map(|map| map.file);
    mapped.is_some() && File::open(path).ok().as_ref().and_then(file_id) == mapped
}

/// Where bytes of a map come from.
pub struct Origin {
    /// The file, opened anew to be read.
    pub file: File,
    /// Their first byte in the file.
    pub start: usize,
    /// Who wants to be told of copies.
    pub witness: Option<Arc<Witness>>,
}

/// Where the bytes of a shared map come from.
///
/// `None` for bytes anywhere else, and where the file cannot be opened again: it was renamed or deleted, it may no longer
/// be read, or the system does not tell what a file is called. A handle that is kept for every map would let nobody map
/// more files than a process may have open.
pub fn mapped_file(bytes: &[u8]) -> Option<Origin> {
    let start = bytes.as_ptr() as usize;
    let range = start..start + bytes.len();
    let map = lock().iter().find(|map| map.is_shared && map.holds(&range)).cloned()?;
    let file = open_without_waiting(map.path.as_deref()?)?;
    // Another file may have taken the name.
    let origin = Origin { file, start: start - map.range.start, witness: map.witness };
    (file_id(&origin.file) == Some(map.file)).then_some(origin)
}

/// Tells a witness of copies that are made of a shared map, until the guard is dropped. A map has one witness, the last.
#[must_use]
pub fn watch_copies(map: &[u8], witness: Arc<Witness>) -> Watch {
    let watch = Watch(map.as_ptr() as usize);
    watch.set(Some(witness));
    watch
}

/// Keeps the witness of a map.
pub struct Watch(usize);

impl Watch {
    fn set(&self, witness: Option<Arc<Witness>>) {
        // Dropped without the lock, as above.
        let _old = lock()
            .iter_mut()
            .find(|map| map.is_shared && map.range.start == self.0)
            .map(|map| std::mem::replace(&mut map.witness, witness));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.set(None);
    }
}

/// Runs a function if all of a range lies in one shared map, which stays mapped meanwhile.
pub(crate) fn in_shared_map(range: &Range<usize>, run: impl FnOnce()) {
    let maps = lock();
    if maps.iter().any(|map| map.is_shared && map.holds(range)) {
        run();
    }
}

type Maps = MutexGuard<'static, Vec<Map>>;

fn lock() -> Maps {
    hold_over_forks!(lock_plainly, Maps, |_| ());
    lock_plainly()
}

fn lock_plainly() -> Maps {
    // A list of numbers is right whatever panicked while it was held.
    MAPS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
fn file_id(file: &File) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

/// Windows refuses to cut a mapped file by itself.
#[cfg(not(unix))]
fn file_id(_file: &File) -> Option<FileId> {
    None
}

/// What an open file is called.
#[cfg(target_os = "linux")]
fn path_of(file: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

/// Nobody has asked for it on other systems.
#[cfg(not(target_os = "linux"))]
fn path_of(_file: &File) -> Option<PathBuf> {
    None
}

/// Opens a file for reading; a pipe that has taken its name must not make anybody wait for a writer.
fn open_without_waiting(path: &Path) -> Option<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.read(true).open(path).ok()
}
