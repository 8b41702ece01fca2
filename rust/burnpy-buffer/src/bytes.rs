//! Shared, sliceable bytes.

use std::ops::{Deref, Range};

use crate::aligned::AlignedBuf;
use crate::cast::{Pod, try_cast_slice};
use crate::copy::copy_bytes;
use crate::window::Window;

/// Bytes with a shared owner: a heap block, a file map, a Python object.
///
/// Cloning and slicing copy no bytes; the memory is freed when the last handle to it goes. Owners are counted
/// per block, so that [`Bytes::try_mut`] can tell when a change in place is seen by nobody else.
///
/// ```
/// use burnpy_buffer::Bytes;
/// let mut bytes = Bytes::from(vec![1, 2, 3]);
/// let part = bytes.slice(1..3).unwrap();
/// assert_eq!(&part[..], [2, 3]);
/// assert!(bytes.slice(1..4).is_none()); // out of range is not a panic
/// assert!(bytes.try_mut().is_none()); // `part` would see the change
/// drop(part);
/// assert!(bytes.try_mut().is_some());
/// ```
#[derive(Clone)]
pub struct Bytes(Window);

impl Bytes {
    /// No bytes.
    pub fn empty() -> Self {
        Self(Window::empty())
    }

    /// The bytes that `owner` lends, read-only. They are asked for once.
    pub fn from_owner<O: AsRef<[u8]> + Send + Sync + 'static>(owner: O) -> Self {
        Self(Window::from_owner(owner))
    }

    pub(crate) fn from_window(window: Window) -> Self {
        Self(window)
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Address of the first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.0.as_slice().as_ptr()
    }

    /// A part of these bytes, sharing the owner; `None` if the range does not lie within them.
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        self.0.slice(range).map(Self)
    }

    /// How many handles the block has, this one included.
    pub fn owner_count(&self) -> usize {
        self.0.owner_count()
    }

    /// Whether the memory may be written at all; for the right to write now, see [`Bytes::try_mut`].
    pub fn is_writable(&self) -> bool {
        self.0.is_writable()
    }

    /// The bytes for a change in place; `None` if the memory is read-only or the block has another handle.
    pub fn try_mut(&mut self) -> Option<&mut [u8]> {
        self.0.try_mut()
    }

    /// Whether the first byte's address is a multiple of `align`, which is a power of two.
    pub fn is_aligned_to(&self, align: usize) -> bool {
        debug_assert!(align.is_power_of_two(), "alignment {align} is not a power of two");
        self.as_ptr().addr() & (align - 1) == 0
    }

    /// A copy in memory of its own, aligned as [`AlignedBuf`].
    pub fn to_aligned(&self) -> Self {
        let mut block = AlignedBuf::for_overwrite(self.len());
        copy_bytes(&mut block, self);
        block.into()
    }

    /// The bytes as numbers; `None` if they are misaligned for `T` or no whole number of elements.
    pub fn try_as_slice<T: Pod>(&self) -> Option<&[T]> {
        try_cast_slice(self)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Self::empty()
    }
}

impl std::fmt::Debug for Bytes {
    /// The length only: contents can be gigabytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bytes").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl From<Vec<u8>> for Bytes {
    /// Takes the vector as it is; it may be aligned to 16 bytes only.
    fn from(bytes: Vec<u8>) -> Self {
        Self(Window::from_owner_mut(bytes))
    }
}

impl From<AlignedBuf> for Bytes {
    fn from(block: AlignedBuf) -> Self {
        Self(Window::from_owner_mut(block))
    }
}
