//! The innermost loops of matrix multiplication, the same for all registers: tiles of sums that stay in registers
//! while the common axis is walked.

use super::region::Region;
use super::vector::Vector;
use crate::simd::{Level, level};

/// `a`, read in tiles of [`Micro::rows`] rows: row `i` of tile `t` has its step `p` at
/// `data[offset + t * tile_stride + i * row_stride + p * step]`.
#[derive(Clone, Copy)]
pub(crate) struct Left<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) offset: usize,
    pub(crate) tile_stride: isize,
    pub(crate) row_stride: isize,
    pub(crate) step: isize,
}

/// A panel of `b`: step `p` is the [`Micro::cols`] numbers at `data[p * step..]`. All of them must be there, also those
/// that the output has no columns for.
#[derive(Clone, Copy)]
pub(crate) struct Right<'a, T> {
    pub(crate) data: &'a [T],
    pub(crate) step: usize,
}

/// What happens to the sums at last: `relu(sums + out + bias)`, each part if wanted.
#[derive(Clone, Copy)]
pub(crate) struct Finish<'a, T> {
    pub(crate) accumulate: bool,
    /// One number a column of the output.
    pub(crate) bias: Option<&'a [T]>,
    pub(crate) relu: bool,
}

/// A micro-kernel.
pub(crate) struct Micro<T> {
    /// Rows of a tile.
    pub(crate) rows: usize,
    /// Columns of a tile.
    pub(crate) cols: usize,
    run: unsafe fn(&Call<T>),
}

/// Numbers that there are micro-kernels for.
pub trait MicroElement: Copy + Default + std::ops::Add<Output = Self> + PartialOrd + 'static {
    /// The micro-kernel of the level in use.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "nobody outside of the crate can name or use it")]
    fn micro() -> Micro<Self>;
}

macro_rules! micro_element {
    ($element:ty, $run:ident, $portable:ty, $neon:ty) => {
        impl MicroElement for $element {
            #[inline]
            #[allow(private_interfaces, reason = "as above")]
            fn micro() -> Micro<Self> {
                match level() {
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => {
                        use super::gemm_avx512::{REGISTERS, ROWS, $run};
                        Micro { rows: ROWS, cols: REGISTERS * 64 / size_of::<Self>(), run: $run }
                    }
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => {
                        use super::gemm_avx2::{REGISTERS, ROWS, $run};
                        Micro { rows: ROWS, cols: REGISTERS * 32 / size_of::<Self>(), run: $run }
                    }
                    #[cfg(target_arch = "aarch64")]
                    Level::Neon => {
                        use super::gemm_neon::{REGISTERS, ROWS};
                        let run = run::<$neon, ROWS, REGISTERS>;
                        Micro { rows: ROWS, cols: REGISTERS * 16 / size_of::<Self>(), run }
                    }
                    _ => {
                        use super::gemm_portable::{REGISTERS, ROWS};
                        let run = run::<$portable, ROWS, REGISTERS>;
                        Micro { rows: ROWS, cols: REGISTERS * 16 / size_of::<Self>(), run }
                    }
                }
            }
        }
    };
}
use super::gemm_portable::Lanes;
micro_element!(f32, run_f32, Lanes<f32, 4>, std::arch::aarch64::float32x4_t);
micro_element!(f64, run_f64, Lanes<f64, 2>, std::arch::aarch64::float64x2_t);

