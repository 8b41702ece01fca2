//! Where the elements of an array lie.

use std::ops::Range;

use smallvec::SmallVec;

use crate::selection::Selection;

/// Shape, strides and offset of an array within a block, all in elements.
///
/// ```
/// use burnpy_buffer::{BasicIndex, Layout, Selection};
/// let layout = Layout::contiguous(vec![3, 4]).unwrap();
/// let column = Selection::new(&[3, 4], &[BasicIndex::ALL, BasicIndex::Int(-1)]).unwrap();
/// let view = layout.select(&column).unwrap();
/// assert_eq!((view.shape(), view.strides(), view.offset()), (&[3][..], &[4][..], 3));
/// assert!(!view.is_contiguous());
/// ```
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    pub(crate) shape: Axes<usize>,
    pub(crate) strides: Axes<isize>,
    pub(crate) offset: usize,
}

impl Clone for Layout {
    /// Whole slices at once: what is derived goes axis by axis, and every view and saved input is a clone.
    #[inline]
    fn clone(&self) -> Self {
        let (shape, strides) = (Axes::from_slice(&self.shape), Axes::from_slice(&self.strides));
        Self { shape, strides, offset: self.offset }
    }
}

/// One entry for each axis; in place up to the five axes of a batch of volumes.
pub(crate) type Axes<T> = SmallVec<[T; 5]>;

/// Why an index, a selection or a layout is impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// An integer index outside of its axis.
    OutOfBounds {
        /// Axis of the array that is indexed.
        axis: usize,
        /// The index as given.
        index: i64,
        /// Length of the axis.
        size: u64,
    },
    /// More integers and slices than axes.
    TooManyIndices {
        /// How many were given.
        given: usize,
        /// How many axes there are.
        rank: usize,
    },
    /// A slice whose step is 0.
    ZeroStep {
        /// Axis of the array that is indexed.
        axis: usize,
    },
    /// More than one ellipsis.
    Ellipses {
        /// How many were given.
        given: usize,
    },
    /// A selection made for another shape.
    ShapeMismatch,
    /// Bytes that a copy needs and was not given.
    NotCovered {
        /// First of them.
        start: u64,
        /// How many they are.
        len: u64,
    },
    /// An output that is too short or too long.
    OutputLength {
        /// Bytes that there are to copy.
        expected: u64,
        /// Bytes that there is room for.
        found: u64,
    },
    /// Strides of another number of axes than the shape, or that lead before the block's start.
    Strides,
    /// A size or an offset that the address space does not have.
    Overflow,
}

impl std::fmt::Display for LayoutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OutOfBounds { axis, index, size } => {
                write!(f, "index {index} is out of bounds for axis {axis} with size {size}")
            }
            Self::TooManyIndices { given, rank } => {
                write!(f, "too many indices: the array has {rank} axes, but {given} were indexed")
            }
            Self::ZeroStep { axis } => write!(f, "slice step of axis {axis} is 0"),
            Self::Ellipses { given } => write!(f, "an index can have one ellipsis, got {given}"),
            Self::ShapeMismatch => f.write_str("the selection was made for another shape"),
            Self::NotCovered { start, len } => {
                write!(f, "the {len} bytes at {start} are in none of the ranges")
            }
            Self::OutputLength { expected, found } => {
                write!(f, "output has {found} bytes, the selection {expected}")
            }
            Self::Strides => f.write_str("the strides do not fit the shape and offset"),
            Self::Overflow => f.write_str("the size of the array overflows"),
        }
    }
}

impl std::error::Error for LayoutError {}

impl Layout {
    /// Row-major, without gaps, from the block's start.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`] if the number of elements is over `isize::MAX`.
    pub fn contiguous(shape: impl AsRef<[usize]>) -> Result<Self, LayoutError> {
        let shape = shape.as_ref();
        let strides = row_major_strides(shape).ok_or(LayoutError::Overflow)?;
        Ok(Self { shape: Axes::from_slice(shape), strides, offset: 0 })
    }

