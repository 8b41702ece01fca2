//! What a reduction does with each element.

use crate::kernels::number::Number;
use crate::simd::Arch;

/// Independent accumulators of a row: enough to hide the latency of an addition at every level.
pub const LANES: usize = 32;

/// A reduction: a value to start from, and how elements and partial results come to it.
pub trait Fold<T: Number>: Copy + Send + Sync {
    /// A partial result.
    type Wide: Number;
    /// The partial result of no elements.
    const START: Self::Wide;

    /// One more element.
    fn step(self, wide: Self::Wide, x: T) -> Self::Wide;
    /// Two partial results.
    fn join(self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// The result.
    fn finish(self, wide: Self::Wide) -> T;
}

/// `Σ x`; 0 for no elements.
#[derive(Debug, Clone, Copy)]
pub struct Sum;

/// `Σ x²`.
#[derive(Debug, Clone, Copy)]
pub struct SumSquares;

/// `Π x`; 1 for no elements.
#[derive(Debug, Clone, Copy)]
pub struct Prod;

/// The largest, or NaN if there is one; of no elements, the type's lowest number.
#[derive(Debug, Clone, Copy)]
pub struct Max;

/// The smallest, or NaN if there is one; of no elements, the type's highest number.
#[derive(Debug, Clone, Copy)]
pub struct Min;

macro_rules! fold {
    ($name:ident, $wide:ty, $start:expr, $widen:expr, $step:ident, $join:ident, $narrow:expr, $x:ident => $term:expr) => {
        impl<T: Number> Fold<T> for $name {
            type Wide = $wide;
            const START: Self::Wide = $start;

            #[inline(always)]
            fn step(self, wide: Self::Wide, x: T) -> Self::Wide {
                let $x = $widen(x);
                wide.$step($term)
            }
            #[inline(always)]
            fn join(self, a: Self::Wide, b: Self::Wide) -> Self::Wide {
                a.$join(b)
            }
            #[inline(always)]
            fn finish(self, wide: Self::Wide) -> T {
                $narrow(wide)
            }
        }
    };
}
fold!(Sum, T::Wide, T::Wide::ZERO, T::widen, plus, plus, T::narrow, x => x);
fold!(SumSquares, T::Wide, T::Wide::ZERO, T::widen, plus, plus, T::narrow, x => x.times(x));
fold!(Prod, T::Wide, T::Wide::ONE, T::widen, times, times, T::narrow, x => x);
fold!(Max, T, T::LOWEST, std::convert::identity, larger, larger, std::convert::identity, x => x);
fold!(Min, T, T::HIGHEST, std::convert::identity, smaller, smaller, std::convert::identity, x => x);

/// The partial result of a slice: element `i` goes to lane `i % LANES`, then lanes are joined pair by pair.
#[inline(always)]
pub fn fold_slice<A: Arch, T: Number, F: Fold<T>>(fold: F, x: &[T]) -> F::Wide {
    if x.len() < LANES {
        return x.iter().fold(F::START, |wide, &x| fold.step(wide, x));
    }
    let mut lanes = [F::START; LANES];
    let (blocks, tail) = x.as_chunks::<LANES>();
    for block in blocks {
        for (lane, &x) in lanes.iter_mut().zip(block) {
            *lane = fold.step(*lane, x);
        }
    }
    let last = padded(tail);
    for i in 0..LANES {
        lanes[i] = if i < tail.len() { fold.step(lanes[i], last[i]) } else { lanes[i] };
    }
    join_lanes(lanes, |a, b| fold.join(a, b))
}

/// The rest of a row as a whole block. Lanes that are indexed by a length of run time would live in memory, not in
/// registers.
#[inline(always)]
pub(in crate::kernels) fn padded<T: Number>(tail: &[T]) -> [T; LANES] {
    let mut block = [T::ZERO; LANES];
    block[..tail.len()].copy_from_slice(tail);
    block
}

/// Joins lanes with those half a width away until one is left.
#[inline(always)]
pub(in crate::kernels) fn join_lanes<W: Copy, const N: usize>(
    mut lanes: [W; N],
    join: impl Fn(W, W) -> W,
) -> W {
    let mut width = N;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            lanes[i] = join(lanes[i], lanes[i + width]);
        }
    }
    lanes[0]
}
