//! Weighted sums of elements along an axis: averages of windows, interpolation, and their transposes.

use super::conv::ConvElement;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// For each output the inputs that are summed, with their weights.
///
/// ```
/// use burnpy_tensor::kernels::resample::Taps;
/// let taps = Taps::new(2, |o| (o..o + 2).map(|i| (i, 0.5)));
/// assert_eq!(taps.of(1), [(1, 0.5), (2, 0.5)]);
/// assert_eq!(taps.transposed(3).of(1), [(0, 0.5), (1, 0.5)]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Taps {
    ends: Vec<usize>,
    items: Vec<(usize, f64)>,
}

impl Taps {
    /// Those that `of` lists.
    pub fn new<I: IntoIterator<Item = (usize, f64)>>(outputs: usize, of: impl Fn(usize) -> I) -> Self {
        let (mut ends, mut items) = (Vec::with_capacity(outputs), Vec::new());
        for o in 0..outputs {
            items.extend(of(o));
            ends.push(items.len());
        }
        Self { ends, items }
    }

    /// How many outputs there are.
    pub fn outputs(&self) -> usize {
        self.ends.len()
    }

    /// The inputs of an output, and their weights.
    pub fn of(&self, o: usize) -> &[(usize, f64)] {
        let start = o.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start..self.ends[o]]
    }

    /// For each of `inputs` inputs the outputs that it is summed to.
    ///
    /// # Panics
    /// If there are more inputs than that.
    pub fn transposed(&self, inputs: usize) -> Self {
        let mut ends = vec![0; inputs];
        for &(i, _) in &self.items {
            ends[i] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            let count = std::mem::replace(end, sum);
            sum += count;
        }
        let mut items = vec![(0, 0.0); self.items.len()];
        for o in 0..self.outputs() {
            for &(i, weight) in self.of(o) {
                items[ends[i]] = (o, weight);
                ends[i] += 1;
            }
        }
        Self { ends, items }
    }
}

/// `out[.., o, ..] = Σ weight · x[.., i, ..]`: `x` is `[outer][inputs][inner]`, `out` `[outer][outputs][inner]`.
///
/// # Panics
/// If a slice has another length than the sizes say.
pub fn resample<T: ConvElement>(
    taps: &Taps,
    weight: impl Fn(f64) -> T + Copy + Send + Sync,
    inputs: usize,
    inner: usize,
    x: &[T],
    out: &mut [T],
) {
    if out.is_empty() {
        return;
    }
    let outputs = taps.outputs();
    // Crosswise, so that no inputs are no rows of an unknown number.
    assert_eq!(x.len() as u128 * outputs as u128, out.len() as u128 * inputs as u128, "as many rows");
    let work = inner * taps.items.len().div_ceil(outputs).max(1);
    let rows = (64 << 10) / work + 1;
    parallel::chunks_mut(out, rows * inner, |i, out| {
        dispatch(Rows { taps, weight, inputs, inner, x, first: i * rows, out });
    });
}

struct Rows<'a, T, W> {
    taps: &'a Taps,
    weight: W,
    inputs: usize,
    inner: usize,
    x: &'a [T],
    first: usize,
    out: &'a mut [T],
}

impl<T: ConvElement, W: Fn(f64) -> T> Kernel for Rows<'_, T, W> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { taps, weight, inputs, inner, x, first, out } = self;
        let (mut outer, mut o) = (first / taps.outputs(), first % taps.outputs());
        for out in out.chunks_exact_mut(inner) {
            let x = &x[outer * inputs * inner..][..inputs * inner];
            if let [out] = out {
                *out = T::ZERO;
                for &(i, tap) in taps.of(o) {
                    *out = x[i].fma::<A>(weight(tap), *out);
                }
            } else {
                out.fill(T::ZERO);
                for &(i, tap) in taps.of(o) {
                    let tap = weight(tap);
                    for (out, &x) in out.iter_mut().zip(&x[i * inner..][..inner]) {
                        *out = x.fma::<A>(tap, *out);
                    }
                }
            }
            o += 1;
            if o == taps.outputs() {
                (outer, o) = (outer + 1, 0);
            }
        }
    }
}