    /// The parts as given, from a file or a foreign array. See [`Layout::reach`] for the block's length.
    ///
    /// # Errors
    /// [`LayoutError::Strides`] if there is not one stride for each axis, or if an element would lie before
    /// the block's start; [`LayoutError::Overflow`] if one would lie past `isize::MAX`, or if there are more
    /// elements than that.
    pub fn from_parts(
        shape: impl AsRef<[usize]>,
        strides: impl AsRef<[isize]>,
        offset: usize,
    ) -> Result<Self, LayoutError> {
        let (shape, strides) = (shape.as_ref(), strides.as_ref());
        if shape.len() != strides.len() {
            return Err(LayoutError::Strides);
        }
        row_major_strides(shape).ok_or(LayoutError::Overflow)?;
        let layout = Self { shape: Axes::from_slice(shape), strides: Axes::from_slice(strides), offset };
        layout.checked_reach()?;
        Ok(layout)
    }

    /// Extents of the axes.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Elements from one index to the next, for each axis; negative runs backwards, 0 repeats.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Element of the block at which index (0, 0, …) lies.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements; 1 without axes.
    pub fn num_elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the elements lie in row-major order without gaps, wherever they start.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        self.num_elements() == 0
            || self.shape.iter().zip(&self.strides).rev().all(|(&size, &stride)| {
                let fits = size == 1 || stride == expected;
                expected *= size as isize;
                fits
            })
    }

    /// The elements of the block from the first that is used to the last: a block must have at least
    /// `reach().end` of them. Empty if the array is.
    pub fn reach(&self) -> Range<usize> {
        self.checked_reach().expect("checked when the layout was made")
    }

    /// The layout of what a selection takes from this one. Nothing is copied.
    ///
    /// # Errors
    /// [`LayoutError::ShapeMismatch`] if the selection was made for another shape.
    pub fn select(&self, selection: &Selection) -> Result<Self, LayoutError> {
        let same = |(&size, &other): (&usize, &u64)| size as u64 == other;
        if selection.source_shape().len() != self.rank()
            || !self.shape.iter().zip(selection.source_shape()).all(same)
        {
            return Err(LayoutError::ShapeMismatch);
        }
        let axes = || selection.axes().iter().zip(&self.strides);
        let shape = selection.shape().iter().map(|&size| as_usize(size)).collect::<Result<Axes<_>, _>>()?;
        if shape.contains(&0) {
            // Nothing to point at; a start past the end of its axis must not move the offset.
            return Ok(Self { strides: Axes::from_elem(0, shape.len()), shape, offset: self.offset });
        }
        let steps = axes().map(|(axis, &stride)| stride.checked_mul(isize::try_from(axis.step).ok()?));
        let steps = steps.collect::<Option<Vec<_>>>().ok_or(LayoutError::Overflow)?;
        let strides: Axes<isize> =
            selection.origins().iter().map(|origin| origin.map_or(0, |axis| steps[axis])).collect();
        let offset = axes().try_fold(self.offset, |offset, (axis, &stride)| {
            offset.checked_add_signed(stride.checked_mul(isize::try_from(axis.start).ok()?)?)
        });
        Self::from_parts(shape, strides, offset.ok_or(LayoutError::Overflow)?)
    }

    fn checked_reach(&self) -> Result<Range<usize>, LayoutError> {
        if self.shape.contains(&0) {
            return Ok(self.offset..self.offset);
        }
        let (mut lowest, mut highest) = (self.offset, self.offset);
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            // `size - 1` fits: the number of elements does.
            let way = stride.checked_mul((size - 1) as isize).ok_or(LayoutError::Overflow)?;
            match way {
                ..0 => lowest = lowest.checked_add_signed(way).ok_or(LayoutError::Strides)?,
                0.. => highest = highest.checked_add_signed(way).ok_or(LayoutError::Overflow)?,
            }
        }
        if isize::try_from(highest).is_err() {
            return Err(LayoutError::Overflow);
        }
        Ok(lowest..highest + 1)
    }
}

fn as_usize(size: u64) -> Result<usize, LayoutError> {
    usize::try_from(size).map_err(|_| LayoutError::Overflow)
}

