//! Blocks of memory: aligned, huge-paged when large, reused.

use std::alloc::Layout;
use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::pool;

/// Every block starts at a multiple of this: a cache line, and the widest vector register.
pub const BLOCK_ALIGNMENT: usize = 64;

/// From this length on, a block starts at a multiple of it and asks for huge pages.
pub const HUGE_PAGE: usize = 2 << 20;

/// One owned block of bytes, aligned to 64 bytes, or to 2 MiB if it is that long.
///
/// Dropped, a larger block goes to a process-wide pool for the next one of about its size: first touch of
/// fresh memory costs more than all that is then done with it (1.4 GB/s in 4 KiB pages, 7 GB/s in 2 MiB
/// pages, against 9 GB/s of a copy).
///
/// ```
/// use burnpy_buffer::AlignedBuf;
/// let mut block = AlignedBuf::zeroed(100);
/// assert_eq!(block.as_ptr().addr() % 64, 0);
/// block[99] = 1;
/// assert_eq!(block.len(), 100);
/// ```
pub struct AlignedBuf {
    block: Option<Block>,
    len: usize,
}

impl AlignedBuf {
    /// A block of zeros.
    ///
    /// # Panics
    /// If there is no memory for it.
    pub fn zeroed(len: usize) -> Self {
        let mut block = Self::for_overwrite(len);
        block.fill(0);
        block
    }

    /// A block that the caller fills: initialised, but with whatever its last user left.
    ///
    /// # Panics
    /// If there is no memory for it.
    pub fn for_overwrite(len: usize) -> Self {
        Self::try_for_overwrite(len).unwrap_or_else(|error| panic!("{error}"))
    }

    /// [`AlignedBuf::for_overwrite`] for lengths that come from outside.
    ///
    /// # Errors
    /// `OutOfMemory`, with the length.
    pub fn try_for_overwrite(len: usize) -> io::Result<Self> {
        let block = if len == 0 { None } else { Some(pool::acquire(len)?) };
        Ok(Self { block, len })
    }
}

impl Drop for AlignedBuf {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            pool::release(block);
        }
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.block.as_ref().map_or(&[], |block| &block.as_slice()[..self.len])
    }
}

impl DerefMut for AlignedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.block.as_mut().map_or(&mut [], |block| &mut block.as_mut_slice()[..self.len])
    }
}

impl AsRef<[u8]> for AlignedBuf {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl AsMut<[u8]> for AlignedBuf {
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}

impl std::fmt::Debug for AlignedBuf {
    /// The length only: contents can be gigabytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AlignedBuf").field("len", &self.len).finish_non_exhaustive()
    }
}

/// Memory from the system, given back on drop. All of it is initialised.
pub(crate) struct Block {
    ptr: NonNull<u8>,
    capacity: usize,
}

// SAFETY: a block owns its memory alone, and no thread matters to the functions that free it.
unsafe impl Send for Block {}
// SAFETY: `&Block` gives shared reads only.
unsafe impl Sync for Block {}

impl Block {
    /// New zeroed memory of at least `len` bytes, which is not 0.
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        let layout = heap_layout(len).ok_or_else(|| out_of_memory(len))?;
        // SAFETY: `len`, and so the layout's size, is not 0.
        let ptr = unsafe { std::alloc::alloc_zeroed(layout) };
        let ptr = NonNull::new(ptr).ok_or_else(|| out_of_memory(len))?;
        Ok(Self { ptr, capacity: layout.size() })
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    fn as_slice(&self) -> &[u8] {
        // SAFETY: the block is `capacity` bytes long and zeroed at birth.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.capacity) }
    }

    fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` is the only way to it.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.capacity) }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let layout = heap_layout(self.capacity).expect("a block's capacity has a layout");
        // SAFETY: allocated in `new` with this very layout: capacities are fixed points of `heap_layout`.
        unsafe { std::alloc::dealloc(self.ptr.as_ptr(), layout) }
    }
}

fn heap_layout(len: usize) -> Option<Layout> {
    let align = if len >= HUGE_PAGE { HUGE_PAGE } else { BLOCK_ALIGNMENT };
    Layout::from_size_align(len.checked_next_multiple_of(BLOCK_ALIGNMENT)?, align).ok()
}

fn out_of_memory(len: usize) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, format!("cannot allocate {len} bytes"))
}
