//! Matrices in slices.

/// A matrix in a slice: element `(i, j)` is `data[offset + i * row_stride + j * col_stride]`. Strides may be negative,
/// or 0 for an axis that is broadcast.
#[derive(Debug)]
pub struct MatRef<'a, T> {
    /// Where the elements are.
    pub data: &'a [T],
    /// Where element `(0, 0)` is.
    pub offset: usize,
    /// From a row to the next.
    pub row_stride: isize,
    /// From a column to the next.
    pub col_stride: isize,
}

// Derived, they would ask the same of `T`.
impl<T> Clone for MatRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for MatRef<'_, T> {}

impl<'a, T> MatRef<'a, T> {
    /// Any matrix.
    pub fn new(data: &'a [T], offset: usize, row_stride: isize, col_stride: isize) -> Self {
        Self { data, offset, row_stride, col_stride }
    }

    /// Rows of `cols` elements, one after the other.
    pub fn row_major(data: &'a [T], cols: usize) -> Self {
        Self::new(data, 0, cols as isize, 1)
    }

    /// The same elements with rows for columns.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { row_stride: self.col_stride, col_stride: self.row_stride, ..self }
    }

    /// The matrix from `(row, col)` on, which must be one of its elements.
    pub(super) fn at(self, row: usize, col: usize) -> Self {
        let at = row as isize * self.row_stride + col as isize * self.col_stride;
        Self { offset: self.offset.wrapping_add_signed(at), ..self }
    }

    /// # Panics
    /// If an element is not in the slice.
    pub(super) fn check(&self, which: &str, rows: usize, cols: usize) {
        if rows == 0 || cols == 0 {
            return;
        }
        let extent = |len: usize, stride: isize| (len as i128 - 1) * stride as i128;
        let (down, across) = (extent(rows, self.row_stride), extent(cols, self.col_stride));
        let first = self.offset as i128 + down.min(0) + across.min(0);
        let last = self.offset as i128 + down.max(0) + across.max(0);
        assert!(
            first >= 0 && last < self.data.len() as i128,
            "the {which} operand, {rows} × {cols}, spans elements {first} to {last} of {}",
            self.data.len()
        );
    }
}
