//! The innermost loops of convolutions, the same for all registers: tiles of sums that stay in registers while the
//! products of several runs of two operands are added to them.

use super::vector::Vector;
use crate::simd::{Level, level};

/// `len` products that follow each other: step `p` multiplies row `i` of the left operand, at
/// `left + i * row_stride + p * left_step`, with the columns of the right one at `right + p * right_step`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) left: usize,
    pub(crate) right: usize,
    pub(crate) len: usize,
}

/// What a tile's sums begin with.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a, T> {
    /// One number a column: [`Slide::cols`] of them.
    Columns(&'a [T]),
    /// What is in the output.
    Output,
}

/// Runs, and how far they reach.
pub(crate) struct Runs {
    list: Vec<Run>,
    left_step: usize,
    right_step: usize,
    left_end: usize,
    right_end: usize,
}

impl Runs {
    /// Runs whose steps are that far apart.
    pub(crate) fn new(list: Vec<Run>, left_step: usize, right_step: usize) -> Self {
        let list: Vec<Run> = list.into_iter().filter(|run| run.len > 0).collect();
        let end = |start: usize, len: usize, step: usize| {
            let reach = (len - 1).checked_mul(step).and_then(|reach| reach.checked_add(start));
            reach.expect("runs are in memory")
        };
        let left_end = list.iter().map(|run| end(run.left, run.len, left_step)).max();
        let right_end = list.iter().map(|run| end(run.right, run.len, right_step)).max();
        Self {
            list,
            left_step,
            right_step,
            left_end: left_end.unwrap_or(0),
            right_end: right_end.unwrap_or(0),
        }
    }
}

/// One row of tiles: `rows` rows of an output, as many columns as `out` says.
pub(crate) struct Sums<'a, T> {
    pub(crate) rows: usize,
    pub(crate) left: &'a [T],
    /// Where the runs' left offsets count from.
    pub(crate) left_at: usize,
    pub(crate) row_stride: usize,
    /// All [`Slide::cols`] numbers of each step must be there.
    pub(crate) right: &'a [T],
    pub(crate) runs: &'a Runs,
    pub(crate) start: Start<'a, T>,
    pub(crate) relu: bool,
}

/// Where sums go: rows of `cols` numbers, `row_stride` apart, from `at` on.
pub(crate) struct Target<'a, T> {
    pub(crate) data: &'a mut [T],
    pub(crate) at: usize,
    pub(crate) row_stride: usize,
    pub(crate) cols: usize,
}

/// A kernel that adds up runs.
pub(crate) struct Slide<T> {
    /// Rows of a tile.
    pub(crate) rows: usize,
    /// Columns of a tile.
    pub(crate) cols: usize,
    run: unsafe fn(&Call<T>),
}

impl<T: Copy + Default> Slide<T> {
    /// `out = relu(start + Σ left · right)`. An element's products are added in the order of runs and steps, whatever
    /// tile it is in.
    ///
    /// # Panics
    /// If a run is not in its operand, or the output not in its slice.
    #[inline]
    pub(crate) fn run(&self, sums: &Sums<'_, T>, out: Target<'_, T>) {
        let (rows, cols, runs) = (sums.rows, out.cols, sums.runs);
        if rows == 0 || cols == 0 {
            return;
        }
        let left_end = sums.left_at + runs.left_end + (rows - 1) * sums.row_stride;
        assert!(cols <= self.cols, "{cols} columns in tiles of {}", self.cols);
        assert!(runs.list.is_empty() || left_end < sums.left.len(), "the left operand is too short");
        assert!(
            runs.list.is_empty() || runs.right_end + self.cols <= sums.right.len(),
            "the right operand is too short"
        );
        assert!(
            out.at + (rows - 1) * out.row_stride + cols <= out.data.len(),
            "the output is too short for {rows} rows"
        );
        let columns = match sums.start {
            Start::Columns(columns) => {
                assert!(columns.len() >= self.cols, "not as many numbers as columns");
                Some(columns.as_ptr())
            }
            Start::Output => None,
        };
        let call = Call {
            rows,
            cols,
            height: rows.div_ceil(rows.div_ceil(self.rows)),
            left: sums.left[sums.left_at.min(sums.left.len())..].as_ptr(),
            row_stride: sums.row_stride,
            left_step: runs.left_step,
            right: sums.right.as_ptr(),
            right_step: runs.right_step,
            runs: &runs.list,
            out: out.data[out.at..].as_mut_ptr(),
            out_stride: out.row_stride,
            columns,
            relu: sums.relu,
        };
        // SAFETY: the level is in use, so the CPU has its instructions; the checks above are what `Call` asks for.
        unsafe { (self.run)(&call) }
    }
}