/// Strides of a row-major array, 0 if it is empty; `None` if it has over `isize::MAX` elements.
pub(crate) fn row_major_strides(shape: &[usize]) -> Option<Axes<isize>> {
    let mut strides = Axes::from_elem(0, shape.len());
    if shape.contains(&0) {
        return Some(strides);
    }
    let mut next = 1isize;
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = next;
        next = next.checked_mul(isize::try_from(size).ok()?)?;
    }
    Some(strides)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::BasicIndex::{self, Ellipsis, Int, NewAxis};

    const REVERSED: BasicIndex = BasicIndex::Slice { start: None, stop: None, step: Some(-1) };

    fn select(layout: &Layout, index: &[BasicIndex]) -> Layout {
        let shape: Vec<u64> = layout.shape().iter().map(|&size| size as u64).collect();
        layout.select(&Selection::new(&shape, index).unwrap()).unwrap()
    }

    #[test]
    fn contiguous_layouts_are_row_major_and_say_so() {
        let layout = Layout::contiguous(vec![2, 3, 4]).unwrap();
        assert_eq!((layout.strides(), layout.num_elements()), (&[12, 4, 1][..], 24));
        for shape in [vec![], vec![0], vec![5], vec![2, 0, 4], vec![1, 7, 1]] {
            assert!(Layout::contiguous(shape.clone()).unwrap().is_contiguous(), "{shape:?}");
        }
        assert_eq!(Layout::contiguous(vec![]).unwrap().num_elements(), 1);
    }

    #[test]
    fn the_strides_of_axes_of_size_1_do_not_matter() {
        assert!(Layout::from_parts(vec![1, 3, 1], vec![77, 1, -5], 4).unwrap().is_contiguous());
        assert!(!Layout::from_parts(vec![3, 2], vec![1, 3], 0).unwrap().is_contiguous());
        assert!(!Layout::from_parts(vec![3], vec![0], 0).unwrap().is_contiguous());
    }

    #[test]
    fn a_selection_moves_the_offset_and_multiplies_strides() {
        let layout = Layout::contiguous(vec![3, 4]).unwrap();
        let view = select(&layout, &[REVERSED, NewAxis, Int(1)]);
        assert_eq!((view.shape(), view.strides(), view.offset()), (&[3, 1][..], &[-4, 0][..], 9));
        assert_eq!(view.reach(), 1..10);
        let back = select(&view, &[REVERSED, Int(0)]);
        assert_eq!((back.shape(), back.strides(), back.offset()), (&[3][..], &[4][..], 1));
        assert_eq!(select(&layout, &[Ellipsis]), layout);
    }

    #[test]
    fn an_empty_selection_uses_nothing() {
        let layout = Layout::contiguous(vec![3, 4]).unwrap();
        let none = BasicIndex::Slice { start: Some(9), stop: None, step: None };
        let view = select(&layout, &[none]);
        assert_eq!((view.shape(), view.reach().len(), view.is_contiguous()), (&[0, 4][..], 0, true));
    }

    #[test]
    fn strides_that_leave_the_block_or_the_address_space_are_refused() {
        let from = |shape: &[usize], strides: &[isize], offset| {
            Layout::from_parts(shape, strides, offset).map(|layout| layout.reach())
        };
        assert_eq!(from(&[3], &[-1], 2), Ok(0..3));
        assert_eq!(from(&[3], &[-1], 1), Err(LayoutError::Strides));
        assert_eq!(from(&[3, 2], &[1], 0), Err(LayoutError::Strides));
        assert_eq!(from(&[3], &[isize::MAX], 0), Err(LayoutError::Overflow));
        assert_eq!(from(&[2], &[isize::MAX], 1), Err(LayoutError::Overflow));
        assert_eq!(from(&[1 << 40, 1 << 40], &[0, 0], 0), Err(LayoutError::Overflow));
        assert_eq!(from(&[0, 1 << 40, 1 << 40], &[1, 1, 1], 7), Ok(7..7));
        assert_eq!(Layout::contiguous(vec![1 << 40, 1 << 40]), Err(LayoutError::Overflow));
    }

    #[test]
    fn a_selection_of_another_shape_is_refused() {
        let selection = Selection::new(&[4, 3], &[]).unwrap();
        let layout = Layout::contiguous(vec![3, 4]).unwrap();
        assert_eq!(layout.select(&selection), Err(LayoutError::ShapeMismatch));
    }
}
