//! NumPy's basic indexing, as numbers: which elements an index takes. Where their bytes lie is in `ranges`.

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
    /// First index taken; 0 if there is none.
    pub start: u64,
    /// Distance to the next one; negative runs backwards, never 0, and 1 if there is no next one.
    pub step: i64,
    /// How many are taken.
    pub count: u64,
}

impl AxisSelection {
    fn at(index: i64, axis: usize, size: u64) -> Result<Self, LayoutError> {
        let from_start = if index < 0 { i128::from(index) + i128::from(size) } else { i128::from(index) };
        match u64::try_from(from_start) {
            Ok(start) if start < size => Ok(Self { start, step: 1, count: 1 }),
            _ => Err(LayoutError::OutOfBounds { axis, index, size }),
        }
    }

    /// Python's `slice.indices`, in integers that hold the sum of an `i64` and a `u64`.
    fn slice(start: Option<i64>, stop: Option<i64>, step: i64, size: u64) -> Self {
        let size = i128::from(size);
        let (lowest, highest) = if step < 0 { (-1, size - 1) } else { (0, size) };
        let clip = |bound: i64| {
            let bound = i128::from(bound);
            if bound < 0 { (bound + size).max(lowest) } else { bound.min(highest) }
        };
        let (first, end) = if step < 0 { (highest, lowest) } else { (lowest, highest) };
        let (start, stop) = (start.map_or(first, clip), stop.map_or(end, clip));
        let span = if step < 0 { start - stop } else { stop - start };
        let count = if span > 0 { (span - 1) / i128::from(step).abs() + 1 } else { 0 };
        Self {
            start: if count > 0 { start as u64 } else { 0 },
            step: if count > 1 { step } else { 1 },
            count: count as u64,
        }
    }

    /// The `k`-th index taken. Both casts are exact for `k < count`: the index lies within the axis.
    pub(crate) fn index(&self, k: u64) -> u64 {
        (i128::from(self.start) + i128::from(self.step) * i128::from(k)) as u64
    }

    /// The indices taken, lowest first.
    pub(crate) fn ascending(self) -> impl Iterator<Item = u64> {
        (0..self.count).map(move |k| self.index(if self.step < 0 { self.count - 1 - k } else { k }))
    }

    /// Whether the indices taken are neighbours.
    pub(crate) fn is_run(&self) -> bool {
        self.step.unsigned_abs() == 1
    }
}

/// The elements that an index takes from a row-major array, and the shape of the result.
///
/// ```
/// use burnpy_buffer::{BasicIndex, Selection};
/// let rows = BasicIndex::Slice { start: Some(-3), stop: None, step: Some(2) };
/// let x = Selection::new(&[10, 4], &[rows, BasicIndex::NewAxis]).unwrap(); // x[-3::2, None]
/// assert_eq!(x.shape(), [2, 1, 4]);
/// assert_eq!(x.row_ranges(4).unwrap(), [112..128, 144..160]); // rows 7 and 9
/// assert!(Selection::new(&[10, 4], &[BasicIndex::Int(10)]).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selection {
    source: Vec<u64>,
    axes: Vec<AxisSelection>,
    /// For each axis of the result, the one of the source that it comes from, if it is no new one.
    origins: Vec<Option<usize>>,
    shape: Vec<u64>,
}

