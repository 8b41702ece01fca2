//! Stores past the cache.

/// Outputs from this size on are stored past the cache. They would push everything else out of it, and each line
/// would be read before it is overwritten.
pub const STREAM_BYTES: usize = 16 << 20;

/// Values without padding, so that their bytes can be copied as such.
///
/// # Safety
/// All bytes of a value are initialised.
pub unsafe trait Plain: Copy + Default + Send + Sync + 'static {
    /// Whether loops over them are compiled for wide instructions. Integers are not worth it: their loops wait for
    /// memory, and one copy of each is enough.
    const WIDE: bool;
}

macro_rules! plain {
    ($wide:literal: $($t:ty)*) => {$(
        // SAFETY: a primitive number, or a wrapper of one.
        unsafe impl Plain for $t {
            const WIDE: bool = $wide;
        }
    )*};
}
plain!(true: f32 f64);
plain!(false: u8 u16 u32 u64 i8 i16 i32 i64 half::f16 half::bf16);

/// Elements that are computed into the first cache before they are stored past it.
const TILE: usize = 1024;

/// Has `fill(from, part)` compute the elements of `out` from index `from` on, part by part, and stores each part
/// without reading what was there before nor pushing other data out of the cache.
///
/// ```
/// use burnpy_tensor::kernels::simd::stream_tiles;
/// let mut out = vec![0; 3000];
/// stream_tiles(&mut out, |from, part| {
///     part.iter_mut().zip(from..).for_each(|(y, i)| *y = i as i32);
/// });
/// assert!(out.iter().zip(0..).all(|(&y, i)| y == i));
/// ```
#[inline(always)]
pub fn stream_tiles<T: Plain>(out: &mut [T], mut fill: impl FnMut(usize, &mut [T])) {
    let mut tile = [T::default(); TILE];
    // The first part ends where a line of the cache does, so that all others begin at one.
    let head = out.as_ptr().align_offset(64).min(out.len()).min(TILE);
    let (first, rest) = out.split_at_mut(head);
    fill(0, &mut tile[..head]);
    first.copy_from_slice(&tile[..head]);
    for (i, part) in rest.chunks_mut(TILE).enumerate() {
        let tile = &mut tile[..part.len()];
        fill(head + i * TILE, tile);
        copy_unordered(part, tile);
    }
    order();
}

/// Has `fill(i, row)` compute the rows of `out`, of `columns` each; with `streams`, past the cache as
/// [`stream_tiles`], by way of a row that stays in it.
#[inline(always)]
pub(in crate::kernels) fn fill_rows<T: Plain>(
    out: &mut [T],
    columns: usize,
    streams: bool,
    mut fill: impl FnMut(usize, &mut [T]),
) {
    // A longer row would not stay in the cache itself.
    if streams && size_of::<T>() * columns <= 128 << 10 {
        let mut scratch = vec![T::default(); columns];
        for (i, row) in out.chunks_exact_mut(columns).enumerate() {
            fill(i, &mut scratch);
            copy_unordered(row, &scratch);
        }
        order();
    } else {
        out.chunks_exact_mut(columns).enumerate().for_each(|(i, row)| fill(i, row));
    }
}

/// A copy whose stores are seen by other threads only after [`order`].
#[inline(always)]
fn copy_unordered<T: Plain>(dst: &mut [T], src: &[T]) {
    #[cfg(target_arch = "x86_64")]
    x86_64::copy(dst, src);
    #[cfg(not(target_arch = "x86_64"))]
    dst.copy_from_slice(src);
}

#[inline(always)]
fn order() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE, which every x86-64 has.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};

    use super::Plain;

    const VECTOR: usize = size_of::<__m128i>();

    #[inline(always)]
    pub(super) fn copy<T: Plain>(dst: &mut [T], src: &[T]) {
        let head = dst.as_ptr().align_offset(64).min(dst.len());
        let (dst_head, dst) = dst.split_at_mut(head);
        let (src_head, src) = src.split_at(head);
        dst_head.copy_from_slice(src_head);

        let step = VECTOR / size_of::<T>();
        let (mut to, mut from) = (dst.chunks_exact_mut(step), src.chunks_exact(step));
        for (to, from) in to.by_ref().zip(from.by_ref()) {
            // SAFETY: both chunks are one vector long, and hold initialised bytes; the head is cut off, so that `to`
            // is aligned to a vector; SSE2 is part of x86-64.
            unsafe {
                let vector = _mm_loadu_si128(from.as_ptr().cast());
                _mm_stream_si128(to.as_mut_ptr().cast(), vector);
            }
        }
        to.into_remainder().copy_from_slice(from.remainder());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_stored_once_at_any_alignment_and_length() {
        let number = |i: usize| i as u8;
        for (from, len) in (0..70).flat_map(|from| [0, 1, 15, 64, 230, 1024, 2500].map(|len| (from, len))) {
            let mut out = vec![0; 2600];
            stream_tiles(&mut out[from..from + len], |at, part| {
                part.iter_mut().enumerate().for_each(|(i, y)| *y = number(at + i));
            });
            assert!(out[from..from + len].iter().enumerate().all(|(i, &y)| y == number(i)), "{from} {len}");
            assert!(out[..from].iter().chain(&out[from + len..]).all(|&byte| byte == 0));
        }
    }
}