impl<T: MicroElement> Micro<T> {
    /// `out = relu(a · b + out + bias)`, see [`Finish`]: one panel of columns, `k` steps, as many rows as `out` has. An
    /// element's products are added in the order of steps, beginning at 0.
    ///
    /// # Panics
    /// If an operand is shorter than its strides say, or `out` is wider than a tile.
    #[inline]
    pub(crate) fn run(
        &self,
        k: usize,
        left: Left<'_, T>,
        right: Right<'_, T>,
        finish: Finish<'_, T>,
        out: &mut Region<'_, T>,
    ) {
        if out.rows() == 0 || out.cols() == 0 {
            return;
        }
        let height = self.height(&left, out.rows());
        let tile_stride =
            if height == self.rows { left.tile_stride } else { height as isize * left.row_stride };
        let left = Left { tile_stride, ..left };
        assert!(out.cols() <= self.cols, "{} columns in tiles of {}", out.cols(), self.cols);
        assert!(left.holds(out.rows(), height, k), "the left operand is too short");
        assert!(
            k == 0 || (k - 1) * right.step + self.cols <= right.data.len(),
            "the right operand is too short"
        );
        assert!(finish.bias.is_none_or(|bias| bias.len() == out.cols()), "not as many biases as columns");
        let call = Call {
            rows: out.rows(),
            cols: out.cols(),
            height,
            k,
            a: left.data.as_ptr().wrapping_add(left.offset),
            tile_stride,
            row_stride: left.row_stride,
            a_step: left.step,
            b: right.data.as_ptr(),
            b_step: right.step,
            out: out.as_mut_ptr(),
            out_stride: out.row_stride(),
            accumulate: finish.accumulate,
            bias: finish.bias.map(<[T]>::as_ptr),
            relu: finish.relu,
        };
        // SAFETY: the level is in use, so the CPU has its instructions; the checks above are what `Call` asks for.
        unsafe { (self.run)(&call) }
    }

    /// Rows of a tile: fewer than fit where the rows divide better so (8 rows are 4 + 4, not 6 + 2), if they are at
    /// one distance through all tiles.
    fn height(&self, left: &Left<'_, T>, rows: usize) -> usize {
        let uniform = left.tile_stride == self.rows as isize * left.row_stride;
        if uniform { rows.div_ceil(rows.div_ceil(self.rows)) } else { self.rows }
    }
}

impl<T> Left<'_, T> {
    /// Whether all elements of `rows` rows and `k` steps are in `data`.
    fn holds(&self, rows: usize, height: usize, k: usize) -> bool {
        let corner = |tile: usize, row: usize, step: usize| {
            let part = |index: usize, stride: isize| i128::from(index as u64) * i128::from(stride as i64);
            let at = part(tile, self.tile_stride) + part(row, self.row_stride) + part(step, self.step);
            (0..self.data.len() as i128).contains(&(self.offset as i128 + at))
        };
        let tail = (rows - 1) % height;
        let last = (rows - 1) / height;
        // The extremes of a linear function are at the corners.
        let tile = |tile, row| {
            corner(tile, 0, 0) && corner(tile, row, 0) && corner(tile, 0, k - 1) && corner(tile, row, k - 1)
        };
        k == 0 || (tile(last, tail) && (last == 0 || (tile(0, height - 1) && tile(last - 1, height - 1))))
    }
}

/// Arguments of a micro-kernel.
///
/// All that they reach is valid: `rows × k` elements of `a` in tiles of `height` rows (at most the kernel's),
/// `k` times a whole tile's width of `b`, `rows × cols` (at most a tile's width) of `out`, `cols` of `bias`.
pub(super) struct Call<T> {
    rows: usize,
    cols: usize,
    height: usize,
    k: usize,
    a: *const T,
    tile_stride: isize,
    row_stride: isize,
    a_step: isize,
    b: *const T,
    b_step: usize,
    out: *mut T,
    out_stride: usize,
    accumulate: bool,
    bias: Option<*const T>,
    relu: bool,
}

/// All tiles of a panel.
///
/// # Safety
/// The CPU has the instructions of `V`, and `call` is as [`Call`] says.
#[inline(always)]
pub(super) unsafe fn run<V, const ROWS: usize, const REGISTERS: usize>(call: &Call<V::Element>)
where
    V: Vector<Element: MicroElement>,
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
unsafe fn tiles<V, const ROWS: usize, const REGISTERS: usize>(call: &Call<V::Element>)
where
    V: Vector<Element: MicroElement>,
{
    let (mut a, mut out) = (call.a, call.out);
    let mut left = call.rows;
    while left > 0 {
        let rows = left.min(call.height);
        macro_rules! by_rows {
            ($($n:literal)*) => {
                match rows {
                    // SAFETY: `rows` rows are left at both pointers.
                    $($n if $n <= ROWS => unsafe { tile::<V, $n, REGISTERS>(call, a, out) },)*
                    _ => unreachable!("tiles of {rows} rows"),
                }
            };
        }
        by_rows!(1 2 3 4 5 6 7 8 9 10 11 12 13 14);
        a = a.wrapping_offset(call.tile_stride);
        out = out.wrapping_add(call.height * call.out_stride);
        left -= rows;
    }
}

