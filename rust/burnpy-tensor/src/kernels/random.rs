//! Random numbers for whole slices: number `i` is a function of the draw and `i` alone.
//!
//! Blocks of 128 bits are made in groups of 16, word by word, so that the compiler makes vector code of them: word `w`
//! of block `16 g + j` is word `64 g + 16 w + j` of the stretch, at every level of instructions.

use std::f32::consts::TAU;

use super::math::{log::log32, trig};
use super::simd::Plain;
use crate::parallel;
use crate::random::Draw;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Blocks of a group.
const BLOCKS: usize = 16;
/// Words of a group.
pub const WORDS: usize = 4 * BLOCKS;
/// Elements of a task, a multiple of what any sampler makes of a group.
const CHUNK: usize = 16 << 10;

/// The words of a group.
pub type Words = [u32; WORDS];

/// How many blocks a draw of `count` numbers takes, with `words` words for each.
pub fn blocks(count: usize, words: usize) -> u64 {
    (count as u64).div_ceil((WORDS / words) as u64) * BLOCKS as u64
}

/// What makes numbers of words.
pub trait Sampler<T: Plain>: Copy + Send + Sync {
    /// Words for each number: 1, 2 or 4.
    const WORDS_EACH: usize;

    /// The numbers of a group: the first `WORDS / WORDS_EACH` of `out`.
    fn sample<A: Arch>(self, words: &Words, out: &mut [T; WORDS]);
}

/// `out[i]` = number `first + i` of the draw.
pub fn fill<T: Plain, S: Sampler<T>>(draw: Draw, first: u64, out: &mut [T], sampler: S) {
    parallel::chunks_mut(out, CHUNK, |i, out| {
        dispatch(Fill { draw, first: first.wrapping_add((i * CHUNK) as u64), out, sampler });
    });
}

/// `out[i] = x[i] · scale`, or 0 where word `first + i` of the draw is below `threshold`.
///
/// # Panics
/// If the lengths differ.
pub fn drop_below<T: Scaled>(draw: Draw, first: u64, threshold: u64, scale: T, x: &[T], out: &mut [T]) {
    assert_eq!(x.len(), out.len());
    parallel::chunks_mut(out, CHUNK, |i, out| {
        let (first, x) = (first.wrapping_add((i * CHUNK) as u64), &x[i * CHUNK..][..out.len()]);
        dispatch(DropBelow { draw, first, threshold, scale, x, out });
    });
}

/// [`drop_below`] in place.
pub fn drop_below_assign<T: Scaled>(draw: Draw, first: u64, threshold: u64, scale: T, x: &mut [T]) {
    parallel::chunks_mut(x, CHUNK, |i, x| {
        let first = first.wrapping_add((i * CHUNK) as u64);
        dispatch(DropBelowAssign { draw, first, threshold, scale, x });
    });
}

/// A float that can be multiplied.
pub trait Scaled: Plain + std::ops::Mul<Output = Self> {}
impl Scaled for f32 {}
impl Scaled for f64 {}

/// All words of group `group` of a draw.
#[inline(always)]
fn words(draw: Draw, group: u64) -> Words {
    let first = draw.offset.wrapping_add(group.wrapping_mul(BLOCKS as u64));
    let (mut c0, mut c1) = ([0u32; BLOCKS], [0u32; BLOCKS]);
    for (j, (low, high)) in c0.iter_mut().zip(&mut c1).enumerate() {
        let position = first.wrapping_add(j as u64);
        (*low, *high) = (position as u32, (position >> 32) as u32);
    }
    let (mut c2, mut c3) = ([draw.stream as u32; BLOCKS], [(draw.stream >> 32) as u32; BLOCKS]);
    let (mut k0, mut k1) = (draw.seed as u32, (draw.seed >> 32) as u32);
    for _ in 0..10 {
        for (((x0, x1), x2), x3) in c0.iter_mut().zip(&mut c1).zip(&mut c2).zip(&mut c3) {
            let (a, b) = (u64::from(*x0) * 0xD251_1F53, u64::from(*x2) * 0xCD9E_8D57);
            (*x0, *x1) = ((b >> 32) as u32 ^ *x1 ^ k0, b as u32);
            (*x2, *x3) = ((a >> 32) as u32 ^ *x3 ^ k1, a as u32);
        }
        k0 = k0.wrapping_add(0x9E37_79B9);
        k1 = k1.wrapping_add(0xBB67_AE85);
    }
    let mut words = [0; WORDS];
    for (words, c) in words.chunks_exact_mut(BLOCKS).zip([c0, c1, c2, c3]) {
        words.copy_from_slice(&c);
    }
    words
}

