//! A stretch of memory and the owner that keeps it alive: the unsafe half of [`Bytes`].

use std::any::Any;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::bytes::Bytes;

/// Pointer, length, owner. `Bytes` is this with manners.
///
/// Invariant: `ptr..ptr + len` is initialised memory that stays valid and unchanged while `owner` lives,
/// except through [`Window::try_mut`], which asks for the only handle to the owner.
#[derive(Clone)]
pub(crate) struct Window {
    ptr: NonNull<u8>,
    len: usize,
    owner: Arc<dyn Any + Send + Sync>,
    writable: bool,
}

// SAFETY: the pointer is only read through `&self`, and written through `&mut self` after `Arc::get_mut` has
// shown that no other window shares the owner; the owner itself is `Send + Sync`.
unsafe impl Send for Window {}
// SAFETY: as above: `&Window` gives nothing but shared reads.
unsafe impl Sync for Window {}

impl Window {
    /// A window of no bytes, aligned as any block.
    pub(crate) fn empty() -> Self {
        #[repr(align(64))]
        struct Line;
        Self { ptr: NonNull::<Line>::dangling().cast(), len: 0, owner: Arc::new(()), writable: true }
    }

    /// The window onto all that `owner` lends, read-only. The owner moves into the `Arc` first, so that
    /// bytes stored inside of it have their final address.
    pub(crate) fn from_owner<O: AsRef<[u8]> + Send + Sync + 'static>(owner: O) -> Self {
        let owner = Arc::new(owner);
        let bytes: &[u8] = (*owner).as_ref();
        Self { ptr: NonNull::from(bytes).cast(), len: bytes.len(), owner, writable: false }
    }

    /// The window onto all that `owner` lends, writable while it is the only one.
    pub(crate) fn from_owner_mut<O: AsMut<[u8]> + Send + Sync + 'static>(owner: O) -> Self {
        let mut owner = Arc::new(owner);
        let bytes = Arc::get_mut(&mut owner).expect("a new Arc has one handle").as_mut();
        let (len, ptr) = (bytes.len(), NonNull::from(bytes).cast());
        Self { ptr, len, owner, writable: true }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: the invariant: valid, initialised, and nobody writes while a handle other than an
        // exclusive one exists, which `&self` rules out.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }

    /// The bytes for writing, if they may be written and no other window shares the owner.
    pub(crate) fn try_mut(&mut self) -> Option<&mut [u8]> {
        if !self.writable || Arc::get_mut(&mut self.owner).is_none() {
            return None;
        }
        // SAFETY: `Arc::get_mut` shows (and synchronises on) there being no other window, `&mut self` that
        // this one has no readers; `writable` is the constructor's word that the memory can be written.
        Some(unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.len) })
    }

    /// A part of this window, with the same owner.
    pub(crate) fn slice(&self, range: Range<usize>) -> Option<Self> {
        let part = self.as_slice().get(range.clone())?;
        // SAFETY: `get` has checked that `range.start <= len`, so the pointer stays within the block. It is
        // made from `self.ptr`, not from `part`, to keep the right to write.
        let ptr = unsafe { self.ptr.add(range.start) };
        Some(Self { ptr, len: part.len(), owner: Arc::clone(&self.owner), writable: self.writable })
    }

    pub(crate) fn owner_count(&self) -> usize {
        Arc::strong_count(&self.owner)
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }
}

impl Bytes {
    /// Bytes at an address that `owner` keeps alive: memory of a map, an arena or another language.
    ///
    /// # Safety
    /// `ptr..ptr + len` must be initialised and stay valid for reads while `owner` lives, and nobody may
    /// change it, but for what [`Bytes::try_mut`] gives out. If `writable`, it must be valid for writes too
    /// when this is the only handle to `owner`, and lie outside of the owner's own value (as a vector's
    /// elements do). `ptr` may be null only if `len` is 0.
    pub unsafe fn from_raw_parts(
        ptr: *const u8,
        len: usize,
        owner: Arc<dyn Any + Send + Sync>,
        writable: bool,
    ) -> Self {
        match NonNull::new(ptr.cast_mut()) {
            Some(ptr) if len > 0 => Self::from_window(Window { ptr, len, owner, writable }),
            _ => Self::empty(),
        }
    }
}
