//! Reductions along any axes of a strided array, without a copy.
//!
//! Work is cut into segments of a size that depends on the shape and strides alone; their results are joined in
//! order.

use burnpy_buffer::Layout;
use smallvec::SmallVec;

use super::number::Number;
use super::reduce::{Fold, fold_slice};
use super::strided::Odometer;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Elements of a segment, and of a task.
const SEGMENT: usize = 32 << 10;

/// Columns that are folded at once.
const BLOCK: usize = 256;

type Axes = SmallVec<[(usize, isize); 5]>;

/// Which elements go into which result.
#[derive(Debug)]
pub struct Folding {
    offset: usize,
    /// Axes of the results.
    kept: Axes,
    /// Axes that vanish. The order of their elements is that of memory.
    folded: Axes,
}

impl Folding {
    /// `None` if along neither kind of axes elements lie side by side; a copy in row-major order has that.
    pub fn new(layout: &Layout, axes: &[usize]) -> Option<Self> {
        let of = |folded: bool| {
            let axes = (0..layout.rank()).filter(move |axis| axes.contains(axis) == folded);
            let axes = axes.map(|axis| (layout.shape()[axis], layout.strides()[axis]));
            axes.filter(|&(size, _)| size != 1).collect::<Axes>()
        };
        let (kept, mut folded) = (merged(of(false)), of(true));
        folded.sort_by_key(|&(_, stride)| std::cmp::Reverse(stride));
        let folded = merged(folded);
        let unit = |axes: &Axes| axes.last().is_none_or(|&(_, stride)| stride == 1);
        let side_by_side = match (kept.is_empty(), folded.is_empty()) {
            (true, _) => unit(&folded),
            (false, true) => unit(&kept),
            _ => unit(&folded) || unit(&kept),
        };
        side_by_side.then_some(Self { offset: layout.offset(), kept, folded })
    }

    fn is_by_rows(&self) -> bool {
        self.folded.last().is_some_and(|&(_, stride)| stride == 1) || self.kept.is_empty()
    }
}

fn merged(axes: Axes) -> Axes {
    let mut joined = Axes::new();
    for (size, stride) in axes {
        match joined.last_mut() {
            Some(outer) if outer.1 == stride * size as isize => *outer = (outer.0 * size, stride),
            _ => joined.push((size, stride)),
        }
    }
    joined
}

fn count(axes: &[(usize, isize)]) -> usize {
    axes.iter().map(|&(size, _)| size).product()
}

/// `out[i]` = the fold of all elements that go into result `i`, in row-major order of the kept axes.
///
/// # Panics
/// If there is nothing to fold into a result, `out` does not have one element a result, or the block is too short.
pub fn fold_strided<T: Number, F: Fold<T>>(fold: F, block: &[T], folding: &Folding, out: &mut [T]) {
    assert_eq!(out.len(), count(&folding.kept));
    if out.is_empty() {
        return;
    }
    assert_ne!(count(&folding.folded), 0, "nothing to fold");
    if folding.is_by_rows() {
        by_rows(fold, block, folding, out);
    } else {
        by_columns(fold, block, folding, out);
    }
}

/// Elements of a result lie side by side.
fn by_rows<T: Number, F: Fold<T>>(fold: F, block: &[T], folding: &Folding, out: &mut [T]) {
    let (&(inner, _), outer) = folding.folded.split_last().unwrap_or((&(1, 1), &[]));
    let segments = Segments::new(count(outer), inner);
    let rows = |first_result: usize, segment: usize, to: &mut [F::Wide]| {
        let results = Odometer::new(&folding.kept, folding.offset, first_result);
        dispatch(Rows { fold, block, results, outer, segment: segments.get(segment), to });
    };
    if segments.count == 1 {
        let results = (SEGMENT / segments.elements).clamp(1, BLOCK);
        return parallel::chunks_mut(out, results, |i, out| {
            let mut sums = [F::START; BLOCK];
            rows(i * results, 0, &mut sums[..out.len()]);
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out = fold.finish(sum));
        });
    }
    for (result, out) in out.iter_mut().enumerate() {
        let mut parts = vec![F::START; segments.count];
        parallel::chunks_mut(&mut parts, 1, |segment, part| rows(result, segment, part));
        *out = fold.finish(parts.into_iter().fold(F::START, |a, b| fold.join(a, b)));
    }
}

/// How the elements of a result are cut: rows are cut themselves if they are long, else taken together.
#[derive(Clone, Copy)]
struct Segments {
    count: usize,
    /// In each, about.
    elements: usize,
    inner: usize,
    rows: usize,
    /// Rows of a segment, or parts of a row.
    rows_each: usize,
    cuts: usize,
}

struct Segment {
    first_row: usize,
    rows: usize,
    from: usize,
    len: usize,
}