/// Calls `run(group, from the number in the group, range of the output)` for each group that has a part in the output.
#[inline(always)]
fn each_group(
    first: u64,
    count: usize,
    per_group: usize,
    mut run: impl FnMut(u64, usize, std::ops::Range<usize>),
) {
    let (mut done, mut position) = (0, first);
    while done < count {
        let skip = (position % per_group as u64) as usize;
        let taken = (per_group - skip).min(count - done);
        run(position / per_group as u64, skip, done..done + taken);
        done += taken;
        position = position.wrapping_add(taken as u64);
    }
}

struct Fill<'a, T, S> {
    draw: Draw,
    first: u64,
    out: &'a mut [T],
    sampler: S,
}

impl<T: Plain, S: Sampler<T>> Kernel for Fill<'_, T, S> {
    type Output = ();
    const COPIES: Copies = Copies::Two;

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { draw, first, out, sampler } = self;
        let mut numbers = [T::default(); WORDS];
        each_group(first, out.len(), WORDS / S::WORDS_EACH, |group, skip, range| {
            sampler.sample::<A>(&words(draw, group), &mut numbers);
            let taken = range.len();
            out[range].copy_from_slice(&numbers[skip..skip + taken]);
        });
    }
}

struct DropBelow<'a, T> {
    draw: Draw,
    first: u64,
    threshold: u64,
    scale: T,
    x: &'a [T],
    out: &'a mut [T],
}

impl<T: Scaled> Kernel for DropBelow<'_, T> {
    type Output = ();
    const COPIES: Copies = Copies::Two;

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { draw, first, threshold, scale, x, out } = self;
        each_group(first, out.len(), WORDS, |group, skip, range| {
            let words = words(draw, group);
            let kept = words[skip..].iter().zip(&x[range.clone()]);
            for (out, (&word, &x)) in out[range].iter_mut().zip(kept) {
                *out = if u64::from(word) < threshold { T::default() } else { x * scale };
            }
        });
    }
}

struct DropBelowAssign<'a, T> {
    draw: Draw,
    first: u64,
    threshold: u64,
    scale: T,
    x: &'a mut [T],
}

impl<T: Scaled> Kernel for DropBelowAssign<'_, T> {
    type Output = ();
    const COPIES: Copies = Copies::Two;

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { draw, first, threshold, scale, x } = self;
        each_group(first, x.len(), WORDS, |group, skip, range| {
            let words = words(draw, group);
            for (x, &word) in x[range].iter_mut().zip(&words[skip..]) {
                *x = if u64::from(word) < threshold { T::default() } else { *x * scale };
            }
        });
    }
}

/// Floats in `[low, high)`, with as many random bits as are wanted, 24 at most in single precision.
#[derive(Debug, Clone, Copy)]
pub struct Uniform<T> {
    /// The lowest.
    pub low: T,
    /// What all are below.
    pub high: T,
    /// Random bits of each.
    pub bits: u32,
}

impl Sampler<f32> for Uniform<f32> {
    const WORDS_EACH: usize = 1;

    #[inline(always)]
    fn sample<A: Arch>(self, words: &Words, out: &mut [f32; WORDS]) {
        let Self { low, high, bits } = self;
        let (span, below) = (high - low, high.next_down().max(low));
        let unit = 1.0 / (1u32 << bits) as f32;
        for (out, &word) in out.iter_mut().zip(words) {
            let x = ((word >> (32 - bits)) as i32 as f32 * unit) * span + low;
            // Rounding may reach what is excluded.
            *out = if x > below { below } else { x };
        }
    }
}

impl Sampler<f64> for Uniform<f64> {
    const WORDS_EACH: usize = 2;

    #[inline(always)]
    fn sample<A: Arch>(self, words: &Words, out: &mut [f64; WORDS]) {
        let Self { low, high, .. } = self;
        let (span, below) = (high - low, high.next_down().max(low));
        for (out, word) in out.iter_mut().zip(pairs(words)) {
            let x = unit64(word) * span + low;
            *out = if x > below { below } else { x };
        }
    }
}

/// Floats around `mean`, by Box and Muller (1958): `√(-2 ln u) (cos 2πv, sin 2πv)`.
#[derive(Debug, Clone, Copy)]
pub struct Normal<T> {
    /// Their mean.
    pub mean: T,
    /// Their standard deviation.
    pub std: T,
}

impl Sampler<f32> for Normal<f32> {
    const WORDS_EACH: usize = 1;

