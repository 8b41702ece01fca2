//! Stores past the cache.

use crate::simd::Copies;

/// Outputs from this size on are stored past the cache. They would push everything else out of it, and each line
/// would be read before it is overwritten.
pub const STREAM_BYTES: usize = 16 << 20;

/// Values without padding, so that their bytes can be copied as such.
///
/// # Safety
/// All bytes of a value are initialised.
pub unsafe trait Plain: Copy + Default + Send + Sync + 'static {
    /// Which instructions loops over them are compiled for.
    const COPIES: Copies;
}

macro_rules! plain {
    ($copies:ident: $($t:ty)*) => {$(
        // SAFETY: a primitive number, or a wrapper of one.
        unsafe impl Plain for $t {
            const COPIES: Copies = Copies::$copies;
        }
    )*};
}
plain!(All: f32);
plain!(One: f64 u8 u16 u32 u64 i8 i16 i32 i64 half::f16 half::bf16);

/// Elements that are computed into the first cache before they are stored past it.
const TILE: usize = 1024;

/// Walks an output tile by tile; where it is large, tiles are computed in the first cache and stored past it.
///
/// A loop of the caller's, and no closure that is handed in: a closure need not be inlined, and would then be compiled
/// without the instructions of its level.
///
/// ```
/// use burnpy_tensor::kernels::simd::Tiles;
/// let mut out = vec![0; 3000];
/// let mut tiles = Tiles::new(&mut out, true);
/// while let Some((from, tile)) = tiles.next_tile() {
///     tile.iter_mut().zip(from..).for_each(|(y, i)| *y = i as i32);
/// }
/// drop(tiles);
/// assert!(out.iter().zip(0..).all(|(&y, i)| y == i));
/// ```
#[derive(Debug)]
pub struct Tiles<'a, T: Plain> {
    /// What is not stored yet.
    rest: &'a mut [T],
    /// Empty: tiles are parts of the output itself.
    scratch: Vec<T>,
    from: usize,
    /// The lengths of the next tile and of those after it.
    next: usize,
    later: usize,
    /// How much of `scratch` is to be stored.
    pending: usize,
}

impl<'a, T: Plain> Tiles<'a, T> {
    /// Tiles of any length: with `streams` past the cache, else one tile.
    #[inline(always)]
    pub fn new(out: &'a mut [T], streams: bool) -> Self {
        if !streams {
            let len = out.len();
            return Self { rest: out, scratch: Vec::new(), from: 0, next: len, later: len, pending: 0 };
        }
        // The first tile ends where a line of the cache does, so that all others begin at one.
        let head = out.as_ptr().align_offset(64).min(TILE);
        let next = if head == 0 { TILE } else { head };
        Self { rest: out, scratch: vec![T::default(); TILE], from: 0, next, later: TILE, pending: 0 }
    }

    /// Tiles that are rows of `columns` elements each, of which there is at least one.
    #[inline(always)]
    pub fn rows(out: &'a mut [T], columns: usize, streams: bool) -> Self {
        // A longer row would not stay in the cache itself.
        let streams = streams && size_of::<T>() * columns <= 128 << 10;
        let scratch = vec![T::default(); if streams { columns } else { 0 }];
        Self { rest: out, scratch, from: 0, next: columns, later: columns, pending: 0 }
    }

    /// Stores the last tile; the next one and the index of its first element, until none is left. A tile that is not
    /// the last is stored by asking for the next one only.
    #[inline(always)]
    pub fn next_tile(&mut self) -> Option<(usize, &mut [T])> {
        self.store();
        let len = self.next.min(self.rest.len());
        if len == 0 {
            return None;
        }
        let from = self.from;
        (self.from, self.next) = (from + len, self.later);
        if self.scratch.is_empty() {
            let (tile, rest) = std::mem::take(&mut self.rest).split_at_mut(len);
            self.rest = rest;
            return Some((from, tile));
        }
        self.pending = len;
        Some((from, &mut self.scratch[..len]))
    }

    #[inline(always)]
    fn store(&mut self) {
        if self.pending > 0 {
            let (tile, rest) = std::mem::take(&mut self.rest).split_at_mut(self.pending);
            copy_unordered(tile, &self.scratch[..self.pending]);
            (self.rest, self.pending) = (rest, 0);
        }
    }
}

impl<T: Plain> Drop for Tiles<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.scratch.is_empty() {
            order();
        }
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
            let mut tiles = Tiles::new(&mut out[from..from + len], true);
            while let Some((at, tile)) = tiles.next_tile() {
                tile.iter_mut().enumerate().for_each(|(i, y)| *y = number(at + i));
            }
            drop(tiles);
            assert!(out[from..from + len].iter().enumerate().all(|(i, &y)| y == number(i)), "{from} {len}");
            assert!(out[..from].iter().chain(&out[from + len..]).all(|&byte| byte == 0));
        }
    }
}
