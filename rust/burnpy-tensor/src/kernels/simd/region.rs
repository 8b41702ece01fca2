//! Parts of an output matrix, which threads write to at once.

use std::marker::PhantomData;

use crate::parallel;

/// A rectangle of a row-major matrix, borrowed for writing.
pub(crate) struct Region<'a, T> {
    start: *mut T,
    row_stride: usize,
    rows: usize,
    cols: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: it is as good as a `&mut [T]`.
unsafe impl<T: Send> Send for Region<'_, T> {}

impl<'a, T> Region<'a, T> {
    /// The first `rows` rows of `cols` elements, each `row_stride` after the one before.
    ///
    /// # Panics
    /// If rows overlap, or `out` ends before the last one.
    #[inline]
    pub(crate) fn new(out: &'a mut [T], row_stride: usize, rows: usize, cols: usize) -> Self {
        assert!(rows <= 1 || row_stride >= cols, "rows of {cols} elements at a distance of {row_stride}");
        let end = rows.saturating_sub(1).checked_mul(row_stride).and_then(|last| last.checked_add(cols));
        let fits = rows == 0 || end.is_some_and(|end| end <= out.len());
        assert!(
            fits,
            "an output of {} elements for {rows} rows of {cols} at a distance of {row_stride}",
            out.len()
        );
        Self { start: out.as_mut_ptr(), row_stride, rows, cols, borrow: PhantomData }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    pub(super) fn row_stride(&self) -> usize {
        self.row_stride
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut T {
        self.start
    }

    /// The rectangle of `rows` × `cols` at a position, cut at the edges.
    #[inline]
    pub(crate) fn part(&mut self, (row, col): (usize, usize), (rows, cols): (usize, usize)) -> Region<'_, T> {
        assert!(row <= self.rows && col <= self.cols, "({row}, {col}) in {} × {}", self.rows, self.cols);
        let (rows, cols) = (rows.min(self.rows - row), cols.min(self.cols - col));
        // Wrapping, as an empty part at the end may start behind the last element.
        let start = self.start.wrapping_add(row * self.row_stride + col);
        Region { start, row_stride: self.row_stride, rows, cols, borrow: PhantomData }
    }

    /// One row.
    #[inline]
    pub(crate) fn row(&mut self, row: usize) -> &mut [T] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        // SAFETY: the rectangle is inside of the slice that it borrows, and rows do not overlap.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(row * self.row_stride), self.cols) }
    }
}

/// Runs `run(row, col, part)` for the parts of `rows` × `cols` elements that start at `(row, col)`, those at the edges
/// cut; on the threads of [`parallel`] if `shared`.
///
/// # Panics
/// If `rows` or `cols` is 0, or a task panics.
pub(crate) fn for_each_region<T: Send>(
    mut out: Region<'_, T>,
    (rows, cols): (usize, usize),
    shared: bool,
    run: impl Fn(usize, usize, Region<'_, T>) + Sync,
) {
    let (down, across) = (out.rows.div_ceil(rows), out.cols.div_ceil(cols));
    if !shared || down * across <= 1 {
        for task in 0..down * across {
            let (row, col) = (task / across * rows, task % across * cols);
            run(row, col, out.part((row, col), (rows, cols)));
        }
        return;
    }
    let shape = (out.rows, out.cols, out.row_stride);
    let start = Start(out.start);
    parallel::for_each(down * across, |task| {
        let (row, col) = (task / across * rows, task % across * cols);
        let (all_rows, all_cols, row_stride) = shape;
        let mut whole =
            Region { start: start.get(), row_stride, rows: all_rows, cols: all_cols, borrow: PhantomData };
        // The parts are disjoint, and each is given out once.
        run(row, col, whole.part((row, col), (rows, cols)));
    });
}

/// Where the output starts, for all threads.
struct Start<T>(*mut T);

// SAFETY: used for disjoint parts only, of elements that may be sent.
unsafe impl<T: Send> Sync for Start<T> {}

impl<T> Start<T> {
    fn get(&self) -> *mut T {
        self.0
    }
}