    #[inline(always)]
    fn sample<A: Arch>(self, words: &Words, out: &mut [f32; WORDS]) {
        let Self { mean, std } = self;
        for (words, out) in words.chunks_exact(2 * BLOCKS).zip(out.chunks_exact_mut(2 * BLOCKS)) {
            let ((u, v), (x, y)) = (words.split_at(BLOCKS), out.split_at_mut(BLOCKS));
            for j in 0..BLOCKS {
                // u in (0, 1]: 32 bits reach out to 6.6 standard deviations. The angle is in [-π, π).
                let u = f64::from(u[j]) as f32 + 1.0;
                let radius = (-2.0 * log32::<A>(u * (1.0 / 4_294_967_296.0))).max(0.0).sqrt();
                let angle = (v[j] as i32 >> 8) as f32 * (TAU / 16_777_216.0);
                x[j] = radius * trig::cos32_near::<A>(angle) * std + mean;
                y[j] = radius * trig::sin32_near::<A>(angle) * std + mean;
            }
        }
    }
}

impl Sampler<f64> for Normal<f64> {
    const WORDS_EACH: usize = 2;

    #[inline(always)]
    fn sample<A: Arch>(self, words: &Words, out: &mut [f64; WORDS]) {
        let Self { mean, std } = self;
        let mut wide = [0u64; 2 * BLOCKS];
        wide.iter_mut().zip(pairs(words)).for_each(|(wide, word)| *wide = word);
        for j in 0..BLOCKS {
            let (u, v) = (1.0 - unit64(wide[j]), unit64(wide[BLOCKS + j]));
            let radius = (-2.0 * u.ln()).sqrt();
            let (sin, cos) = (v * std::f64::consts::TAU).sin_cos();
            out[j] = radius * cos * std + mean;
            out[BLOCKS + j] = radius * sin * std + mean;
        }
    }
}

/// 1 with a probability of `threshold / 2^32`, else 0.
#[derive(Debug, Clone, Copy)]
pub struct Bernoulli {
    /// Words below it give 1.
    pub threshold: u64,
}

impl Sampler<u8> for Bernoulli {
    const WORDS_EACH: usize = 1;

    #[inline(always)]
    fn sample<A: Arch>(self, words: &Words, out: &mut [u8; WORDS]) {
        for (out, &word) in out.iter_mut().zip(words) {
            *out = u8::from(u64::from(word) < self.threshold);
        }
    }
}

/// Integers from `low` on, `count` of them; all 2^64 for 0.
#[derive(Debug, Clone, Copy)]
pub struct Integers {
    /// The lowest.
    pub low: i64,
    /// How many there are.
    pub count: u64,
}

impl Sampler<i64> for Integers {
    const WORDS_EACH: usize = 2;

    #[inline(always)]
    fn sample<A: Arch>(self, words: &Words, out: &mut [i64; WORDS]) {
        let count = if self.count == 0 { 1 << 64 } else { u128::from(self.count) };
        for (out, word) in out.iter_mut().zip(pairs(words)) {
            // The high part of a product: a bias of count / 2^64 at most.
            *out = self.low.wrapping_add(((u128::from(word) * count) >> 64) as i64);
        }
    }
}

/// Words joined: the first of each pair from the first quarter of a half, the second from the next.
#[inline(always)]
fn pairs(words: &Words) -> impl Iterator<Item = u64> + '_ {
    words.chunks_exact(2 * BLOCKS).flat_map(|half| {
        let (low, high) = half.split_at(BLOCKS);
        low.iter().zip(high).map(|(&low, &high)| u64::from(low) | u64::from(high) << 32)
    })
}

/// A double in [0, 1), of 53 bits.
#[inline(always)]
fn unit64(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAW: Draw = Draw { seed: 7, stream: 3, offset: 5 };

    #[test]
    fn words_are_those_of_the_blocks() {
        for group in [0, 1, u64::MAX / 7] {
            let words = words(DRAW, group);
            for j in 0..BLOCKS {
                let block = DRAW.block(group.wrapping_mul(16).wrapping_add(j as u64));
                assert_eq!([0, 1, 2, 3].map(|w| words[w * BLOCKS + j]), block);
            }
        }
    }

    #[test]
    fn a_number_does_not_depend_on_the_part_that_it_is_drawn_in() {
        let draw = |first: u64, len: usize| {
            let mut out = vec![0f32; len];
            fill(DRAW, first, &mut out, Normal { mean: 0.0, std: 1.0 });
            out
        };
        let whole = draw(0, 40_000);
        for (first, len) in [(1, 63), (64, 64), (100, 1), (17_000, 20_000), (39_999, 1)] {
            assert_eq!(draw(first as u64, len), whole[first..first + len], "{first} {len}");
        }
        let mut doubles = vec![0f64; 100];
        fill(DRAW, 0, &mut doubles, Uniform { low: 0.0, high: 1.0, bits: 53 });
        let mut part = vec![0f64; 50];
        fill(DRAW, 33, &mut part, Uniform { low: 0.0, high: 1.0, bits: 53 });
        assert_eq!(part, doubles[33..83]);
    }
}
