//! Scaled dot-product attention of one head, in blocks of queries whose scores stay in the cache.
//!
//! `S = cap(scale Q·Kᵀ) + bias`, −∞ where masked; `P = softmax(S)` row by row, zeros for a row of only −∞; `O = P·V`.

use super::gemm::{Epilogue, GemmElement, MatRef, gemm};
use super::number::Real;
use super::reduce::{Sum, fold_slice};
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Bytes of a block of scores: half of a second-level cache of 512 KiB.
const BLOCK_BYTES: usize = 256 << 10;

/// Numbers that attention is computed with.
pub trait AttentionElement: Real + GemmElement {}
impl<T: Real + GemmElement> AttentionElement for T {}

/// Sizes of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of Q and O.
    pub queries: usize,
    /// Rows of K and V.
    pub keys: usize,
    /// Columns of Q and K.
    pub width: usize,
    /// Columns of V and O.
    pub values: usize,
}

impl Sizes {
    /// Queries of a block.
    pub fn block_rows<T>(&self) -> usize {
        (BLOCK_BYTES / (self.keys.max(1) * size_of::<T>())).clamp(16, 128)
    }
}

/// How scores are made.
#[derive(Debug, Clone, Copy)]
pub struct Scoring {
    /// The factor of the products.
    pub scale: f64,
    /// `c` of `c tanh(s / c)`.
    pub softcap: Option<f64>,
    /// Whether query `i` sees keys up to `i + keys - queries` only.
    pub causal: bool,
}

/// The operands of one head.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a, T> {
    /// Q, `[queries, width]`.
    pub query: MatRef<'a, T>,
    /// K, `[keys, width]`.
    pub key: MatRef<'a, T>,
    /// V, `[keys, values]`.
    pub value: MatRef<'a, T>,
    /// `[queries, keys]`, not 0 where a key is hidden.
    pub mask: Option<MatRef<'a, u8>>,
    /// `[queries, keys]`, added to the scores.
    pub bias: Option<MatRef<'a, T>>,
    /// The sizes.
    pub sizes: Sizes,
    /// How scores are made.
    pub scoring: Scoring,
}

/// What the gradient needs of a row of scores: its maximum `m`, and `1 / Σ e^(s - m)`, 0 for a row of only −∞.
pub type RowStats<T> = [T; 2];

