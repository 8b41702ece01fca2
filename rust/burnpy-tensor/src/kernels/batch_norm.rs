//! Norms of channels, the middle axis of `[outer, channels, inner]`.
//!
//! With `inner` 1 that is a batch of vectors, or of images whose channels lie side by side.

use std::hint::select_unpredictable;

use super::number::Real;
use super::reduce::LANES;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, Level, dispatch};

/// Elements of a task.
const BLOCK: usize = 16 * 1024;

/// Terms that are summed in the elements' own type.
const SHORT: usize = 128;

/// Sizes of `[outer, channels, inner]`.
pub type Sizes = [usize; 3];

/// Of each channel the mean, and the mean square of the deviations from it (divided by their number).
///
/// One pass over `x - x₀`, with x₀ the channel's first element, so that a common offset costs no digits.
///
/// # Panics
/// If `x` does not have the sizes.
///
/// ```
/// use burnpy_tensor::kernels::batch_norm::moments;
/// assert_eq!(moments(&[1.0f32, 5.0, 3.0, 5.0], [2, 2, 1]), [[2.0, 1.0], [5.0, 0.0]]);
/// ```
pub fn moments<T: Real>(x: &[T], sizes: Sizes) -> Vec<[f64; 2]> {
    let [outer, channels, inner] = sizes;
    let first: Vec<T> = (0..channels).map(|c| x.get(c * inner).copied().unwrap_or(T::ZERO)).collect();
    let sums = channel_sums(x, None, sizes, &first);
    let count = (outer * inner) as f64;
    let channel = |(&[sum, squares], first): (&[f64; 2], &T)| {
        let shift = sum / count;
        [first.widen() + shift, not_below_zero(squares / count - shift * shift)]
    };
    sums.iter().zip(&first).map(channel).collect()
}

/// What rounding leaves of 0 may be below it. NaN stays.
fn not_below_zero(x: f64) -> f64 {
    if x < 0.0 { 0.0 } else { x }
}

/// Of each channel `Σ dy` and `Σ dy (x - mean)`.
///
/// # Panics
/// As [`moments`].
pub fn gradient_sums<T: Real>(dy: &[T], x: &[T], sizes: Sizes, mean: &[T]) -> Vec<[f64; 2]> {
    channel_sums(x, Some(dy), sizes, mean)
}

/// `out = slope_c (x - mean_c) + shift_c`, the coefficients `[mean, scale, slope, shift]` of each channel.
///
/// # Panics
/// If a length is not that of the sizes.
pub fn normalize<T: Real>(x: &[T], sizes: Sizes, by: &[[T; 4]], out: &mut [T]) {
    walk::<T, false>(x, sizes, by, out);
}

/// The gradient of `x` in the place of that of the output: `dy = scale_c dy + slope_c (x - mean_c) + shift_c`.
///
/// # Panics
/// As [`normalize`].
pub fn normalize_backward<T: Real>(x: &[T], sizes: Sizes, by: &[[T; 4]], dy: &mut [T]) {
    walk::<T, true>(x, sizes, by, dy);
}

/// `out = slope_c (x - mean_c) + shift_c`, plus `scale_c out` if wanted.
fn walk<T: Real, const PLUS: bool>(x: &[T], [outer, channels, inner]: Sizes, by: &[[T; 4]], out: &mut [T]) {
    let len = outer * channels * inner;
    assert_eq!([x.len(), out.len(), by.len()], [len, len, channels]);
    if len == 0 {
        return;
    }
    if inner == 1 {
        let each = (BLOCK / channels).max(1) * channels;
        let columns: [Vec<T>; 4] = std::array::from_fn(|i| by.iter().map(|by| by[i]).collect());
        return parallel::chunks_mut(out, each, |i, out| {
            let x = &x[i * each..][..out.len()];
            dispatch(Side::<T, PLUS> { x, columns: columns.each_ref().map(Vec::as_slice), out });
        });
    }
    let each = (BLOCK / inner).max(1);
    parallel::chunks_mut(out, each * inner, |i, out| {
        for (row, out) in (i * each..).zip(out.chunks_exact_mut(inner)) {
            dispatch(Plane::<T, PLUS> { x: &x[row * inner..][..inner], by: by[row % channels], out });
        }
    });
}

struct Plane<'a, T, const PLUS: bool> {
    x: &'a [T],
    by: [T; 4],
    out: &'a mut [T],
}

