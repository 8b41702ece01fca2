//! Sums of a row that lies in the cache: fixed lanes in the row's own type, blocks of them in doubles.

use super::number::Real;
use super::reduce::{LANES, join_lanes};

/// Elements whose sum is made in the row's own type: 128 a lane.
const BLOCK: usize = 128 * LANES;

/// `Σ term(x)`.
#[inline(always)]
pub(super) fn sum<T: Real>(x: &[T], term: impl Fn(T) -> T) -> f64 {
    let block = |x: &[T]| {
        let mut lanes = [T::ZERO; LANES];
        let (whole, tail) = x.as_chunks::<LANES>();
        for x in whole {
            lanes.iter_mut().zip(x).for_each(|(lane, &x)| *lane = lane.plus(term(x)));
        }
        lanes.iter_mut().zip(tail).for_each(|(lane, &x)| *lane = lane.plus(term(x)));
        join_lanes(lanes, T::plus).widen()
    };
    x.chunks(BLOCK).fold(0.0, |sum, x| sum + block(x))
}

/// `Σ term(x, y)`.
#[inline(always)]
pub(super) fn sum2<T: Real>(x: &[T], y: &[T], term: impl Fn(T, T) -> T) -> f64 {
    let block = |x: &[T], y: &[T]| {
        let mut lanes = [T::ZERO; LANES];
        let ((x, x_tail), (y, y_tail)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
        for (x, y) in x.iter().zip(y) {
            for ((lane, &x), &y) in lanes.iter_mut().zip(x).zip(y) {
                *lane = lane.plus(term(x, y));
            }
        }
        for ((lane, &x), &y) in lanes.iter_mut().zip(x_tail).zip(y_tail) {
            *lane = lane.plus(term(x, y));
        }
        join_lanes(lanes, T::plus).widen()
    };
    x.chunks(BLOCK).zip(y.chunks(BLOCK)).fold(0.0, |sum, (x, y)| sum + block(x, y))
}

/// `out = term(x)`, and its sum.
#[inline(always)]
pub(super) fn map_sum<T: Real>(x: &[T], out: &mut [T], term: impl Fn(T) -> T) -> f64 {
    let block = |x: &[T], out: &mut [T]| {
        let mut lanes = [T::ZERO; LANES];
        let ((x, x_tail), (out, out_tail)) = (x.as_chunks::<LANES>(), out.as_chunks_mut::<LANES>());
        for (x, out) in x.iter().zip(out) {
            for ((lane, &x), y) in lanes.iter_mut().zip(x).zip(out) {
                *y = term(x);
                *lane = lane.plus(*y);
            }
        }
        for ((lane, &x), y) in lanes.iter_mut().zip(x_tail).zip(out_tail) {
            *y = term(x);
            *lane = lane.plus(*y);
        }
        join_lanes(lanes, T::plus).widen()
    };
    x.chunks(BLOCK).zip(out.chunks_mut(BLOCK)).fold(0.0, |sum, (x, out)| sum + block(x, out))
}

/// The largest, as far as there are numbers; −∞ if there are none.
#[inline(always)]
pub(super) fn max<T: Real>(x: &[T]) -> T {
    let larger = |a: T, b: T| if a > b { a } else { b };
    let mut lanes = [T::LOWEST; LANES];
    let (whole, tail) = x.as_chunks::<LANES>();
    for x in whole {
        lanes.iter_mut().zip(x).for_each(|(lane, &x)| *lane = larger(x, *lane));
    }
    lanes.iter_mut().zip(tail).for_each(|(lane, &x)| *lane = larger(x, *lane));
    join_lanes(lanes, larger)
}
