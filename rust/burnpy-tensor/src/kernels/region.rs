//! A part of a dense array, and what lies around it.

use crate::parallel;

/// Elements of a task.
const CHUNK: usize = 64 << 10;

/// Along one axis: `count` indices from `start` on, `step` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first index; 0 if there is none.
    pub start: usize,
    /// From one to the next; may be negative, not 0.
    pub step: isize,
    /// How many.
    pub count: usize,
}

impl Span {
    /// A whole axis.
    pub const fn whole(size: usize) -> Self {
        Self { start: 0, step: 1, count: size }
    }

    /// The `k`-th index.
    fn index(&self, k: usize) -> usize {
        (self.start as isize + k as isize * self.step) as usize
    }
}

/// Elements of a shape: all the same, or row-major in a slice.
#[derive(Debug, Clone, Copy)]
pub enum Fill<'a, T> {
    /// The same number everywhere.
    With(T),
    /// One for each.
    From(&'a [T]),
}

impl<T: Copy> Fill<'_, T> {
    /// The elements from `at` on.
    #[inline(always)]
    fn write(&self, at: usize, out: &mut [T]) {
        match self {
            Self::With(number) => out.fill(*number),
            Self::From(all) => out.copy_from_slice(&all[at..at + out.len()]),
        }
    }

    #[inline(always)]
    fn get(&self, at: usize) -> T {
        match self {
            Self::With(number) => *number,
            Self::From(all) => all[at],
        }
    }
}

/// Writes an array of a shape: `inside` at the indices that `spans` (one for each axis) name, `around` elsewhere.
/// `inside` has the shape of the spans' counts, `around` that of `out`.
///
/// # Panics
/// If the lengths do not fit, or a span leaves its axis.
pub fn embed<T: Copy + Send + Sync>(
    shape: &[usize],
    spans: &[Span],
    inside: Fill<'_, T>,
    around: Fill<'_, T>,
    out: &mut [T],
) {
    assert_eq!(out.len(), shape.iter().product::<usize>());
    if out.is_empty() {
        return;
    }
    let mut axes = merged(shape, spans);
    let row = axes.pop().unwrap_or((1, Span::whole(1)));
    if axes.is_empty() {
        // One row: cut it itself, unless its elements are picked one by one.
        let len = if row.1.step == 1 { CHUNK } else { out.len() };
        return parallel::chunks_mut(out, len, |i, part| {
            around_and_inside(part, i * len, 0, Some(0), row.1, (&inside, &around));
        });
    }
    let tables: Vec<Vec<usize>> = axes.iter().map(|&(size, span)| places(size, span)).collect();
    let counts: Vec<usize> = axes.iter().map(|&(_, span)| span.count).collect();
    let rows = (CHUNK / row.0).max(1);
    parallel::chunks_mut(out, rows * row.0, |i, part| {
        let mut index = start_index(&tables, i * rows);
        for (r, part) in part.chunks_exact_mut(row.0).enumerate() {
            let within = index.iter().zip(&tables).map(|(&i, table)| table[i]);
            let source = within
                .zip(&counts)
                .try_fold(0, |row, (place, &count)| (place != OUTSIDE).then(|| row * count + place));
            let source = source.map(|source_row| source_row * row.1.count);
            around_and_inside(part, 0, (i * rows + r) * row.0, source, row.1, (&inside, &around));
            advance(&mut index, &tables);
        }
    });
}

/// An index that no span names.
const OUTSIDE: usize = usize::MAX;

/// For each index of an axis, which one of the span it is.
fn places(size: usize, span: Span) -> Vec<usize> {
    let mut places = vec![OUTSIDE; size];
    (0..span.count).for_each(|k| places[span.index(k)] = k);
    places
}

fn start_index(tables: &[Vec<usize>], mut row: usize) -> Vec<usize> {
    let mut index = vec![0; tables.len()];
    for (i, table) in index.iter_mut().zip(tables).rev() {
        *i = row % table.len();
        row /= table.len();
    }
    index
}

#[inline(always)]
fn advance(index: &mut [usize], tables: &[Vec<usize>]) {
    for (i, table) in index.iter_mut().zip(tables).rev() {
        *i += 1;
        if *i < table.len() {
            return;
        }
        *i = 0;
    }
}

/// A part of a row that begins at element `from` of it; the row itself at `at` of `around`, and its span, if there is
/// one, at `source` of `inside`.
#[inline(always)]
fn around_and_inside<T: Copy>(
    part: &mut [T],
    from: usize,
    at: usize,
    source: Option<usize>,
    span: Span,
    (inside, around): (&Fill<'_, T>, &Fill<'_, T>),
) {
    let len = part.len();
    let Some(source) = source else { return around.write(at + from, part) };
    if span.step == 1 {
        let start = span.start.clamp(from, from + len) - from;
        let end = (span.start + span.count).clamp(from, from + len) - from;
        around.write(at + from, &mut part[..start]);
        if start < end {
            inside.write(source + from + start - span.start, &mut part[start..end]);
        }
        return around.write(at + from + end, &mut part[end..]);
    }
    around.write(at, part);
    (0..span.count).for_each(|k| part[span.index(k)] = inside.get(source + k));
}

