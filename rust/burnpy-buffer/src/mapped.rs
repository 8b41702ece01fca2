//! Files as memory.

use std::fs::File;
use std::io;
use std::sync::Arc;

use memmap2::{MmapOptions, MmapRaw};

use crate::bytes::Bytes;
use crate::map_registry::Registered;

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
    let registered = Registered::new(ptr as usize, len, file);
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
