//! Parts of a payload: reads what an index takes, and no more.

use std::ops::Range;

use burnpy_buffer::{AlignedBuf, Bytes, DType, LayoutError, Selection};

use crate::error::{Error, Result};
use crate::reader::{Entry, Reader};

impl Reader {
    /// The elements that a selection takes, row-major: a window where they lie together and the source has windows,
    /// else read into aligned memory.
    ///
    /// # Errors
    /// `ValidationError` for a quantized tensor, whose elements are packed, and for a selection made for another
    /// shape; `IoError`.
    pub fn select(&self, entry: &Entry<'_>, selection: &Selection) -> Result<Bytes> {
        self.select_unlocated(entry, selection).map_err(|error| self.located(error).with_tensor(entry.name()))
    }

    fn select_unlocated(&self, entry: &Entry<'_>, selection: &Selection) -> Result<Bytes> {
        let item = item_size(entry.dtype())?;
        if selection.source_shape() != entry.shape() {
            return Err(layout_error(&LayoutError::ShapeMismatch));
        }
        let ranges = selection.row_ranges(item).map_err(|error| layout_error(&error))?;
        let offset = self.data_start() + entry.start();
        let placed: Vec<_> = ranges.iter().map(|range| offset + range.start..offset + range.end).collect();
        let mut parts = self.source().read_ranges(&placed)?;
        if is_all_of(selection, item, &ranges) {
            return Ok(parts.pop().unwrap_or_default());
        }
        let len = usize::try_from(selection.num_elements().saturating_mul(item));
        let len = len.map_err(|_| layout_error(&LayoutError::Overflow))?;
        let mut out = AlignedBuf::try_for_overwrite(len)?;
        selection.gather(item, &ranges, &parts, &mut out).map_err(|error| layout_error(&error))?;
        Ok(out.into())
    }
}

/// Whether one range holds what is taken, in the order in which it is taken.
fn is_all_of(selection: &Selection, item: u64, ranges: &[Range<u64>]) -> bool {
    let forward = selection.axes().iter().all(|axis| axis.step > 0);
    let [range] = ranges else { return ranges.is_empty() };
    forward && range.end - range.start == selection.num_elements().saturating_mul(item)
}

fn item_size(dtype: DType) -> Result<u64> {
    let size = dtype.size().map(|size| size as u64);
    size.ok_or_else(|| Error::validation("a quantized tensor has no single elements to take"))
}

fn layout_error(error: &LayoutError) -> Error {
    Error::validation(error.to_string())
}