impl Selection {
    /// What `index` takes from an array of this shape; axes without an entry are taken whole.
    ///
    /// # Errors
    /// [`LayoutError`]: an index out of bounds, too many entries, a step of 0, a second ellipsis, or a result
    /// with over 2⁶⁴ − 1 elements.
    pub fn new(source: &[u64], index: &[BasicIndex]) -> Result<Self, LayoutError> {
        let mut axes = Vec::with_capacity(source.len());
        let mut origins = Vec::with_capacity(source.len());
        for entry in expand(index, source.len())? {
            let axis = axes.len();
            match entry {
                BasicIndex::NewAxis => origins.push(None),
                BasicIndex::Int(index) => axes.push(AxisSelection::at(index, axis, source[axis])?),
                BasicIndex::Slice { step: Some(0), .. } => return Err(LayoutError::ZeroStep { axis }),
                BasicIndex::Slice { start, stop, step } => {
                    axes.push(AxisSelection::slice(start, stop, step.unwrap_or(1), source[axis]));
                    origins.push(Some(axis));
                }
                BasicIndex::Ellipsis => unreachable!("expanded into slices"),
            }
        }
        let shape: Vec<u64> =
            origins.iter().map(|origin| origin.map_or(1, |axis| axes[axis].count)).collect();
        num_elements(&shape).ok_or(LayoutError::Overflow)?;
        Ok(Self { source: source.to_vec(), axes, origins, shape })
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

    /// For each axis of the result, the axis of the source that it comes from; `None` for a new one.
    pub fn origins(&self) -> &[Option<usize>] {
        &self.origins
    }

    /// Number of elements taken.
    pub fn num_elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Bytes of the whole array, of one index of axis 0, of axis 1, …, of one element. An array without
    /// elements has none to measure.
    pub(crate) fn spans(&self, item_size: u64) -> Result<Vec<u64>, LayoutError> {
        if self.source.contains(&0) {
            return Ok(vec![0; self.source.len() + 1]);
        }
        let mut spans = vec![item_size];
        for &size in self.source.iter().rev() {
            let inner = spans[spans.len() - 1];
            spans.push(inner.checked_mul(size).ok_or(LayoutError::Overflow)?);
        }
        spans.reverse();
        Ok(spans)
    }

    /// How many leading axes matter: those after are taken whole, and `in_order` if that is asked for.
    pub(crate) fn depth(&self, in_order: bool) -> usize {
        let whole =
            |(axis, &size): (&AxisSelection, &u64)| axis.count == size && (axis.step == 1 || !in_order);
        self.axes.len() - self.axes.iter().zip(&self.source).rev().take_while(|&pair| whole(pair)).count()
    }
}

/// The index with an entry for every axis, the ellipsis spelt out.
fn expand(index: &[BasicIndex], rank: usize) -> Result<Vec<BasicIndex>, LayoutError> {
    let of_kind = |kind: BasicIndex| index.iter().filter(|&&entry| entry == kind).count();
    let ellipses = of_kind(BasicIndex::Ellipsis);
    if ellipses > 1 {
        return Err(LayoutError::Ellipses { given: ellipses });
    }
    let given = index.len() - ellipses - of_kind(BasicIndex::NewAxis);
    let missing = rank.checked_sub(given).ok_or(LayoutError::TooManyIndices { given, rank })?;
    let at = index.iter().position(|&entry| entry == BasicIndex::Ellipsis).unwrap_or(index.len());
    let mut expanded = index.to_vec();
    expanded.splice(at..at + ellipses, std::iter::repeat_n(BasicIndex::ALL, missing));
    Ok(expanded)
}

/// The product, which is 0 as soon as one axis is; `None` if it overflows.
fn num_elements(shape: &[u64]) -> Option<u64> {
    if shape.contains(&0) { Some(0) } else { shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: BasicIndex = BasicIndex::ALL;

    fn indices(size: u64, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<u64> {
        let axis = AxisSelection::slice(start, stop, step, size);
        (0..axis.count).map(|k| axis.index(k)).collect()
    }

    #[test]
    fn slices_take_what_python_takes() {
        type Bound = Option<i64>;
        let cases: [(Bound, Bound, i64, &[u64]); 15] = [
            (None, None, 1, &[0, 1, 2, 3, 4]),
            (None, None, -1, &[4, 3, 2, 1, 0]),
            (Some(1), Some(4), 2, &[1, 3]),
            (Some(-2), None, 1, &[3, 4]),
            (None, Some(-2), 1, &[0, 1, 2]),
            (Some(-99), Some(99), 3, &[0, 3]),
            (Some(99), Some(-99), -2, &[4, 2, 0]),
            (Some(3), Some(3), 1, &[]),
            (Some(3), Some(1), 1, &[]),
            (Some(1), Some(3), -1, &[]),
            (Some(5), None, 1, &[]),
            (Some(-6), None, -1, &[]),
            (Some(2), Some(-1), -1, &[]),
            (None, None, i64::MAX, &[0]),
            (None, None, i64::MIN, &[4]),
        ];
        for (start, stop, step, expected) in cases {
            assert_eq!(indices(5, start, stop, step), expected, "[{start:?}:{stop:?}:{step}]");
        }
        assert_eq!(indices(0, None, None, -1), []);
        assert_eq!(indices(u64::MAX, Some(-1), None, 1), [u64::MAX - 1]);
        assert_eq!(indices(u64::MAX, None, None, i64::MIN), [u64::MAX - 1, (1 << 63) - 2]);
    }

    #[test]
    fn entries_name_axes_from_the_left_and_after_the_ellipsis_from_the_right() {
        use BasicIndex::{Ellipsis, Int, NewAxis};
        let cases: [(&[BasicIndex], &[u64]); 8] = [
            (&[], &[2, 3, 4]),
            (&[Int(0)], &[3, 4]),
            (&[Ellipsis, Int(-1)], &[2, 3]),
            (&[NewAxis, ALL, NewAxis, Int(2)], &[1, 2, 1, 4]),
            (&[Ellipsis, NewAxis], &[2, 3, 4, 1]),
            (&[Int(1), Int(1), Int(1)], &[]),
            (&[Int(1), Ellipsis, Int(1), Int(1)], &[]),
            (&[ALL, ALL, ALL, Ellipsis, NewAxis], &[2, 3, 4, 1]),
        ];
        for (index, shape) in cases {
            let selection = Selection::new(&[2, 3, 4], index).unwrap();
            assert_eq!(selection.shape(), shape, "{index:?}");
            assert_eq!(selection.num_elements(), shape.iter().product::<u64>());
        }
        assert_eq!(Selection::new(&[], &[Ellipsis, NewAxis]).unwrap().shape(), [1]);
    }

    #[test]
    fn impossible_indices_say_what_is_wrong() {
        use BasicIndex::{Ellipsis, Int};
        let no_step = BasicIndex::Slice { start: None, stop: None, step: Some(0) };
        let cases: [(&[BasicIndex], &str); 6] = [
            (&[Int(2)], "index 2 is out of bounds for axis 0 with size 2"),
            (&[ALL, Int(-4)], "index -4 is out of bounds for axis 1 with size 3"),
            (
                &[Ellipsis, Int(i64::MIN)],
                "index -9223372036854775808 is out of bounds for axis 1 with size 3",
            ),
            (&[Int(0), Int(0), Int(0)], "too many indices: the array has 2 axes, but 3 were indexed"),
            (&[ALL, no_step], "slice step of axis 1 is 0"),
            (&[Ellipsis, Ellipsis], "an index can have one ellipsis, got 2"),
        ];
        for (index, message) in cases {
            assert_eq!(Selection::new(&[2, 3], index).unwrap_err().to_string(), message);
        }
        assert_eq!(Selection::new(&[1 << 40, 1 << 40], &[]), Err(LayoutError::Overflow));
        assert!(Selection::new(&[1 << 40, 1 << 40, 0], &[]).is_ok());
    }
}