/// # Safety
/// See [`run`]; `a` and `out` are at a tile of `ROWS` rows.
#[inline(always)]
unsafe fn tile<V, const ROWS: usize, const REGISTERS: usize>(
    call: &Call<V::Element>,
    mut a: *const V::Element,
    out: *mut V::Element,
) where
    V: Vector<Element: MicroElement>,
{
    // SAFETY: the instructions exist; the pointers stay in what `Call` vouches for, and the ones past the last step are
    // not read.
    unsafe {
        let mut sums = [[V::zero(); REGISTERS]; ROWS];
        let mut b = call.b;
        for _ in 0..call.k {
            let mut columns = [V::zero(); REGISTERS];
            for (j, register) in columns.iter_mut().enumerate() {
                *register = V::load(b.add(j * V::LANES));
            }
            for (i, row) in sums.iter_mut().enumerate() {
                let factor = V::splat(a.offset(i as isize * call.row_stride));
                for (sum, &column) in row.iter_mut().zip(&columns) {
                    *sum = factor.mul_add(column, *sum);
                }
            }
            a = a.wrapping_offset(call.a_step);
            b = b.wrapping_add(call.b_step);
        }
        finish(call, sums, out);
    }
}

/// Adds what is to be added to the sums, and stores them.
///
/// # Safety
/// See [`tile`].
#[inline(always)]
unsafe fn finish<V, const ROWS: usize, const REGISTERS: usize>(
    call: &Call<V::Element>,
    sums: [[V; REGISTERS]; ROWS],
    out: *mut V::Element,
) where
    V: Vector<Element: MicroElement>,
{
    // SAFETY: as in `tile`; a tile that is wider than the output goes through `spare`, which is as wide as it.
    unsafe {
        if call.cols == REGISTERS * V::LANES {
            for (i, row) in sums.into_iter().enumerate() {
                finish_row(call, row, out.add(i * call.out_stride), call.bias);
            }
            return;
        }
        // As wide as any tile.
        let mut spare = [V::Element::default(); 64];
        let mut spare_bias = [V::Element::default(); 64];
        let bias = call.bias.map(|bias| {
            spare_bias.as_mut_ptr().copy_from_nonoverlapping(bias, call.cols);
            spare_bias.as_ptr()
        });
        for (i, row) in sums.into_iter().enumerate() {
            let to = out.add(i * call.out_stride);
            spare.as_mut_ptr().copy_from_nonoverlapping(to, call.cols);
            finish_row(call, row, spare.as_mut_ptr(), bias);
            to.copy_from_nonoverlapping(spare.as_ptr(), call.cols);
        }
    }
}

/// # Safety
/// The instructions exist; `out`, and `bias` if there is one, are as long as the row.
#[inline(always)]
unsafe fn finish_row<V, const REGISTERS: usize>(
    call: &Call<V::Element>,
    row: [V; REGISTERS],
    out: *mut V::Element,
    bias: Option<*const V::Element>,
) where
    V: Vector<Element: MicroElement>,
{
    for (j, mut sum) in row.into_iter().enumerate() {
        // SAFETY: promised by the caller.
        unsafe {
            let out = out.add(j * V::LANES);
            if call.accumulate {
                sum = V::load(out).add(sum);
            }
            if let Some(bias) = bias {
                sum = sum.add(V::load(bias.add(j * V::LANES)));
            }
            if call.relu {
                sum = sum.relu();
            }
            sum.store(out);
        }
    }
}
