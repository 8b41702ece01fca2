//! Norms of channels, the middle axis of `[outer, channels, inner]`.
//!
//! With `inner` 1 that is a batch of vectors, or of images whose channels lie side by side.

use super::number::Real;
use super::reduce::LANES;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

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
    let sums = channel_sums(x, x, sizes, &first, Terms::Moments);
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
    channel_sums(x, dy, sizes, mean, Terms::Gradients)
}

/// `out = scale_c dy + slope_c (x - mean_c) + shift_c`, the coefficients `[mean, scale, slope, shift]` of each channel:
/// forward with `dy` of any finite numbers and `scale` 0, and the gradient of `x`.
///
/// # Panics
/// If a length is not that of the sizes.
pub fn combine<T: Real>(dy: &[T], x: &[T], [outer, channels, inner]: Sizes, by: &[[T; 4]], out: &mut [T]) {
    let len = outer * channels * inner;
    assert_eq!([dy.len(), x.len(), out.len(), by.len()], [len, len, len, channels]);
    if len == 0 {
        return;
    }
    if inner == 1 {
        let each = (BLOCK / channels).max(1) * channels;
        let columns: [Vec<T>; 4] = std::array::from_fn(|i| by.iter().map(|by| by[i]).collect());
        return parallel::chunks_mut(out, each, |i, out| {
            let (dy, x) = (&dy[i * each..][..out.len()], &x[i * each..][..out.len()]);
            dispatch(Side { dy, x, columns: &columns, out });
        });
    }
    let each = (BLOCK / inner).max(1);
    parallel::chunks_mut(out, each * inner, |i, out| {
        for (j, out) in out.chunks_exact_mut(inner).enumerate() {
            let row = i * each + j;
            let (dy, x) = (&dy[row * inner..][..inner], &x[row * inner..][..inner]);
            dispatch(Plane { dy, x, by: by[row % channels], out });
        }
    });
}

struct Plane<'a, T> {
    dy: &'a [T],
    x: &'a [T],
    by: [T; 4],
    out: &'a mut [T],
}

impl<T: Real> Kernel for Plane<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) {
        let [mean, scale, slope, shift] = self.by;
        for ((out, &dy), &x) in self.out.iter_mut().zip(self.dy).zip(self.x) {
            *out = scale.fma::<A>(dy, slope.fma::<A>(x.minus(mean), shift));
        }
    }
}

struct Side<'a, T> {
    dy: &'a [T],
    x: &'a [T],
    columns: &'a [Vec<T>; 4],
    out: &'a mut [T],
}

impl<T: Real> Kernel for Side<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) {
        let [mean, scale, slope, shift] = self.columns.each_ref().map(Vec::as_slice);
        let n = mean.len();
        let rows = self.out.chunks_exact_mut(n).zip(self.dy.chunks_exact(n)).zip(self.x.chunks_exact(n));
        for ((out, dy), x) in rows {
            let (mean, scale, slope, shift) = (&mean[..n], &scale[..n], &slope[..n], &shift[..n]);
            let (dy, x, out) = (&dy[..n], &x[..n], &mut out[..n]);
            for c in 0..n {
                out[c] = scale[c].fma::<A>(dy[c], slope[c].fma::<A>(x[c].minus(mean[c]), shift[c]));
            }
        }
    }
}

/// Which two sums; `d = x - centre`.
#[derive(Clone, Copy)]
enum Terms {
    /// `d` and `d²`.
    Moments,
    /// `dy` and `dy d`.
    Gradients,
}

/// Two sums for each channel, over fixed groups of the outer axis that are added in order.
fn channel_sums<T: Real>(x: &[T], dy: &[T], sizes: Sizes, centre: &[T], terms: Terms) -> Vec<[f64; 2]> {
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
        dispatch(Sums { x, dy, channels, inner, centre, terms, sums });
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
    channels: usize,
    inner: usize,
    centre: &'a [T],
    terms: Terms,
    sums: &'a mut [[f64; 2]],
}

impl<T: Real> Kernel for Sums<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();
    #[inline(always)]
    fn run<A: Arch>(self) {
        match self.terms {
            Terms::Moments => self.add(|_, d| [d, d.times(d)]),
            Terms::Gradients => self.add(|dy, d| [dy, dy.times(d)]),
        }
    }
}

impl<T: Real> Sums<'_, T> {
    #[inline(always)]
    fn add(self, terms: impl Fn(T, T) -> [T; 2] + Copy) {
        if self.inner < LANES {
            self.add_rows(terms);
        } else {
            self.add_planes(terms);
        }
    }

    /// Channel by channel along the inner axis.
    #[inline(always)]
    fn add_planes(self, terms: impl Fn(T, T) -> [T; 2] + Copy) {
        let Self { x, dy, channels, inner, centre, sums, .. } = self;
        for (plane, (x, dy)) in x.chunks_exact(inner).zip(dy.chunks_exact(inner)).enumerate() {
            let channel = plane % channels;
            let centre = centre[channel];
            for (x, dy) in x.chunks(SHORT * LANES).zip(dy.chunks(SHORT * LANES)) {
                let [a, b] = plane_sums(x, dy, centre, terms);
                sums[channel] = [sums[channel][0] + a, sums[channel][1] + b];
            }
        }
    }

    /// All channels of a row at once.
    #[inline(always)]
    fn add_rows(self, terms: impl Fn(T, T) -> [T; 2] + Copy) {
        let Self { x, dy, channels, inner, centre, sums, .. } = self;
        let row = channels * inner;
        let centre: Vec<T> = (0..row).map(|i| centre[i / inner]).collect();
        let mut short = [vec![T::ZERO; row], vec![T::ZERO; row]];
        for (x, dy) in x.chunks(SHORT * row).zip(dy.chunks(SHORT * row)) {
            let [first, second] = short.each_mut().map(Vec::as_mut_slice);
            for (x, dy) in x.chunks_exact(row).zip(dy.chunks_exact(row)) {
                let (centre, first, second) = (&centre[..row], &mut first[..row], &mut second[..row]);
                for i in 0..row {
                    let [a, b] = terms(dy[i], x[i].minus(centre[i]));
                    (first[i], second[i]) = (first[i].plus(a), second[i].plus(b));
                }
            }
            for i in 0..row {
                let sum = &mut sums[i / inner];
                *sum = [sum[0] + first[i].widen(), sum[1] + second[i].widen()];
                (first[i], second[i]) = (T::ZERO, T::ZERO);
            }
        }
    }
}

#[inline(always)]
fn plane_sums<T: Real>(x: &[T], dy: &[T], centre: T, terms: impl Fn(T, T) -> [T; 2] + Copy) -> [f64; 2] {
    let mut lanes = [[T::ZERO; LANES]; 2];
    let [first, second] = &mut lanes;
    let ((x, x_tail), (dy, dy_tail)) = (x.as_chunks::<LANES>(), dy.as_chunks::<LANES>());
    for (x, dy) in x.iter().zip(dy) {
        for i in 0..LANES {
            let [a, b] = terms(dy[i], x[i].minus(centre));
            (first[i], second[i]) = (first[i].plus(a), second[i].plus(b));
        }
    }
    for (i, (&x, &dy)) in x_tail.iter().zip(dy_tail).enumerate() {
        let [a, b] = terms(dy, x.minus(centre));
        (first[i], second[i]) = (first[i].plus(a), second[i].plus(b));
    }
    lanes.map(|lanes| lanes.iter().map(|lane| lane.widen()).sum())
}