impl Segments {
    fn new(rows: usize, inner: usize) -> Self {
        let cuts = inner.div_ceil(SEGMENT).max(1);
        let rows_each = if cuts > 1 { 1 } else { (SEGMENT / inner.max(1)).max(1) };
        let count = rows.div_ceil(rows_each) * cuts;
        let elements = rows_each.min(rows) * inner.min(SEGMENT);
        Self { count, elements: elements.max(1), inner, rows, rows_each, cuts }
    }

    fn get(self, segment: usize) -> Segment {
        let first_row = segment / self.cuts * self.rows_each;
        let from = segment % self.cuts * SEGMENT;
        let rows = self.rows_each.min(self.rows - first_row);
        Segment { first_row, rows, from, len: (self.inner - from).min(SEGMENT) }
    }
}

/// One segment of some results that follow each other.
struct Rows<'a, T: Number, F: Fold<T>> {
    fold: F,
    block: &'a [T],
    results: Odometer<'a>,
    outer: &'a [(usize, isize)],
    segment: Segment,
    to: &'a mut [F::Wide],
}

impl<T: Number, F: Fold<T>> Kernel for Rows<'_, T, F> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { fold, block, mut results, outer, segment, to } = self;
        for to in to {
            let mut row = Odometer::new(outer, results.position(), segment.first_row);
            *to = F::START;
            for _ in 0..segment.rows {
                let x = &block[row.position() + segment.from..][..segment.len];
                *to = fold.join(*to, fold_slice::<A, T, F>(fold, x));
                row.advance();
            }
            results.advance();
        }
    }
}

/// Results lie side by side as their elements do.
fn by_columns<T: Number, F: Fold<T>>(fold: F, block: &[T], folding: &Folding, out: &mut [T]) {
    let (&(columns, _), outer) = folding.kept.split_last().expect("kept axes");
    let rows = count(&folding.folded);
    // Narrow arrays: more rows a segment, so that a segment is worth a task.
    let rows_each = (SEGMENT / columns.min(BLOCK)).max(1);
    let segments = rows.div_ceil(rows_each);
    let band =
        |group: usize, from: usize, width: usize, segment: usize, to: &mut dyn FnMut(usize, F::Wide)| {
            let start = Odometer::new(outer, folding.offset, group).position() + from;
            let first_row = segment * rows_each;
            let rows = rows_each.min(rows - first_row);
            dispatch(Columns { fold, block, start, width, axes: &folding.folded, first_row, rows, to });
        };
    if segments == 1 {
        let blocks = (SEGMENT / (rows * columns.min(BLOCK))).max(1);
        let groups = if columns <= BLOCK { blocks } else { 1 };
        return parallel::chunks_mut(out, groups * columns, |i, out| {
            for (group, out) in out.chunks_mut(columns).enumerate() {
                let group = i * groups + group;
                parallel::chunks_mut(out, blocks * BLOCK, |j, out| {
                    for (k, out) in out.chunks_mut(BLOCK).enumerate() {
                        let (from, width) = ((j * blocks + k) * BLOCK, out.len());
                        band(group, from, width, 0, &mut |column, sum| out[column] = fold.finish(sum));
                    }
                });
            }
        });
    }
    let blocks = columns.div_ceil(BLOCK);
    for (group, out) in out.chunks_mut(columns).enumerate() {
        let parts = parallel::map(blocks * segments, |task| {
            let (from, segment) = (task / segments * BLOCK, task % segments);
            let width = BLOCK.min(columns - from);
            let mut sums = Vec::with_capacity(width);
            band(group, from, width, segment, &mut |_, sum| sums.push(sum));
            sums
        });
        for (out, parts) in out.chunks_mut(BLOCK).zip(parts.chunks(segments)) {
            for (column, out) in out.iter_mut().enumerate() {
                let sums = parts.iter().map(|sums| sums[column]);
                *out = fold.finish(sums.fold(F::START, |a, b| fold.join(a, b)));
            }
        }
    }
}

struct Columns<'a, T: Number, F: Fold<T>> {
    fold: F,
    block: &'a [T],
    start: usize,
    width: usize,
    axes: &'a [(usize, isize)],
    first_row: usize,
    rows: usize,
    to: &'a mut dyn FnMut(usize, F::Wide),
}

impl<T: Number, F: Fold<T>> Kernel for Columns<'_, T, F> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { fold, block, start, width, axes, first_row, rows, to } = self;
        let mut sums = [F::START; BLOCK];
        let sums = &mut sums[..width];
        let mut row = Odometer::new(axes, start, first_row);
        let mut next = || {
            let x = &block[row.position()..][..width];
            row.advance();
            x
        };
        // Four at once: the partial results are read and written for each fourth row only.
        for _ in 0..rows / 4 {
            let (a, b, c, d) = (next(), next(), next(), next());
            for i in 0..width {
                sums[i] = fold.step(fold.step(fold.step(fold.step(sums[i], a[i]), b[i]), c[i]), d[i]);
            }
        }
        for _ in 0..rows % 4 {
            sums.iter_mut().zip(next()).for_each(|(sum, &x)| *sum = fold.step(*sum, x));
        }
        sums.iter().enumerate().for_each(|(column, &sum)| to(column, sum));
    }
}
