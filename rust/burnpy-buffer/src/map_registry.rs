//! Which memory is mapped from which file, so that nobody overwrites a file in place while its bytes are
//! the source.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::fork::hold_over_forks;

/// Device and inode.
type FileId = (u64, u64);

static MAPS: Mutex<Vec<Map>> = Mutex::new(Vec::new());

/// Where a map is, of which file, and whether its pages are the file's own.
#[derive(Clone)]
struct Map {
    range: Range<usize>,
    file: FileId,
    is_shared: bool,
}

/// An entry of the registry; gone when the map is.
pub(crate) struct Registered(Range<usize>);

impl Registered {
    /// Notes that `len` bytes from `address` on are a map of `file`; one that `is_shared` cannot be written to.
    pub(crate) fn new(address: usize, len: usize, file: &File, is_shared: bool) -> Self {
        let range = address..address + len;
        if let Some(file) = file_id(file) {
            lock().push(Map { range: range.clone(), file, is_shared });
        }
        Self(range)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        lock().retain(|map| map.range != self.0);
    }
}

/// Whether bytes lie in a map of the file that a path leads to, whoever handed them out.
pub fn is_mapped_from(bytes: &[u8], path: &Path) -> bool {
    let address = bytes.as_ptr() as usize;
    let mapped = lock().iter().find(|map| map.range.contains(&address)).map(|map| map.file);
    mapped.is_some() && File::open(path).ok().as_ref().and_then(file_id) == mapped
}

/// Whether bytes lie in a map that [`map_file`](crate::map_file) made and that shares its pages with the file.
pub fn is_in_shared_map(bytes: &[u8]) -> bool {
    let mut is_in = false;
    let start = bytes.as_ptr() as usize;
    in_shared_map(&(start..start + bytes.len()), || is_in = true);
    is_in
}

/// Runs a function if all of a range lies in one shared map, which stays mapped meanwhile.
pub(crate) fn in_shared_map(range: &Range<usize>, run: impl FnOnce()) {
    let maps = lock();
    let holds = |map: &&Map| map.range.start <= range.start && range.end <= map.range.end;
    if maps.iter().any(|map| map.is_shared && holds(&map)) {
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
