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
    /// `None` only while it is dropped.
    block: Option<Block>,
    len: usize,
}

impl AlignedBuf {
    /// A block of zeros.
    ///
    /// # Panics
    /// If there is no memory for it.
    pub fn zeroed(len: usize) -> Self {
        let mut zeros = Self::for_overwrite(len);
        // New memory is zero already, and large blocks of it cost nothing until they are touched.
        if zeros.block.as_ref().is_some_and(|block| block.used) {
            zeros.fill(0);
        }
        zeros
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
        // A block of no bytes has an aligned address too.
        let block = Block::capacity_for(len.max(1)).and_then(pool::acquire).ok_or_else(|| {
            io::Error::new(io::ErrorKind::OutOfMemory, format!("cannot allocate {len} bytes: out of memory"))
        })?;
        Ok(Self { block: Some(block), len })
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

/// What pages are in size, huge ones apart: 4 KiB on x86-64, up to 64 KiB on some ARM systems.
const SMALLEST_PAGE: usize = 4 << 10;
const LARGEST_PAGE: usize = 64 << 10;

/// From this length on, a cached block is offered to the kernel. Offer and withdrawal add 3 % to the
/// overwriting of 512 MiB, but 40 % to that of 2.4 MiB.
const OFFERED_FROM: usize = 32 << 20;

/// Memory from the system, given back on drop. All of it is initialised.
pub(crate) struct Block {
    ptr: NonNull<u8>,
    capacity: usize,
    /// Whether it was in use before, and so may hold anything. If not, it is zeros.
    used: bool,
}

// SAFETY: a block owns its memory alone, and no thread matters to the functions that free it.
unsafe impl Send for Block {}
// SAFETY: `&Block` gives shared reads only.
unsafe impl Sync for Block {}

impl Block {
    /// The capacity of a block for `len` bytes: whole lines, or whole pages where the pool keeps blocks, so
    /// that more of them fit the next request, or what are pages everywhere where the kernel gives them. A
    /// capacity is its own capacity.
    pub(crate) fn capacity_for(len: usize) -> Option<usize> {
        len.checked_next_multiple_of(match len {
            HUGE_PAGE.. => LARGEST_PAGE,
            pool::CACHED_FROM.. => SMALLEST_PAGE,
            _ => BLOCK_ALIGNMENT,
        })
    }

    /// New zeroed memory; `capacity` is one of [`Block::capacity_for`], and not 0.
    pub(crate) fn new(capacity: usize) -> Option<Self> {
        match capacity {
            HUGE_PAGE.. => system::map(capacity),
            _ => heap_allocate(capacity),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// To be called when the block goes to the pool. The kernel may have the pages of a large one if it runs
    /// short. [`Block::wake`] must come before the next read: a page that is taken turns to zeros at any
    /// moment.
    pub(crate) fn rest(&mut self) {
        self.used = true;
        if self.capacity >= OFFERED_FROM {
            system::offer(self);
        }
    }

    /// To be called when the block leaves the pool.
    pub(crate) fn wake(&mut self) {
        if self.capacity >= OFFERED_FROM {
            system::withdraw(self);
        }
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
        match self.capacity {
            HUGE_PAGE.. => system::unmap(self),
            _ => heap_free(self),
        }
    }
}

/// Memory of the global allocator.
fn heap_allocate(capacity: usize) -> Option<Block> {
    let layout = heap_layout(capacity)?;
    // SAFETY: a block is not empty, so the layout has a size.
    let ptr = unsafe { std::alloc::alloc_zeroed(layout) };
    Some(Block { ptr: NonNull::new(ptr)?, capacity, used: false })
}

fn heap_free(block: &mut Block) {
    let layout = heap_layout(block.capacity).expect("a block's capacity has a layout");
    // SAFETY: called once, by `drop`; the layout is a function of the capacity, so it is that of `new`.
    unsafe { std::alloc::dealloc(block.ptr.as_ptr(), layout) }
}

fn heap_layout(capacity: usize) -> Option<Layout> {
    let align = if capacity >= HUGE_PAGE { HUGE_PAGE } else { BLOCK_ALIGNMENT };
    Layout::from_size_align(capacity, align).ok()
}

/// Blocks of 2 MiB and more, from the kernel.
#[cfg(target_os = "linux")]
mod system {
    use std::ffi::c_void;
    use std::ptr::{NonNull, null_mut};

    use super::{Block, HUGE_PAGE, SMALLEST_PAGE};

    /// Maps zeroed memory that starts at a huge page.
    pub(super) fn map(capacity: usize) -> Option<Block> {
        let slack = map_anywhere(capacity.checked_add(HUGE_PAGE)?)?;
        let lead = slack.as_ptr().align_offset(HUGE_PAGE);
        // SAFETY: `lead` is less than HUGE_PAGE, which the mapping has beyond `capacity`.
        let ptr = unsafe { slack.add(lead) };
        // SAFETY: `ptr + capacity` is inside of the mapping or at its end, as above.
        let tail = unsafe { ptr.add(capacity) };
        unmap_range(slack, lead);
        unmap_range(tail, HUGE_PAGE - lead);
        let huge = capacity - capacity % HUGE_PAGE;
        // SAFETY: advice on our own mapping. It may be refused, where huge pages are switched off.
        unsafe { libc::madvise(ptr.as_ptr().cast(), huge, libc::MADV_HUGEPAGE) };
        Some(Block { ptr, capacity, used: false })
    }

    pub(super) fn unmap(block: &mut Block) {
        unmap_range(block.ptr, block.capacity);
    }

    /// Costs 0.15 ms for 512 MiB. Kernels before 4.5 do not know it; the block then simply stays.
    pub(super) fn offer(block: &mut Block) {
        // SAFETY: the block is ours, and nobody reads it before `wake`.
        unsafe { libc::madvise(block.ptr.as_ptr().cast(), block.capacity, libc::MADV_FREE) };
    }

    /// Takes the offer back, by a write to each page. Adds 1 to 2 ms to the 43 ms of overwriting 512 MiB.
    /// Volatile, as the content may have changed behind the compiler's back, and a write of what is already
    /// there would be left out.
    pub(super) fn withdraw(block: &mut Block) {
        for start in (0..block.capacity).step_by(SMALLEST_PAGE) {
            // SAFETY: `start` is inside of the block, which `&mut` makes ours alone.
            unsafe {
                let byte = block.ptr.add(start);
                byte.write_volatile(byte.read_volatile());
            }
        }
    }

    fn map_anywhere(len: usize) -> Option<NonNull<u8>> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: without MAP_FIXED the kernel chooses an address that nobody uses.
        let ptr: *mut c_void = unsafe { libc::mmap(null_mut(), len, access, kind, -1, 0) };
        if ptr == libc::MAP_FAILED { None } else { NonNull::new(ptr.cast()) }
    }

    fn unmap_range(start: NonNull<u8>, len: usize) {
        if len > 0 {
            // SAFETY: the callers pass parts of their own mapping that nothing points to any more.
            let code = unsafe { libc::munmap(start.as_ptr().cast(), len) };
            debug_assert_eq!(code, 0, "munmap of {len} bytes failed");
        }
    }
}

/// Without Linux's advice, large blocks are aligned memory of the global allocator.
#[cfg(not(target_os = "linux"))]
mod system {
    use super::Block;
    pub(super) use super::{heap_allocate as map, heap_free as unmap};

    pub(super) fn offer(_block: &mut Block) {}

    pub(super) fn withdraw(_block: &mut Block) {}
}

/// Bytes of memory in this machine; 4 GiB where nobody says.
pub(crate) fn physical_memory() -> usize {
    #[cfg(unix)]
    {
        // SAFETY: `sysconf` only reads.
        let (pages, page) =
            unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        if let (Ok(pages @ 1..), Ok(page @ 1..)) = (usize::try_from(pages), usize::try_from(page)) {
            return pages.saturating_mul(page);
        }
    }
    4 << 30
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_every_size_are_aligned_initialised_and_writable_to_the_end() {
        let around = |size: usize| size.saturating_sub(65)..=size + 65;
        let sizes = around(64).chain(around(4096)).chain(around(HUGE_PAGE)).chain(around(2 * HUGE_PAGE));
        for len in sizes {
            let mut block = AlignedBuf::for_overwrite(len);
            let align = if len >= HUGE_PAGE { HUGE_PAGE } else { BLOCK_ALIGNMENT };
            assert_eq!((block.len(), block.as_ptr().addr() % align), (len, 0), "{len}");
            if let [first, .., last] = &mut block[..] {
                (*first, *last) = (1, 1);
            }
        }
    }

    #[test]
    fn zeroed_blocks_are_zero_even_if_the_last_user_left_something() {
        for len in [1, 63, 5000, HUGE_PAGE - 1, HUGE_PAGE + 12_345, OFFERED_FROM] {
            AlignedBuf::for_overwrite(len).fill(0xFF);
            assert!(AlignedBuf::zeroed(len).iter().all(|&byte| byte == 0), "{len}");
        }
    }

    #[test]
    fn impossible_lengths_are_an_error_with_the_length() {
        for len in [usize::MAX, usize::MAX - HUGE_PAGE, isize::MAX as usize, 1 << 60] {
            let error = AlignedBuf::try_for_overwrite(len).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::OutOfMemory);
            assert!(error.to_string().contains(&len.to_string()), "{error}");
        }
    }
}
