//! Bytes as numbers and back, checked and without a copy.

#[cfg(target_endian = "big")]
compile_error!("payloads are little-endian and are read in place: big-endian targets need a swap first");

/// Numbers for which every bit pattern is a value and that have no padding. Sealed.
pub trait Pod: Copy + Send + Sync + 'static + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! pod {
    ($($number:ty)*) => {$(
        impl sealed::Sealed for $number {}
        impl Pod for $number {}
    )*};
}
pod!(u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 half::f16 half::bf16);

/// The bytes as a slice of `T`; `None` if they are misaligned or no whole number of elements.
///
/// ```
/// use burnpy_buffer::{as_bytes, try_cast_slice};
/// let bytes = as_bytes(&[1u32, 2]);
/// assert_eq!(try_cast_slice::<u32>(bytes), Some(&[1, 2][..]));
/// assert_eq!(try_cast_slice::<u32>(&bytes[..7]), None);
/// assert_eq!(try_cast_slice::<u32>(&bytes[1..5]), None);
/// assert_eq!(try_cast_slice::<u32>(&bytes[1..1]), Some(&[][..])); // nothing is aligned to anything
/// ```
pub fn try_cast_slice<T: Pod>(bytes: &[u8]) -> Option<&[T]> {
    if bytes.is_empty() {
        return Some(&[]);
    }
    // SAFETY: `T` is one of the numbers above: any initialised bytes are values of it.
    let (head, numbers, tail) = unsafe { bytes.align_to::<T>() };
    (head.is_empty() && tail.is_empty()).then_some(numbers)
}

/// [`try_cast_slice`] for writing.
pub fn try_cast_slice_mut<T: Pod>(bytes: &mut [u8]) -> Option<&mut [T]> {
    if bytes.is_empty() {
        return Some(&mut []);
    }
    // SAFETY: as above, and any value of `T` leaves initialised bytes behind.
    let (head, numbers, tail) = unsafe { bytes.align_to_mut::<T>() };
    (head.is_empty() && tail.is_empty()).then_some(numbers)
}

/// The bytes of a slice of numbers.
pub fn as_bytes<T: Pod>(numbers: &[T]) -> &[u8] {
    // SAFETY: the numbers above have no padding, and `u8` needs no alignment.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_are_views_of_each_other() {
        let mut numbers = [1.0f32, -2.0, f32::MAX];
        assert_eq!(as_bytes(&numbers)[..4], 1.0f32.to_le_bytes());
        assert_eq!(try_cast_slice::<f32>(as_bytes(&numbers)), Some(&numbers[..]));
        assert_eq!(try_cast_slice::<f64>(as_bytes(&numbers[..1])), None);
        assert_eq!(as_bytes::<u64>(&[]), []);

        let mut bytes = crate::AlignedBuf::zeroed(12);
        try_cast_slice_mut(&mut bytes).unwrap().swap_with_slice(&mut numbers);
        assert_eq!(try_cast_slice::<f32>(&bytes), Some(&[1.0, -2.0, f32::MAX][..]));
        assert!(try_cast_slice_mut::<u16>(&mut bytes[1..3]).is_none());
        assert!(try_cast_slice_mut::<u16>(&mut bytes[..3]).is_none());
        assert_eq!(try_cast_slice_mut::<u16>(&mut bytes[1..1]), Some(&mut [][..]));
    }
}
