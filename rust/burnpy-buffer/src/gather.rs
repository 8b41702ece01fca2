//! The elements of a selection, copied together from what was read.

use std::ops::Range;

use crate::layout::LayoutError;
use crate::selection::Selection;

impl Selection {
    /// Copies what is taken to `out`, row-major. `parts` are the bytes of `ranges`, one for one: those of
    /// [`Selection::row_ranges`], or the whole tensor as a single one.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`]; [`LayoutError::NotCovered`] if the parts lack bytes that are taken;
    /// [`LayoutError::OutputLength`].
    pub fn gather<P: AsRef<[u8]>>(
        &self,
        item_size: u64,
        ranges: &[Range<u64>],
        parts: &[P],
        out: &mut [u8],
    ) -> Result<(), LayoutError> {
        let spans = self.spans(item_size)?;
        let expected = self.num_elements().checked_mul(item_size).ok_or(LayoutError::Overflow)?;
        if expected != out.len() as u64 {
            return Err(LayoutError::OutputLength { expected, found: out.len() as u64 });
        }
        if expected == 0 {
            return Ok(());
        }
        let walk = Walk { selection: self, spans, depth: self.depth(true) };
        walk.visit(0, 0, &mut Gather { ranges, parts, last: 0, out })
    }
}

/// Goes through a selection that takes something, in the order of the result.
struct Walk<'a> {
    selection: &'a Selection,
    spans: Vec<u64>,
    depth: usize,
}

impl Walk<'_> {
    fn visit<P: AsRef<[u8]>>(
        &self,
        level: usize,
        base: u64,
        out: &mut Gather<'_, P>,
    ) -> Result<(), LayoutError> {
        if level == self.depth {
            return out.copy(base, self.spans[level]);
        }
        let (axis, row) = (self.selection.axes()[level], self.spans[level + 1]);
        if level + 1 == self.depth && axis.step == 1 {
            return out.copy(base + axis.start * row, axis.count * row);
        }
        (0..axis.count).try_for_each(|k| self.visit(level + 1, base + axis.index(k) * row, out))
    }
}

/// The copy in progress: where bytes come from, and what is still to fill.
struct Gather<'a, P> {
    ranges: &'a [Range<u64>],
    parts: &'a [P],
    /// The range of the last copy: most often that of the next one.
    last: usize,
    out: &'a mut [u8],
}

impl<'a, P: AsRef<[u8]>> Gather<'a, P> {
    /// Moves the `len` bytes at `start` of the tensor to the output. They are in one range, as they are
    /// without a gap and ranges are not adjacent.
    fn copy(&mut self, start: u64, len: u64) -> Result<(), LayoutError> {
        let bytes = self.find(start, len).ok_or(LayoutError::NotCovered { start, len })?;
        let (filled, rest) = std::mem::take(&mut self.out).split_at_mut(bytes.len());
        filled.copy_from_slice(bytes);
        self.out = rest;
        Ok(())
    }

    fn find(&mut self, start: u64, len: u64) -> Option<&'a [u8]> {
        if !self.ranges.get(self.last)?.contains(&start) {
            self.last = self.ranges.partition_point(|range| range.end <= start);
        }
        let from = usize::try_from(start.checked_sub(self.ranges.get(self.last)?.start)?).ok()?;
        self.parts.get(self.last)?.as_ref().get(from..)?.get(..usize::try_from(len).ok()?)
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "one range is what is meant")]
mod tests {
    use super::*;
    use crate::selection::BasicIndex;

    #[test]
    fn what_is_taken_comes_in_the_order_of_the_result() {
        let reversed = BasicIndex::Slice { start: None, stop: None, step: Some(-1) };
        let selection = Selection::new(&[2, 3], &[reversed, reversed]).unwrap();
        let mut out = [0; 6];
        selection.gather(1, &[0..2, 2..6], &[&[0, 1][..], &[2, 3, 4, 5]], &mut out).unwrap();
        assert_eq!(out, [5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn missing_bytes_and_wrong_outputs_are_errors() {
        let selection = Selection::new(&[4], &[]).unwrap();
        let mut out = [0; 8];
        let not_covered = Err(LayoutError::NotCovered { start: 0, len: 8 });
        let short: &[u8] = &[0; 7];
        assert_eq!(selection.gather(2, &[0..8], &[short], &mut out), not_covered);
        assert_eq!(selection.gather(2, &[1..9], &[&[0; 8]], &mut out), not_covered);
        assert_eq!(selection.gather::<&[u8]>(2, &[], &[], &mut out), not_covered);
        assert_eq!(selection.gather::<&[u8]>(2, &[0..8], &[], &mut out), not_covered);
        assert_eq!(
            selection.gather(2, &[0..8], &[&[0; 8]], &mut out[..7]),
            Err(LayoutError::OutputLength { expected: 8, found: 7 })
        );
    }
}
