//! Files as memory.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use memmap2::{MmapOptions, MmapRaw};

use crate::bytes::Bytes;
use crate::map_registry::{Registered, in_shared_map};

/// What may happen to mapped memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MapMode {
    /// Read-only; pages are shared with everybody who maps the file.
    #[default]
    Shared,
    /// Writable, copy on write: a write gives this process a page of its own and never reaches the file.
    Private,
}

/// Maps the whole file. An empty file gives empty bytes, which no system can map.
///
/// The file may be closed, renamed or unlinked while the map lives. It must not be truncated or written in
/// place: pages past the new end kill the process when touched (SIGBUS), and a change shows through. No
/// system can prevent that; whoever cannot rule it out reads the file instead.
///
/// # Errors
/// Whatever the system says; a file longer than the address space is `OutOfMemory` or `InvalidInput`.
pub fn map_file(file: &File, mode: MapMode) -> io::Result<Bytes> {
    if file.metadata()?.len() == 0 {
        return Ok(Bytes::empty());
    }
    let map = match mode {
        MapMode::Shared => map_shared(file)?,
        MapMode::Private => map_private(file)?,
    };
    let (ptr, len) = (map.as_ptr(), map.len());
    let registered = Registered::new(ptr as usize, len, file, mode == MapMode::Shared);
    // SAFETY: the map is unmapped when its `Arc` goes. Only this handle's `try_mut` writes, and only to a
    // private map. That no other process changes the file is the caller's part, as the docs above say.
    Ok(unsafe { Bytes::from_raw_parts(ptr, len, Arc::new((registered, map)), mode == MapMode::Private) })
}

fn map_shared(file: &File) -> io::Result<MmapRaw> {
    // SAFETY: the map is only handed out as `Bytes`, see `map_file`.
    unsafe { MmapOptions::new().map(file) }.map(MmapRaw::from)
}

/// Without a reservation of swap: else Linux refuses a private map larger than its memory, although hardly
/// a page of it will be written.
fn map_private(file: &File) -> io::Result<MmapRaw> {
    // SAFETY: as above.
    unsafe { MmapOptions::new().no_reserve_swap().map_copy(file) }.map(MmapRaw::from)
}

/// Gives the pages of bytes in a shared map back to the system; who touches them again finds what is in the file.
///
/// Whoever goes once through a file that is larger than memory holds no more of it than the part in hand. Bytes
/// that lie anywhere else are left alone.
pub fn forget_pages(bytes: Range<usize>) {
    #[cfg(target_os = "linux")]
    in_shared_map(&bytes, || {
        // SAFETY: takes no memory and has no precondition.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).unwrap_or(4096);
        // Whole pages alone: the rest of the first and the last may be in a neighbour's use.
        let (start, end) = (bytes.start.next_multiple_of(page), bytes.end / page * page);
        if start < end {
            // SAFETY: the pages lie in a map that stays while this runs and that nobody can write to, so they hold
            // what the file holds; readers of them wait for the system to bring them back. It is advice: an error
            // changes nothing.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
        }
    });
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Write;

    fn resident_kb() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("RssFile")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    #[test]
    fn forgotten_pages_are_no_longer_resident_and_come_back_as_they_were() {
        let mut file = tempfile();
        file.write_all(&vec![7; 64 << 20]).unwrap();
        let map = map_file(&file, MapMode::Shared).unwrap();
        assert!(map.iter().all(|&byte| byte == 7));
        let before = resident_kb();

        let start = map.as_ptr() as usize;
        forget_pages(start..start + map.len());

        assert!(resident_kb() + (60 << 10) < before);
        assert!(map.iter().all(|&byte| byte == 7));
    }

    #[test]
    fn pages_that_were_written_to_are_never_forgotten() {
        let mut file = tempfile();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        let mut map = map_file(&file, MapMode::Private).unwrap();
        map.try_mut().unwrap().fill(9);

        let start = map.as_ptr() as usize;
        forget_pages(start..start + map.len());

        assert!(map.iter().all(|&byte| byte == 9));
    }

    fn tempfile() -> File {
        let name = format!("burnpy-forget-{}-{:?}", std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(name);
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }
}
