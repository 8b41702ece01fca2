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

/// Runs `run(index, region)` for each of several matrices in `out`, whose first elements are `axes` apart: lengths and
/// strides, outermost first. On the threads of [`parallel`] if `shared`, `per_task` matrices at a time.
///
/// # Panics
/// If matrices overlap or are not in `out`, or a task panics.
pub(crate) fn for_each_matrix<T: Send>(
    out: &mut [T],
    axes: &[(usize, usize)],
    (rows, cols, row_stride): (usize, usize, usize),
    per_task: Option<usize>,
    run: impl Fn(usize, Region<'_, T>) + Sync,
) {
    let count: usize = axes.iter().map(|&(len, _)| len).product();
    if count == 0 || rows == 0 || cols == 0 {
        return;
    }
    check_apart(out.len(), axes, (rows, cols, row_stride));
    let start = Start(out.as_mut_ptr());
    let matrix = |index: usize| {
        let (mut rest, mut at) = (index, 0);
        for &(len, stride) in axes.iter().rev() {
            at += rest % len * stride;
            rest /= len;
        }
        // The matrices are disjoint, and each is given out once.
        run(
            index,
            Region { start: start.get().wrapping_add(at), row_stride, rows, cols, borrow: PhantomData },
        );
    };
    match per_task {
        None => (0..count).for_each(matrix),
        Some(few) => {
            let few = few.max(1);
            parallel::for_each(count.div_ceil(few), |task| {
                (task * few..count.min(task * few + few)).for_each(&matrix);
            });
        }
    }
}

/// # Panics
/// Unless each stride steps over all that the smaller ones reach, and the last element is in the output.
fn check_apart(len: usize, axes: &[(usize, usize)], (rows, cols, row_stride): (usize, usize, usize)) {
    let mut axes: Vec<(u128, u128)> = axes
        .iter()
        .chain(&[(rows, row_stride), (cols, 1)])
        .map(|&(len, stride)| (stride as u128, len as u128))
        .filter(|&(_, len)| len > 1)
        .collect();
    axes.sort_unstable();
    let mut last = 0;
    for (stride, len) in axes {
        assert!(stride > last, "outputs at a distance of {stride} overlap: they reach {last} elements on");
        last += (len - 1) * stride;
    }
    assert!(last < len as u128, "an output of {len} elements, of which number {last} is to be written");
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