/// Arguments of a kernel. All that they reach is valid: the runs of `rows` rows on the left, whole tiles' columns on
/// the right and in `columns`, `rows` × `cols` of the output.
pub(super) struct Call<'a, T> {
    rows: usize,
    cols: usize,
    height: usize,
    left: *const T,
    row_stride: usize,
    left_step: usize,
    right: *const T,
    right_step: usize,
    runs: &'a [Run],
    out: *mut T,
    out_stride: usize,
    columns: Option<*const T>,
    relu: bool,
}

/// Numbers that there are such kernels for.
pub trait SlideElement: Copy + Default + 'static {
    /// The kernel of the level in use.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "nobody outside of the crate can name or use it")]
    fn slide() -> Slide<Self>;
}

macro_rules! slide_element {
    ($element:ty, $run:ident, $portable:ty, $neon:ty) => {
        impl SlideElement for $element {
            #[inline]
            #[allow(private_interfaces, reason = "as above")]
            fn slide() -> Slide<Self> {
                match level() {
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => {
                        use super::conv_x86::avx512::{ROWS, $run};
                        let cols = super::gemm_avx512::REGISTERS * 64 / size_of::<Self>();
                        Slide { rows: ROWS, cols, run: $run }
                    }
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => {
                        use super::conv_x86::avx2::{ROWS, $run};
                        let cols = super::gemm_avx2::REGISTERS * 32 / size_of::<Self>();
                        Slide { rows: ROWS, cols, run: $run }
                    }
                    #[cfg(target_arch = "aarch64")]
                    Level::Neon => {
                        use super::gemm_neon::{REGISTERS, TILES_F32};
                        const ROWS: usize = TILES_F32.len();
                        let run = run::<$neon, ROWS, REGISTERS>;
                        Slide { rows: ROWS, cols: REGISTERS * 16 / size_of::<Self>(), run }
                    }
                    _ => {
                        use super::gemm_portable::{REGISTERS, TILES_F32};
                        const ROWS: usize = TILES_F32.len();
                        let run = run::<$portable, ROWS, REGISTERS>;
                        Slide { rows: ROWS, cols: REGISTERS * 16 / size_of::<Self>(), run }
                    }
                }
            }
        }
    };
}
use super::gemm_portable::Lanes;
slide_element!(f32, run_f32, Lanes<f32, 4>, std::arch::aarch64::float32x4_t);
slide_element!(f64, run_f64, Lanes<f64, 2>, std::arch::aarch64::float64x2_t);

