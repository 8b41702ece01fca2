//! Sums of a row that lies in the cache: fixed lanes in the row's own type, blocks of them in doubles.

use super::number::Real;
use super::reduce::{LANES, join_lanes, padded};
use crate::simd::Arch;

/// Elements whose sum is made in the row's own type: 128 a lane.
const BLOCK: usize = 128 * LANES;

/// What is summed of an element. A type, not a closure: that need not be inlined, and would then be compiled without
/// the instructions of its level.
pub(super) trait Term<T>: Copy {
    /// The term.
    fn of<A: Arch>(self, x: T) -> T;
}

/// What is summed of a pair.
pub(super) trait Term2<T>: Copy {
    /// The term.
    fn of<A: Arch>(self, x: T, y: T) -> T;
}

/// `x`.
#[derive(Clone, Copy)]
pub(super) struct Itself;

/// `e^(x - m)`.
#[derive(Clone, Copy)]
pub(super) struct ExpFrom<T>(pub(super) T);

/// `(x - m)²`.
#[derive(Clone, Copy)]
pub(super) struct SquareFrom<T>(pub(super) T);

/// `x y`.
#[derive(Clone, Copy)]
pub(super) struct Product;

impl<T: Real> Term<T> for Itself {
    #[inline(always)]
    fn of<A: Arch>(self, x: T) -> T {
        x
    }
}

impl<T: Real> Term<T> for ExpFrom<T> {
    #[inline(always)]
    fn of<A: Arch>(self, x: T) -> T {
        x.minus(self.0).exp::<A>()
    }
}

impl<T: Real> Term<T> for SquareFrom<T> {
    #[inline(always)]
    fn of<A: Arch>(self, x: T) -> T {
        x.minus(self.0).times(x.minus(self.0))
    }
}

impl<T: Real> Term2<T> for Product {
    #[inline(always)]
    fn of<A: Arch>(self, x: T, y: T) -> T {
        x.times(y)
    }
}

/// `Σ term(x)`.
#[inline(always)]
pub(super) fn sum<A: Arch, T: Real>(x: &[T], term: impl Term<T>) -> f64 {
    let mut sum = 0.0;
    for x in x.chunks(BLOCK) {
        let mut lanes = [T::ZERO; LANES];
        let (whole, tail) = x.as_chunks::<LANES>();
        for x in whole {
            for (lane, &x) in lanes.iter_mut().zip(x) {
                *lane = lane.plus(term.of::<A>(x));
            }
        }
        let last = padded(tail);
        for i in 0..LANES {
            let more = lanes[i].plus(term.of::<A>(last[i]));
            lanes[i] = if i < tail.len() { more } else { lanes[i] };
        }
        sum += join_lanes(lanes, T::plus).widen();
    }
    sum
}

/// `Σ term(x, y)`.
#[inline(always)]
pub(super) fn sum2<A: Arch, T: Real>(x: &[T], y: &[T], term: impl Term2<T>) -> f64 {
    let mut sum = 0.0;
    for (x, y) in x.chunks(BLOCK).zip(y.chunks(BLOCK)) {
        let mut lanes = [T::ZERO; LANES];
        let ((x, x_tail), (y, y_tail)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
        for (x, y) in x.iter().zip(y) {
            for ((lane, &x), &y) in lanes.iter_mut().zip(x).zip(y) {
                *lane = lane.plus(term.of::<A>(x, y));
            }
        }
        let (last_x, last_y) = (padded(x_tail), padded(y_tail));
        for i in 0..LANES {
            let more = lanes[i].plus(term.of::<A>(last_x[i], last_y[i]));
            lanes[i] = if i < x_tail.len() { more } else { lanes[i] };
        }
        sum += join_lanes(lanes, T::plus).widen();
    }
    sum
}

/// `out = term(x)`, and its sum.
#[inline(always)]
pub(super) fn map_sum<A: Arch, T: Real>(x: &[T], out: &mut [T], term: impl Term<T>) -> f64 {
    let mut sum = 0.0;
    for (x, out) in x.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        let mut lanes = [T::ZERO; LANES];
        let ((x, x_tail), (out, out_tail)) = (x.as_chunks::<LANES>(), out.as_chunks_mut::<LANES>());
        for (x, out) in x.iter().zip(out) {
            for ((lane, &x), y) in lanes.iter_mut().zip(x).zip(out) {
                *y = term.of::<A>(x);
                *lane = lane.plus(*y);
            }
        }
        let mut last = padded(x_tail);
        for i in 0..LANES {
            last[i] = term.of::<A>(last[i]);
            lanes[i] = if i < x_tail.len() { lanes[i].plus(last[i]) } else { lanes[i] };
        }
        out_tail.copy_from_slice(&last[..out_tail.len()]);
        sum += join_lanes(lanes, T::plus).widen();
    }
    sum
}

/// The largest, as far as there are numbers; −∞ if there are none.
#[inline(always)]
pub(super) fn max<T: Real>(x: &[T]) -> T {
    let larger = |a: T, b: T| if a > b { a } else { b };
    let mut lanes = [T::LOWEST; LANES];
    let (whole, tail) = x.as_chunks::<LANES>();
    for x in whole {
        for (lane, &x) in lanes.iter_mut().zip(x) {
            *lane = larger(x, *lane);
        }
    }
    let last = padded(tail);
    for i in 0..LANES {
        lanes[i] = if i < tail.len() { larger(last[i], lanes[i]) } else { lanes[i] };
    }
    join_lanes(lanes, larger)
}