impl<T: Real, const PLUS: bool> Kernel for Plane<'_, T, PLUS> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) {
        let [mean, scale, slope, shift] = self.by;
        for (out, &x) in self.out.iter_mut().zip(self.x) {
            let y = slope.fma::<A>(x.minus(mean), shift);
            *out = if PLUS { scale.fma::<A>(*out, y) } else { y };
        }
    }
}

/// Rows of channels side by side.
struct Side<'a, T, const PLUS: bool> {
    x: &'a [T],
    columns: [&'a [T]; 4],
    out: &'a mut [T],
}

impl<T: Real, const PLUS: bool> Kernel for Side<'_, T, PLUS> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) {
        let n = self.columns[0].len();
        let part = part_of(n);
        for (x, out) in self.x.chunks(part).zip(self.out.chunks_mut(part)) {
            let mut part = Side::<T, PLUS> { x, columns: self.columns, out };
            let from = if many::<A>() { part.walk::<A, 16>(0) } else { 0 };
            let from = part.walk::<A, 4>(from);
            part.walk::<A, 1>(from);
        }
    }
}

impl<T: Real, const PLUS: bool> Side<'_, T, PLUS> {
    /// From a channel on, `N` at a time with their coefficients in registers; the first of those that are left.
    #[inline(always)]
    fn walk<A: Arch, const N: usize>(&mut self, from: usize) -> usize {
        let n = self.columns[0].len();
        let mut c = from;
        while c + N <= n {
            let [mean, scale, slope, shift] = lanes::<T, N, 4>(self.columns, c);
            for (x, out) in self.x.chunks_exact(n).zip(self.out.chunks_exact_mut(n)) {
                let out = &mut out[c..][..N];
                let [x, mut y] = lanes::<T, N, 2>([&x[c..], out], 0);
                for i in 0..N {
                    let z = slope[i].fma::<A>(x[i].minus(mean[i]), shift[i]);
                    y[i] = if PLUS { scale[i].fma::<A>(y[i], z) } else { z };
                }
                out.copy_from_slice(&y);
            }
            c += N;
        }
        c
    }
}

/// Whether 16 channels at a time fit into registers. Elsewhere code for them would be long, and no faster.
const fn many<A: Arch>() -> bool {
    !matches!(A::LEVEL, Level::Portable)
}

/// Elements of rows of `n` that stay in the first cache while they are walked by columns.
fn part_of(n: usize) -> usize {
    ((2 << 10) / n).max(1) * n
}

/// `N` elements of each of several columns.
#[inline(always)]
fn lanes<T: Real, const N: usize, const M: usize>(columns: [&[T]; M], from: usize) -> [[T; N]; M] {
    let mut lanes = [[T::ZERO; N]; M];
    for (lanes, column) in lanes.iter_mut().zip(columns) {
        lanes.copy_from_slice(&column[from..][..N]);
    }
    lanes
}

/// Of each channel `Σ dy` and `Σ dy d` with `d = x - centre`, or, without `dy`, `Σ d` and `Σ d²`; over fixed groups of the
/// outer axis that are added in order.
fn channel_sums<T: Real>(x: &[T], dy: Option<&[T]>, sizes: Sizes, centre: &[T]) -> Vec<[f64; 2]> {
    let (square, dy) = (dy.is_none(), dy.unwrap_or(x));
    let [outer, channels, inner] = sizes;
    assert!(x.len() == outer * channels * inner && dy.len() == x.len(), "{} elements for {sizes:?}", x.len());
    if x.is_empty() {
        return vec![[0.0; 2]; channels];
    }
    // At most 128 partial sums of each channel.
    let row = channels * inner;
    let each = (BLOCK / row).max(outer.div_ceil(128)).max(1);
    let mut partial = vec![[0.0; 2]; outer.div_ceil(each) * channels];
    parallel::chunks_mut(&mut partial, channels, |i, sums| {
        let from = i * each * row;
        let len = (each * row).min(x.len() - from);
        let (x, dy) = (&x[from..][..len], &dy[from..][..len]);
        dispatch(Sums { x, dy, square, channels, inner, centre, sums });
    });
    let mut total = vec![[0.0; 2]; channels];
    for sums in partial.chunks_exact(channels) {
        total.iter_mut().zip(sums).for_each(|(total, sum)| *total = [total[0] + sum[0], total[1] + sum[1]]);
    }
    total
}

struct Sums<'a, T> {
    x: &'a [T],
    dy: &'a [T],
    /// Whether `d` stands for `dy`. Asked at each element: code for each case would be twice as much.
    square: bool,
    channels: usize,
    inner: usize,
    centre: &'a [T],
    sums: &'a mut [[f64; 2]],
}