/// All tiles of a row.
///
/// # Safety
/// The CPU has the instructions of `V`, and `call` is as [`Call`] says.
#[inline(always)]
pub(super) unsafe fn run<V, const ROWS: usize, const REGISTERS: usize>(call: &Call<'_, V::Element>)
where
    V: Vector<Element: Copy + Default>,
{
    // SAFETY: passed on.
    unsafe {
        if call.cols <= V::LANES {
            tiles::<V, ROWS, 1>(call);
        } else {
            tiles::<V, ROWS, REGISTERS>(call);
        }
    }
}

/// # Safety
/// See [`run`].
#[inline(always)]
unsafe fn tiles<V, const ROWS: usize, const REGISTERS: usize>(call: &Call<'_, V::Element>)
where
    V: Vector<Element: Copy + Default>,
{
    let mut row = 0;
    while row < call.rows {
        let rows = (call.rows - row).min(call.height);
        macro_rules! by_rows {
            ($($n:literal)*) => {
                match rows {
                    // SAFETY: `rows` rows are left.
                    $($n if $n <= ROWS => unsafe { tile::<V, $n, REGISTERS>(call, row) },)*
                    _ => unreachable!("tiles of {rows} rows"),
                }
            };
        }
        by_rows!(1 2 3 4 5 6 7 8 9 10 11 12);
        row += rows;
    }
}

/// # Safety
/// See [`run`]; there are `ROWS` rows from `row` on.
#[inline(always)]
unsafe fn tile<V, const ROWS: usize, const REGISTERS: usize>(call: &Call<'_, V::Element>, row: usize)
where
    V: Vector<Element: Copy + Default>,
{
    // SAFETY: the instructions exist; the pointers stay in what `Call` vouches for, and the ones past a run's last step
    // are not read.
    unsafe {
        let out = call.out.add(row * call.out_stride);
        let mut sums = begin::<V, ROWS, REGISTERS>(call, out);
        let first = call.left.wrapping_add(row * call.row_stride);
        for run in call.runs {
            let mut left = first.wrapping_add(run.left);
            let mut right = call.right.wrapping_add(run.right);
            for _ in 0..run.len {
                let mut columns = [V::zero(); REGISTERS];
                for (j, register) in columns.iter_mut().enumerate() {
                    *register = V::load(right.add(j * V::LANES));
                }
                for (i, row) in sums.iter_mut().enumerate() {
                    let factor = V::splat(left.add(i * call.row_stride));
                    for (sum, &column) in row.iter_mut().zip(&columns) {
                        *sum = factor.mul_add(column, *sum);
                    }
                }
                left = left.wrapping_add(call.left_step);
                right = right.wrapping_add(call.right_step);
            }
        }
        if call.relu {
            for row in sums.iter_mut() {
                for sum in row.iter_mut() {
                    *sum = sum.relu();
                }
            }
        }
        finish(call, sums, out);
    }
}

/// What the sums begin with.
///
/// # Safety
/// See [`tile`].
#[inline(always)]
unsafe fn begin<V, const ROWS: usize, const REGISTERS: usize>(
    call: &Call<'_, V::Element>,
    out: *const V::Element,
) -> [[V; REGISTERS]; ROWS]
where
    V: Vector<Element: Copy + Default>,
{
    // SAFETY: `columns` are a whole tile's, and `out` has `ROWS` rows of `cols`.
    unsafe {
        let mut sums = [[V::zero(); REGISTERS]; ROWS];
        if let Some(columns) = call.columns {
            let mut row = [V::zero(); REGISTERS];
            for (j, sum) in row.iter_mut().enumerate() {
                *sum = V::load(columns.add(j * V::LANES));
            }
            return [row; ROWS];
        }
        for (i, row) in sums.iter_mut().enumerate() {
            let mut spare = [V::Element::default(); 64];
            let mut from = out.add(i * call.out_stride);
            if call.cols < REGISTERS * V::LANES {
                spare.as_mut_ptr().copy_from_nonoverlapping(from, call.cols);
                from = spare.as_ptr();
            }
            for (j, sum) in row.iter_mut().enumerate() {
                *sum = V::load(from.add(j * V::LANES));
            }
        }
        sums
    }
}

/// Stores the sums.
///
/// # Safety
/// See [`tile`].
#[inline(always)]
unsafe fn finish<V, const ROWS: usize, const REGISTERS: usize>(
    call: &Call<'_, V::Element>,
    sums: [[V; REGISTERS]; ROWS],
    out: *mut V::Element,
) where
    V: Vector<Element: Copy + Default>,
{
    // SAFETY: `out` has `ROWS` rows of `cols`; no register is wider than the spare row, which has 64 numbers.
    unsafe {
        for (i, row) in sums.into_iter().enumerate() {
            let to = out.add(i * call.out_stride);
            if call.cols == REGISTERS * V::LANES {
                for (j, sum) in row.into_iter().enumerate() {
                    sum.store(to.add(j * V::LANES));
                }
                continue;
            }
            let mut spare = [V::Element::default(); 64];
            for (j, sum) in row.into_iter().enumerate() {
                sum.store(spare.as_mut_ptr().add(j * V::LANES));
            }
            to.copy_from_nonoverlapping(spare.as_ptr(), call.cols);
        }
    }
}
