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