fn down<T>(matrix: MatRef<'_, T>, rows: usize) -> MatRef<'_, T> {
    let offset = matrix.offset.wrapping_add_signed(rows as isize * matrix.row_stride);
    MatRef { offset, ..matrix }
}

impl<'a, T: AttentionElement> Head<'a, T> {
    /// Keys that any of the queries before `end` sees.
    fn visible(&self, end: usize) -> usize {
        let Sizes { queries, keys, .. } = self.sizes;
        if self.scoring.causal { (end + keys).saturating_sub(queries).min(keys) } else { keys }
    }

    /// `scale Q·Kᵀ` of some queries and the first `n` keys.
    fn products(&self, first: usize, rows: usize, n: usize) -> Vec<T> {
        let mut scores = vec![T::ZERO; rows * n];
        let (query, key) = (down(self.query, first), self.key.transposed());
        gemm(rows, self.sizes.width, n, query, key, &mut scores, n, false, &Epilogue::default());
        scores
    }

    fn rows(&self, first: usize, n: usize) -> Rows<'a, T> {
        let grid = |matrix: Option<MatRef<'a, T>>| matrix.map(|matrix| down(matrix, first));
        let Sizes { queries, keys, .. } = self.sizes;
        let last = self.scoring.causal.then_some(first as isize + keys as isize - queries as isize);
        let mask = self.mask.map(|mask| down(mask, first));
        Rows { mask, bias: grid(self.bias), scoring: self.scoring, last, n }
    }

    /// O of queries from `first` on, as many as there are `stats`; rows of `out` are `stride` apart, and so are those of
    /// `stats`.
    ///
    /// # Panics
    /// If an operand is too short.
    pub fn forward(
        &self,
        first: usize,
        (out, stride): (&mut [T], usize),
        (stats, stats_stride): (&mut [RowStats<T>], usize),
    ) {
        let rows = stats.len().div_ceil(stats_stride);
        let n = self.visible(first + rows);
        let mut scores = self.products(first, rows, n);
        if n > 0 {
            let stats = stats.iter_mut().step_by(stats_stride);
            dispatch(Soften { scores: &mut scores, rows: self.rows(first, n), stats });
        }
        let p = MatRef::row_major(&scores, n);
        gemm(rows, n, self.sizes.values, p, self.value, out, stride, false, &Epilogue::default());
    }

    /// Adds the gradients of `rows` queries from `first` on, given those of O. With `D = dO·Vᵀ` and
    /// `dS = P (D - Σ D P)`, `dZ` what is left of it before the cap:
    /// `dQ = scale dZ·K`, `dK += scale dZᵀ·Q`, `dV += Pᵀ·dO`, `dbias = dS`.
    ///
    /// # Panics
    /// If an operand is too short.
    pub fn backward(
        &self,
        (first, rows): (usize, usize),
        gradient: MatRef<'_, T>,
        stats: impl Iterator<Item = RowStats<T>>,
        into: &mut Gradients<'_, T>,
    ) {
        let Sizes { keys, width, values, .. } = self.sizes;
        let n = self.visible(first + rows);
        if n == 0 {
            return;
        }
        let none = Epilogue::default();
        let mut scores = self.products(first, rows, n);
        let gradient = down(gradient, first);
        let mut slopes = vec![T::ZERO; rows * n];
        gemm(rows, values, n, gradient, self.value.transposed(), &mut slopes, n, false, &none);
        let bias = into.bias.as_deref_mut().map(|bias| &mut bias[first * keys..]);
        let rows_of = self.rows(first, n);
        dispatch(Slopes { scores: &mut scores, slopes: &mut slopes, rows: rows_of, stats, bias, keys });
        let (p, dz) = (MatRef::row_major(&scores, n), MatRef::row_major(&slopes, n));
        let query = &mut into.query[first * into.query_stride..];
        gemm(rows, n, width, dz, self.key, query, into.query_stride, false, &none);
        let queries = down(self.query, first);
        gemm(n, rows, width, dz.transposed(), queries, into.key, into.key_stride, true, &none);
        gemm(n, rows, values, p.transposed(), gradient, into.value, into.value_stride, true, &none);
    }
}

/// Where gradients go. Those of K and V are added to, the others written; rows are strides apart.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// dQ.
    pub query: &'a mut [T],
    /// From a row of dQ to the next.
    pub query_stride: usize,
    /// dK.
    pub key: &'a mut [T],
    /// From a row of dK to the next.
    pub key_stride: usize,
    /// dV.
    pub value: &'a mut [T],
    /// From a row of dV to the next.
    pub value_stride: usize,
    /// `[queries, keys]`, zeros where nothing is written.
    pub bias: Option<&'a mut [T]>,
}

/// What rows of scores are made of, but for the products.
#[derive(Clone, Copy)]
struct Rows<'a, T> {
    mask: Option<MatRef<'a, u8>>,
    bias: Option<MatRef<'a, T>>,
    scoring: Scoring,
    /// The last key that the first row sees.
    last: Option<isize>,
    n: usize,
}

impl<T: Real> Rows<'_, T> {
    /// Products become scores; `tanh` takes that of the cap, if there is one.
    #[inline(always)]
    fn finish<A: Arch>(&self, row: usize, scores: &mut [T], tanh: &mut [T]) {
        let scale = T::from_f64(self.scoring.scale);
        if let Some(cap) = self.scoring.softcap {
            let (inner, cap) = (T::from_f64(self.scoring.scale / cap), T::from_f64(cap));
            for (score, tanh) in scores.iter_mut().zip(tanh) {
                *tanh = score.times(inner).tanh::<A>();
                *score = cap.times(*tanh);
            }
        } else {
            scores.iter_mut().for_each(|score| *score = score.times(scale));
        }
        if let Some(bias) = self.bias {
            let (from, step) = (down(bias, row).offset, bias.col_stride);
            if step == 1 {
                scores
                    .iter_mut()
                    .zip(&bias.data[from..])
                    .for_each(|(score, &bias)| *score = score.plus(bias));
            } else {
                let at = |i: usize| from.wrapping_add_signed(i as isize * step);
                scores.iter_mut().enumerate().for_each(|(i, score)| *score = score.plus(bias.data[at(i)]));
            }
        }
        if let Some(mask) = self.mask {
            let (from, step) = (down(mask, row).offset, mask.col_stride);
            let hide = |score: T, hidden: u8| if hidden != 0 { T::LOWEST } else { score };
            if step == 1 {
                scores
                    .iter_mut()
                    .zip(&mask.data[from..])
                    .for_each(|(score, &hidden)| *score = hide(*score, hidden));
            } else {
                let at = |i: usize| from.wrapping_add_signed(i as isize * step);
                scores.iter_mut().enumerate().for_each(|(i, score)| *score = hide(*score, mask.data[at(i)]));
            }
        }
        if let Some(last) = self.last {
            let seen = usize::try_from(last + row as isize + 1).unwrap_or(0);
            scores.iter_mut().skip(seen).for_each(|score| *score = T::LOWEST);
        }
    }
}

