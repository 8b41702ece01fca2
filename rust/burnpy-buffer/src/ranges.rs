//! Where the bytes of a selection lie: what to read of a file.

use std::ops::Range;

use crate::layout::LayoutError;
use crate::selection::Selection;

/// Rows up to this size are read whole, even if only a part of each is wanted: one more read costs about as
/// much as the bytes that it saves.
const WHOLE_ROW_BYTES: u64 = 64 << 10;

/// Over this number of ranges, those less than a page apart are joined: `x[::2]` of 10⁸ numbers would be
/// 800 MB of ranges, to skip bytes that no disk can skip.
const MAX_EXACT_RANGES: usize = 1 << 16;
const PAGE: u64 = 4096;

impl Selection {
    /// Byte ranges, relative to the tensor's start, that cover what is taken: ascending, no two adjacent.
    ///
    /// They hold the selected rows of the first axis and no others. Within a row they are narrowed to what is
    /// taken of the next axes, axis by axis, if there is only one row, or if rows are over 64 KiB; smaller
    /// rows are covered whole. Where that makes more than 65,536 ranges, those less than 4 KiB apart are
    /// joined.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`] if the array has more than 2⁶⁴ − 1 bytes.
    pub fn row_ranges(&self, item_size: u64) -> Result<Vec<Range<u64>>, LayoutError> {
        let cover = Cover { selection: self, spans: self.spans(item_size)?, depth: self.depth(false) };
        if self.num_elements() == 0 {
            return Ok(Vec::new());
        }
        let mut exact = Ranges { ranges: Vec::new(), gap: 0, limit: MAX_EXACT_RANGES };
        if cover.visit(0, 0, &mut exact).is_some() {
            return Ok(exact.ranges);
        }
        let mut joined = Ranges { ranges: Vec::new(), gap: PAGE, limit: usize::MAX };
        cover.visit(0, 0, &mut joined);
        Ok(joined.ranges)
    }
}

/// Finds the byte ranges of a selection that takes something. No sum overflows: all lie within the array.
struct Cover<'a> {
    selection: &'a Selection,
    spans: Vec<u64>,
    depth: usize,
}

impl Cover<'_> {
    /// Covers what is taken of the sub-array at `base`, whose first axis is `level`; `None` when there are
    /// too many ranges.
    fn visit(&self, level: usize, base: u64, out: &mut Ranges) -> Option<()> {
        if level == self.depth {
            return out.push(base..base + self.spans[level]);
        }
        let (axis, row) = (self.selection.axes()[level], self.spans[level + 1]);
        let narrow = level + 1 < self.depth && (axis.count == 1 || row > WHOLE_ROW_BYTES);
        if !narrow && axis.is_run() {
            let lowest = if axis.step < 0 { axis.index(axis.count - 1) } else { axis.start };
            return out.push(base + lowest * row..base + (lowest + axis.count) * row);
        }
        axis.ascending().try_for_each(|index| match base + index * row {
            start if narrow => self.visit(level + 1, start, out),
            start => out.push(start..start + row),
        })
    }
}

/// Ascending ranges, joined when the gap between two is 0, or less than `gap`.
struct Ranges {
    ranges: Vec<Range<u64>>,
    gap: u64,
    limit: usize,
}

impl Ranges {
    fn push(&mut self, range: Range<u64>) -> Option<()> {
        let full = self.ranges.len() == self.limit;
        match self.ranges.last_mut() {
            Some(last) if range.start - last.end < self.gap.max(1) => last.end = range.end,
            _ if full => return None,
            _ => self.ranges.push(range),
        }
        Some(())
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "one range is what is meant")]
mod tests {
    use super::*;
    use crate::selection::BasicIndex::{self, Int};

    const ALL: BasicIndex = BasicIndex::ALL;

    fn slice(start: i64, stop: i64, step: i64) -> BasicIndex {
        BasicIndex::Slice { start: Some(start), stop: Some(stop), step: Some(step) }
    }

    fn ranges(shape: &[u64], index: &[BasicIndex], item_size: u64) -> Vec<Range<u64>> {
        Selection::new(shape, index).unwrap().row_ranges(item_size).unwrap()
    }

    #[test]
    fn neighbouring_rows_are_one_range_and_others_are_apart() {
        assert_eq!(ranges(&[10, 3], &[], 4), [0..120]);
        assert_eq!(ranges(&[10, 3], &[slice(2, 5, 1)], 4), [24..60]);
        assert_eq!(ranges(&[10, 3], &[slice(4, 1, -1)], 4), [24..60]);
        assert_eq!(ranges(&[10, 3], &[slice(0, 10, 4)], 4), [0..12, 48..60, 96..108]);
        assert_eq!(ranges(&[10, 3], &[slice(9, 0, -4)], 4), [12..24, 60..72, 108..120]);
        assert_eq!(ranges(&[], &[], 4), [0..4]);
        assert_eq!(ranges(&[10, 3], &[slice(3, 3, 1)], 4), []);
        assert_eq!(ranges(&[0, 3], &[], 4), []);
    }

    #[test]
    fn small_rows_are_whole_unless_there_is_only_one() {
        assert_eq!(ranges(&[10, 3], &[slice(2, 4, 1), Int(1)], 4), [24..48]);
        assert_eq!(ranges(&[10, 3], &[Int(2), Int(1)], 4), [28..32]);
        assert_eq!(ranges(&[10, 3], &[slice(2, 3, 1), slice(0, 3, 2)], 4), [24..28, 32..36]);
        assert_eq!(ranges(&[2, 10, 3], &[Int(1), slice(2, 4, 1), Int(0)], 4), [144..168]);
    }

    #[test]
    fn large_rows_are_narrowed_axis_by_axis() {
        let row = 4 * 30_000;
        assert_eq!(
            ranges(&[3, 30_000], &[ALL, Int(5)], 4),
            [20..24, row + 20..row + 24, 2 * row + 20..2 * row + 24]
        );
        // Rows of the second axis are small again.
        let x = ranges(&[2, 300, 100], &[ALL, slice(10, 12, 1), Int(5)], 4);
        assert_eq!(x, [4000..4800, 124_000..124_800]);
        // The last row's end meets the next one's start.
        assert_eq!(ranges(&[2, 30_000], &[ALL, slice(0, 30_000, 1)], 4), [0..2 * row]);
    }

    #[test]
    fn very_many_ranges_are_joined_if_less_than_a_page_lies_between() {
        let every_other = [slice(0, i64::MAX, 2)];
        assert_eq!(ranges(&[131_072], &every_other, 4).len(), 65_536);
        assert_eq!(ranges(&[131_073], &every_other, 4), [0..131_073 * 4]);
        assert_eq!(ranges(&[131_073], &every_other, 4096).len(), 65_537);
    }

    #[test]
    fn arrays_over_the_address_space_are_an_overflow_unless_empty() {
        let selection = Selection::new(&[1 << 40, 1 << 20], &[Int(-1), Int(-1)]).unwrap();
        assert_eq!(selection.row_ranges(8).unwrap(), [(1 << 63) - 8..1 << 63]);
        assert_eq!(selection.row_ranges(16), Err(LayoutError::Overflow));
        assert_eq!(ranges(&[1 << 40, 0, 1 << 40], &[], 8), []);
    }
}