/// Sizes and spans of the fewest axes that say the same: one that is taken whole joins the one before.
fn merged(shape: &[usize], spans: &[Span]) -> Vec<(usize, Span)> {
    let mut joined: Vec<(usize, Span)> = Vec::with_capacity(shape.len());
    for (&size, &span) in shape.iter().zip(spans).rev() {
        let span = Span { step: if span.count < 2 { 1 } else { span.step }, ..span };
        match joined.last_mut() {
            Some((inner, whole)) if *whole == Span::whole(*inner) && span.step == 1 => {
                let span = Span { start: span.start * *inner, step: 1, count: span.count * *inner };
                (*inner, *whole) = (size * *inner, span);
            }
            _ => joined.push((size, span)),
        }
    }
    joined.reverse();
    joined
}

/// Adds the elements of a part to those of the whole that the spans name.
pub(crate) fn add_part<T: Copy + std::ops::Add<Output = T>>(
    shape: &[usize],
    spans: &[Span],
    part: &[T],
    whole: &mut [T],
) {
    let cut = (0..shape.len()).rev().find(|&axis| spans[axis] != Span::whole(shape[axis])).unwrap_or(0);
    let inner: usize = shape.iter().skip(cut + 1).product();
    let along = spans.get(cut).copied().unwrap_or(Span::whole(1));
    // Rows that lie together in both; every index of the cut axis is one, unless they follow each other.
    let (rows, row) = if along.step == 1 { (1, along.count * inner) } else { (along.count, inner) };
    if row == 0 {
        return;
    }
    let outer: usize = spans.iter().take(cut).map(|span| span.count).product();
    for (place, part) in part.chunks_exact(row).enumerate().take(outer * rows) {
        let (mut index, mut offset, mut stride) =
            (place / rows, 0, inner * shape.get(cut).copied().unwrap_or(1));
        let first = along.start.wrapping_add_signed(along.step.wrapping_mul((place % rows) as isize));
        for axis in (0..cut).rev() {
            let span = spans[axis];
            let at = span.start.wrapping_add_signed(span.step.wrapping_mul((index % span.count) as isize));
            offset += at * stride;
            index /= span.count;
            stride *= shape[axis];
        }
        let from = offset + first * inner;
        for (sum, &more) in whole[from..from + row].iter_mut().zip(part) {
            *sum = *sum + more;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn span(size: usize) -> impl Strategy<Value = Span> {
        (0..size, 1..4isize, any::<bool>(), 0..=size).prop_map(move |(start, step, back, count)| {
            let step = if back { -step } else { step };
            let room = if back { start } else { size - 1 - start };
            let most = room / step.unsigned_abs() + 1;
            Span { start, step, count: count.min(most) }
        })
    }

    proptest! {
        #[test]
        fn a_region_lands_where_its_spans_say(
            (shape, spans) in prop::collection::vec(1usize..6, 0..4).prop_flat_map(|shape| {
                let spans: Vec<_> = shape.iter().map(|&size| {
                    prop_oneof![span(size), Just(Span::whole(size))]
                }).collect();
                (Just(shape), spans)
            }),
        ) {
            let total: usize = shape.iter().product();
            let counts: Vec<usize> = spans.iter().map(|span| span.count).collect();
            let inside: Vec<usize> = (0..counts.iter().product()).map(|i| 1000 + i).collect();
            let around: Vec<usize> = (0..total).collect();
            let mut expected = around.clone();
            for (k, &number) in inside.iter().enumerate() {
                let (mut left, mut at, mut stride) = (k, 0, 1);
                for axis in (0..shape.len()).rev() {
                    at += spans[axis].index(left % counts[axis]) * stride;
                    left /= counts[axis];
                    stride *= shape[axis];
                }
                expected[at] = number;
            }
            let mut sum = around.clone();
            add_part(&shape, &spans, &inside, &mut sum);
            let added = |at: usize| if expected[at] == at { at } else { at + expected[at] };
            prop_assert_eq!(sum, (0..total).map(added).collect::<Vec<_>>());
            let mut out = vec![7; total];
            embed(&shape, &spans, Fill::From(&inside), Fill::From(&around), &mut out);
            prop_assert_eq!(out, expected);
        }
    }

    #[test]
    fn a_long_row_is_cut() {
        let span = Span { start: CHUNK - 3, step: 1, count: 2 * CHUNK };
        let inside: Vec<u32> = (0..span.count as u32).map(|i| i + 1).collect();
        let mut out = vec![9; 4 * CHUNK + 5];
        embed(&[4 * CHUNK + 5], &[span], Fill::From(&inside), Fill::With(0), &mut out);
        assert!(out[..span.start].iter().chain(&out[span.start + span.count..]).all(|&x| x == 0));
        assert_eq!(out[span.start..span.start + span.count], inside);
    }
}