impl<T: Real> Kernel for Sums<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) {
        if self.inner < LANES {
            self.add_rows::<A>();
        } else {
            self.add_planes();
        }
    }
}

impl<T: Real> Sums<'_, T> {
    /// Channel by channel along the inner axis.
    #[inline(always)]
    fn add_planes(self) {
        let Self { x, dy, square, channels, inner, centre, sums, .. } = self;
        for (plane, (x, dy)) in x.chunks_exact(inner).zip(dy.chunks_exact(inner)).enumerate() {
            let channel = plane % channels;
            let centre = centre[channel];
            for (x, dy) in x.chunks(SHORT * LANES).zip(dy.chunks(SHORT * LANES)) {
                let [a, b] = plane_sums(x, dy, square, centre);
                sums[channel] = [sums[channel][0] + a, sums[channel][1] + b];
            }
        }
    }

    /// Row by row.
    #[inline(always)]
    fn add_rows<A: Arch>(self) {
        let Self { x, dy, square, channels, inner, centre, sums, .. } = self;
        let row = channels * inner;
        let centre: Vec<T> = (0..row).map(|i| centre[i / inner]).collect();
        let mut short = [vec![T::ZERO; row], vec![T::ZERO; row]];
        let part = part_of(row);
        for (x, dy) in x.chunks(SHORT * row).zip(dy.chunks(SHORT * row)) {
            for (x, dy) in x.chunks(part).zip(dy.chunks(part)) {
                let mut part = Columns { x, dy, square, centre: &centre, short: &mut short };
                let from = if many::<A>() { part.add::<16>(0) } else { 0 };
                let from = part.add::<4>(from);
                part.add::<1>(from);
            }
            let [first, second] = &mut short;
            for i in 0..row {
                let sum = &mut sums[i / inner];
                *sum = [sum[0] + first[i].widen(), sum[1] + second[i].widen()];
                (first[i], second[i]) = (T::ZERO, T::ZERO);
            }
        }
    }
}

/// Sums of the columns of a few rows.
struct Columns<'a, T> {
    x: &'a [T],
    dy: &'a [T],
    square: bool,
    centre: &'a [T],
    short: &'a mut [Vec<T>; 2],
}

impl<T: Real> Columns<'_, T> {
    /// From a column on, `N` at a time with their sums in registers; the first of those that are left.
    #[inline(always)]
    fn add<const N: usize>(&mut self, from: usize) -> usize {
        let row = self.centre.len();
        let mut c = from;
        while c + N <= row {
            let [a, b] = &*self.short;
            let [mut first, mut second, centre] = lanes::<T, N, 3>([a, b, self.centre], c);
            for (x, dy) in self.x.chunks_exact(row).zip(self.dy.chunks_exact(row)) {
                let (x, dy) = (&x[c..][..N], &dy[c..][..N]);
                for i in 0..N {
                    let [a, b] = terms(self.square, dy[i], x[i].minus(centre[i]));
                    (first[i], second[i]) = (first[i].plus(a), second[i].plus(b));
                }
            }
            self.short[0][c..][..N].copy_from_slice(&first);
            self.short[1][c..][..N].copy_from_slice(&second);
            c += N;
        }
        c
    }
}

/// What is added to both sums.
#[inline(always)]
fn terms<T: Real>(square: bool, dy: T, d: T) -> [T; 2] {
    let dy = select_unpredictable(square, d, dy);
    [dy, dy.times(d)]
}

#[inline(always)]
fn plane_sums<T: Real>(x: &[T], dy: &[T], square: bool, centre: T) -> [f64; 2] {
    let mut lanes = [[T::ZERO; LANES]; 2];
    let [first, second] = &mut lanes;
    let ((x, x_tail), (dy, dy_tail)) = (x.as_chunks::<LANES>(), dy.as_chunks::<LANES>());
    for (x, dy) in x.iter().zip(dy) {
        for i in 0..LANES {
            let [a, b] = terms(square, dy[i], x[i].minus(centre));
            (first[i], second[i]) = (first[i].plus(a), second[i].plus(b));
        }
    }
    for (i, (&x, &dy)) in x_tail.iter().zip(dy_tail).enumerate() {
        let [a, b] = terms(square, dy, x.minus(centre));
        (first[i], second[i]) = (first[i].plus(a), second[i].plus(b));
    }
    lanes.map(|lanes| lanes.iter().map(|lane| lane.widen()).sum())
}
