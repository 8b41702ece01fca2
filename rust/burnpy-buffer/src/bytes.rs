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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_owner_lives_as_long_as_the_last_slice() {
        struct Owner(Vec<u8>, Arc<AtomicBool>);
        impl AsRef<[u8]> for Owner {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }
        impl Drop for Owner {
            fn drop(&mut self) {
                self.1.store(true, Ordering::Relaxed);
            }
        }
        let dropped = Arc::new(AtomicBool::new(false));
        let bytes = Bytes::from_owner(Owner(vec![1, 2, 3], Arc::clone(&dropped)));
        let part = bytes.slice(1..2).unwrap();
        assert_eq!(bytes.owner_count(), 2);
        drop(bytes);
        assert_eq!((&part[..], part.owner_count()), (&[2][..], 1));
        assert!(!dropped.load(Ordering::Relaxed));
        drop(part);
        assert!(dropped.load(Ordering::Relaxed));
    }

    #[test]
    fn bytes_inside_of_the_owner_itself_stay_where_they_are() {
        let bytes = Bytes::from_owner([1, 2, 3]);
        let moved = Box::new(bytes.clone());
        drop(bytes);
        assert_eq!(moved[..], [1, 2, 3]);
    }

    #[test]
    fn only_the_sole_owner_of_writable_memory_may_change_it() {
        for mut bytes in [Bytes::from(vec![0; 4]), Bytes::from(AlignedBuf::zeroed(4))] {
            assert!(bytes.is_writable());
            let other = bytes.clone();
            assert!(bytes.try_mut().is_none());
            drop(other);
            bytes.try_mut().unwrap()[3] = 7;
            assert_eq!(bytes[..], [0, 0, 0, 7]);
            let mut tail = bytes.slice(2..4).unwrap();
            drop(bytes);
            tail.try_mut().unwrap()[0] = 5;
            assert_eq!(tail[..], [5, 7]);
        }
        let mut foreign = Bytes::from_owner(vec![0; 4]);
        assert!(!foreign.is_writable() && foreign.try_mut().is_none());
    }

    #[test]
    fn empty_bytes_are_aligned_and_cast_to_no_numbers() {
        for bytes in [Bytes::empty(), Bytes::default(), AlignedBuf::zeroed(0).into()] {
            assert!(bytes.is_empty() && bytes.is_aligned_to(64));
            assert_eq!(bytes.try_as_slice::<f64>(), Some(&[][..]));
        }
        let end = Bytes::from(vec![1, 2, 3]).slice(3..3).unwrap();
        assert_eq!(end.try_as_slice::<f64>(), Some(&[][..]));
    }

    #[test]
    fn a_copy_is_aligned_writable_and_apart() {
        let odd = Bytes::from(AlignedBuf::zeroed(100)).slice(1..100).unwrap();
        assert!(!odd.is_aligned_to(2));
        assert_eq!(odd.slice(0..4).unwrap().try_as_slice::<f32>(), None);
        let mut copy = odd.to_aligned();
        assert!(copy.is_aligned_to(64));
        copy.try_mut().unwrap()[0] = 1;
        assert_eq!((odd[0], copy.len()), (0, 99));
    }

    #[test]
    fn debug_shows_the_length_only() {
        assert_eq!(format!("{:?}", Bytes::from(vec![1; 1000])), "Bytes { len: 1000, .. }");
    }

    #[test]
    fn bytes_go_to_other_threads() {
        let bytes = Bytes::from((0..=255).collect::<Vec<u8>>());
        let sums: Vec<u32> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|i| bytes.slice(i * 64..(i + 1) * 64).unwrap())
                .map(|part| scope.spawn(move || part.iter().map(|&byte| u32::from(byte)).sum()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(sums.iter().sum::<u32>(), 255 * 128);
        assert_eq!(bytes.owner_count(), 1);
    }

    proptest! {
        #[test]
        fn slicing_bytes_is_slicing_a_slice(
            data in prop::collection::vec(any::<u8>(), 0..100),
            cuts in prop::collection::vec((0..110usize, 0..110usize), 1..4),
        ) {
            let (mut bytes, mut slice) = (Some(Bytes::from(data.clone())), data.get(..));
            for (start, end) in cuts {
                bytes = bytes.and_then(|bytes| bytes.slice(start..end));
                slice = slice.and_then(|slice| slice.get(start..end));
                prop_assert_eq!(bytes.as_deref(), slice);
            }
        }
    }
}