/// Products become probabilities.
struct Soften<'a, T, I> {
    scores: &'a mut [T],
    rows: Rows<'a, T>,
    stats: I,
}

impl<'a, T: Real, I: Iterator<Item = &'a mut RowStats<T>>> Kernel for Soften<'a, T, I> {
    type Output = ();
    const COPIES: Copies = T::COPIES;

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { scores, rows, stats } = self;
        let mut tanh = vec![T::ZERO; if rows.scoring.softcap.is_some() { rows.n } else { 0 }];
        for (row, (scores, stats)) in scores.chunks_exact_mut(rows.n).zip(stats).enumerate() {
            rows.finish::<A>(row, scores, &mut tanh);
            let max = largest(scores);
            if max == T::LOWEST && scores.iter().all(|score| !score.is_nan()) {
                scores.fill(T::ZERO);
                *stats = [T::ZERO, T::ZERO];
                continue;
            }
            scores.iter_mut().for_each(|score| *score = score.minus(max).exp::<A>());
            let share = T::from_f64(1.0 / fold_slice::<A, T, _>(Sum, scores));
            scores.iter_mut().for_each(|score| *score = score.times(share));
            *stats = [max, share];
        }
    }
}

/// The largest, as far as there are numbers.
#[inline(always)]
fn largest<T: Real>(x: &[T]) -> T {
    let larger = |a: T, b: T| if b > a { b } else { a };
    let mut lanes = [T::LOWEST; 16];
    let (whole, rest) = x.as_chunks::<16>();
    for x in whole {
        lanes.iter_mut().zip(x).for_each(|(lane, &x)| *lane = larger(*lane, x));
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, &x)| *lane = larger(*lane, x));
    lanes.into_iter().fold(T::LOWEST, larger)
}

/// Products become probabilities again, and gradients of probabilities those of the products.
struct Slopes<'a, 'b, T, I> {
    scores: &'a mut [T],
    slopes: &'a mut [T],
    rows: Rows<'a, T>,
    stats: I,
    bias: Option<&'b mut [T]>,
    keys: usize,
}

impl<T: Real, I: Iterator<Item = RowStats<T>>> Kernel for Slopes<'_, '_, T, I> {
    type Output = ();
    const COPIES: Copies = T::COPIES;

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { scores, slopes, rows, stats, mut bias, keys } = self;
        let scale = T::from_f64(rows.scoring.scale);
        let mut tanh = vec![T::ZERO; if rows.scoring.softcap.is_some() { rows.n } else { 0 }];
        let both = scores.chunks_exact_mut(rows.n).zip(slopes.chunks_exact_mut(rows.n));
        for (row, ((p, ds), [max, share])) in both.zip(stats).enumerate() {
            rows.finish::<A>(row, p, &mut tanh);
            p.iter_mut().for_each(|p| *p = p.minus(max).exp::<A>().times(share));
            // `tilted` ends as D P, for a sum in lanes.
            let tilted: &mut [T] = ds;
            tilted.iter_mut().zip(p.iter()).for_each(|(d, &p)| *d = d.times(p));
            let total = T::from_f64(fold_slice::<A, T, _>(Sum, tilted));
            tilted.iter_mut().zip(p.iter()).for_each(|(d, &p)| *d = d.minus(p.times(total)));
            if let Some(bias) = bias.as_deref_mut() {
                bias[row * keys..][..rows.n].copy_from_slice(tilted);
            }
            for (d, &tanh) in tilted.iter_mut().zip(&tanh) {
                *d = d.times(T::ONE.minus(tanh.times(tanh)));
            }
            tilted.iter_mut().for_each(|d| *d = d.times(scale));
        }
    }
}
