//! The innermost loops of matrix multiplication, the same for all registers: tiles of sums that stay in registers
//! while the common axis is walked.

#[cfg(target_arch = "aarch64")]
use super::gemm_neon;
use super::gemm_portable;
use super::region::Region;
use super::vector::Vector;
#[cfg(target_arch = "x86_64")]
use super::{gemm_avx2, gemm_avx512};
use crate::kernels::number::Number;
use crate::simd::{Level, level};

/// `a`, read in tiles of [`Micro::rows`] rows: row `i` of tile `t` has its step `p` at
/// `data[offset + t * tile_stride + i * row_stride + p * step]`, where one of the latter strides is 1.
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

/// A micro-kernel: a function for each size of tile.
pub(crate) struct Micro<T: 'static> {
    /// Rows of a tile.
    pub(crate) rows: usize,
    /// Columns of a tile.
    pub(crate) cols: usize,
    /// At `[i]` those for `i + 1` rows: first for as many columns as a register has numbers, then for all.
    tiles: &'static [[Tile<T>; 2]],
    /// Columns of the narrow ones.
    narrow: usize,
    dots: Dots<T>,
}

/// Rows that [`Micro::dots`] takes at once.
pub(crate) const DOTS: usize = 4;

/// Stores the products of [`DOTS`] rows at `a`, `row_stride` apart, with the `k` numbers at `b`.
///
/// # Safety
/// The CPU has the function's instructions, and all that is told of may be read or written.
pub(super) type Dots<T> =
    unsafe fn(a: *const T, row_stride: isize, b: *const T, k: usize, out: &mut [T; DOTS]);

/// Computes a tile of which the left operand and the output are given.
///
/// # Safety
/// The CPU has the function's instructions, and `call` is as [`Call`] says.
pub(super) type Tile<T> = unsafe fn(call: &Call<T>, a: *const T, out: *mut T);

/// Numbers that there are micro-kernels for.
pub trait MicroElement: Number + 'static {
    /// The micro-kernel of the level in use.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "nobody outside of the crate can name or use it")]
    fn micro() -> Micro<Self>;
}

/// The functions for 1, 2, … rows, given one that is generic over the register, the rows and the registers a row.
macro_rules! tiles {
    ($tile:ident, $vector:ty, $registers:expr, $($rows:literal)*) => {
        &[$([$tile::<$vector, $rows, 1>, $tile::<$vector, $rows, $registers>]),*]
    };
}
pub(super) use tiles;

macro_rules! micro_element {
    ($element:ty, $tiles:ident, $dots:ident) => {
        impl MicroElement for $element {
            #[inline]
            #[allow(private_interfaces, reason = "as above")]
            fn micro() -> Micro<Self> {
                match level() {
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => {
                        Micro::new(gemm_avx512::$tiles, gemm_avx512::$dots, gemm_avx512::REGISTERS, 64)
                    }
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => Micro::new(gemm_avx2::$tiles, gemm_avx2::$dots, gemm_avx2::REGISTERS, 32),
                    #[cfg(target_arch = "aarch64")]
                    Level::Neon => Micro::new(gemm_neon::$tiles, gemm_neon::$dots, gemm_neon::REGISTERS, 16),
                    _ => {
                        Micro::new(gemm_portable::$tiles, gemm_portable::$dots, gemm_portable::REGISTERS, 16)
                    }
                }
            }
        }
    };
}
micro_element!(f32, TILES_F32, DOTS_F32);
micro_element!(f64, TILES_F64, DOTS_F64);

impl<T: MicroElement> Micro<T> {
    fn new(tiles: &'static [[Tile<T>; 2]], dots: Dots<T>, registers: usize, register_bytes: usize) -> Self {
        let narrow = register_bytes / size_of::<T>();
        Self { rows: tiles.len(), cols: registers * narrow, tiles, narrow, dots }
    }

    /// The products of [`DOTS`] rows, which begin at `data[offset + i * row_stride]`, with `factors`. A row's does not
    /// depend on the others.
    ///
    /// # Panics
    /// If a row is not in `data`.
    #[inline]
    pub(crate) fn dots(&self, data: &[T], offset: usize, row_stride: isize, factors: &[T]) -> [T; DOTS] {
        let k = factors.len();
        let last = offset as i128 + (DOTS as i128 - 1) * row_stride as i128;
        let (low, high) = (last.min(offset as i128), last.max(offset as i128) + k as i128);
        assert!(low >= 0 && high <= data.len() as i128, "rows from {low} to {high} in {}", data.len());
        let mut out = [T::default(); DOTS];
        // SAFETY: the level is in use, so the CPU has its instructions; the rows are in `data`.
        unsafe { (self.dots)(data.as_ptr().add(offset), row_stride, factors.as_ptr(), k, &mut out) };
        out
    }

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
        assert!(
            left.row_stride == 1 || left.step == 1,
            "the left operand lies neither in rows nor in columns"
        );
        assert!(out.cols() <= self.cols, "{} columns in tiles of {}", out.cols(), self.cols);
        assert!(left.holds(out.rows(), height, k), "the left operand is too short");
        assert!(
            k == 0 || (k - 1) * right.step + self.cols <= right.data.len(),
            "the right operand is too short"
        );
        assert!(finish.bias.is_none_or(|bias| bias.len() == out.cols()), "not as many biases as columns");
        let call = Call {
            cols: out.cols(),
            k,
            row_stride: left.row_stride,
            a_step: left.step,
            b: right.data.as_ptr(),
            b_step: right.step,
            out_stride: out.row_stride(),
            accumulate: finish.accumulate,
            bias: finish.bias.map(<[T]>::as_ptr),
            relu: finish.relu,
        };
        let wide = usize::from(out.cols() > self.narrow);
        let mut a = left.data.as_ptr().wrapping_add(left.offset);
        for row in (0..out.rows()).step_by(height) {
            let rows = height.min(out.rows() - row);
            let to = out.as_mut_ptr().wrapping_add(row * out.row_stride());
            // SAFETY: the level is in use, so the CPU has its instructions; the checks above are what `Call` asks for.
            unsafe { self.tiles[rows - 1][wide](&call, a, to) };
            a = a.wrapping_offset(left.tile_stride);
        }
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

/// What the tiles of a panel have in common.
///
/// All that they reach is valid: `k` steps of each row of `a`, where `row_stride` or `a_step` is 1; `k` times a whole
/// tile's width of `b`; `cols` (at most a tile's width) elements in each row of `out`, and of `bias`.
pub(super) struct Call<T> {
    cols: usize,
    k: usize,
    row_stride: isize,
    a_step: isize,
    b: *const T,
    b_step: usize,
    out_stride: usize,
    accumulate: bool,
    bias: Option<*const T>,
    relu: bool,
}

/// Steps in one turn of the innermost loop. The addresses of a dozen rows do not stay in registers, and over several
/// steps the compiler would keep sums in memory for them.
const fn unroll(rows: usize) -> usize {
    if rows > 8 { 1 } else { 4 }
}

/// A [`Tile`] of `ROWS` rows and `REGISTERS` registers a row.
///
/// Loops over indices, here and below: an iterator's functions are compiled without the instructions, and where one is
/// not inlined the sums go through memory (20 times slower, in some builds).
///
/// # Safety
/// See [`Tile`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see above")]
pub(super) unsafe fn tile<V, const ROWS: usize, const REGISTERS: usize>(
    call: &Call<V::Element>,
    a: *const V::Element,
    out: *mut V::Element,
) where
    V: Vector<Element: MicroElement>,
{
    // SAFETY: the instructions exist; the pointers stay in what `Call` vouches for, and those past the last step are
    // not read.
    unsafe {
        // The output is far away at times: it comes while the sums are computed.
        for i in 0..ROWS {
            let row = out.wrapping_add(i * call.out_stride);
            V::prefetch(row);
            V::prefetch(row.wrapping_add(REGISTERS * V::LANES - 1));
        }
        let mut sums = [[V::zero(); REGISTERS]; ROWS];
        if call.row_stride == 1 {
            sum_columns(call, a, &mut sums);
        } else {
            sum_rows(call, a, &mut sums);
        }
        finish(call, sums, out);
    }
}

/// The products where the rows of `a` are neighbours: all at fixed distances from one pointer.
///
/// # Safety
/// See [`tile`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see `tile`")]
unsafe fn sum_columns<V, const ROWS: usize, const REGISTERS: usize>(
    call: &Call<V::Element>,
    mut a: *const V::Element,
    sums: &mut [[V; REGISTERS]; ROWS],
) where
    V: Vector<Element: MicroElement>,
{
    let mut b = call.b;
    let mut left = call.k;
    while left > 0 {
        // SAFETY: see `tile`.
        unsafe { add_step(a, 1, b, sums) };
        a = a.wrapping_offset(call.a_step);
        b = b.wrapping_add(call.b_step);
        left -= 1;
    }
}

/// The products where the steps of `a` are neighbours: several in one turn, for which the rows' addresses serve.
///
/// # Safety
/// See [`tile`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see `tile`")]
unsafe fn sum_rows<V, const ROWS: usize, const REGISTERS: usize>(
    call: &Call<V::Element>,
    mut a: *const V::Element,
    sums: &mut [[V; REGISTERS]; ROWS],
) where
    V: Vector<Element: MicroElement>,
{
    let mut b = call.b;
    let mut left = call.k;
    while left >= const { unroll(ROWS) } {
        for q in 0..const { unroll(ROWS) } {
            // SAFETY: see `tile`.
            unsafe { add_step(a.wrapping_add(q), call.row_stride, b, sums) };
            b = b.wrapping_add(call.b_step);
        }
        a = a.wrapping_add(const { unroll(ROWS) });
        left -= const { unroll(ROWS) };
    }
    while left > 0 {
        // SAFETY: see `tile`.
        unsafe { add_step(a, call.row_stride, b, sums) };
        a = a.wrapping_add(1);
        b = b.wrapping_add(call.b_step);
        left -= 1;
    }
}

/// Adds the products of one step.
///
/// # Safety
/// The instructions exist; `ROWS` numbers at `a` and a row of them at `b` may be read.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see `tile`")]
unsafe fn add_step<V: Vector, const ROWS: usize, const REGISTERS: usize>(
    a: *const V::Element,
    row_stride: isize,
    b: *const V::Element,
    sums: &mut [[V; REGISTERS]; ROWS],
) {
    // SAFETY: promised by the caller.
    unsafe {
        let mut columns = [V::zero(); REGISTERS];
        for j in 0..REGISTERS {
            columns[j] = V::load(b.add(j * V::LANES));
        }
        for i in 0..ROWS {
            let factor = V::splat(a.wrapping_offset(i as isize * row_stride));
            for j in 0..REGISTERS {
                sums[i][j] = factor.mul_add(columns[j], sums[i][j]);
            }
        }
    }
}

/// Adds what is to be added to the sums, and stores them.
///
/// # Safety
/// See [`tile`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see `tile`")]
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
            for i in 0..ROWS {
                finish_row(call, sums[i], out.add(i * call.out_stride), call.bias);
            }
            return;
        }
        // As wide as any tile.
        let mut spare = [V::Element::default(); 32];
        let mut spare_bias = [V::Element::default(); 32];
        let bias = call.bias.map(|bias| {
            copy_few(bias, spare_bias.as_mut_ptr(), call.cols);
            spare_bias.as_ptr()
        });
        for i in 0..ROWS {
            let to = out.add(i * call.out_stride);
            if call.accumulate {
                copy_few(to, spare.as_mut_ptr(), call.cols);
            }
            finish_row(call, sums[i], spare.as_mut_ptr(), bias);
            copy_few(spare.as_ptr(), to, call.cols);
        }
    }
}

/// Copies less than 32 numbers: a call of the C library for each row would cost as much as a short tile.
///
/// # Safety
/// Both pointers are good for `len` numbers.
#[inline(always)]
unsafe fn copy_few<T: Copy>(from: *const T, to: *mut T, len: usize) {
    let mut done = 0;
    macro_rules! part {
        ($($size:literal)*) => {$(
            if len & $size != 0 {
                // SAFETY: the parts add up to `len`.
                unsafe { to.add(done).cast::<[T; $size]>().write_unaligned(from.add(done).cast::<[T; $size]>().read_unaligned()) };
                done += $size;
            }
        )*};
    }
    part!(16 8 4 2 1);
    debug_assert_eq!(done, len, "of less than 32");
}

/// # Safety
/// The instructions exist; `out`, and `bias` if there is one, are as long as the row.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see `tile`")]
unsafe fn finish_row<V, const REGISTERS: usize>(
    call: &Call<V::Element>,
    row: [V; REGISTERS],
    out: *mut V::Element,
    bias: Option<*const V::Element>,
) where
    V: Vector<Element: MicroElement>,
{
    for j in 0..REGISTERS {
        let mut sum = row[j];
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

/// See [`Dots`]: each row's products are added in `2 * LANES` sums, step by step, and those in order.
///
/// # Safety
/// See [`Dots`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see `tile`")]
pub(super) unsafe fn dots<V>(
    a: *const V::Element,
    row_stride: isize,
    b: *const V::Element,
    k: usize,
    out: &mut [V::Element; DOTS],
) where
    V: Vector<Element: MicroElement>,
{
    // SAFETY: `p` stays below `k`; a last part that is shorter than the registers is copied first, with zeros behind.
    unsafe {
        let mut sums = [[V::zero(); 2]; DOTS];
        let width = 2 * V::LANES;
        let mut p = 0;
        while p + width <= k {
            add_dots(a.wrapping_add(p), row_stride, b.add(p), &mut sums);
            p += width;
        }
        if p < k {
            let (mut rows, mut factors) = ([[V::Element::default(); 32]; DOTS], [V::Element::default(); 32]);
            copy_few(b.add(p), factors.as_mut_ptr(), k - p);
            for i in 0..DOTS {
                copy_few(a.wrapping_offset(i as isize * row_stride).add(p), rows[i].as_mut_ptr(), k - p);
            }
            add_dots(rows.as_ptr().cast(), 32, factors.as_ptr(), &mut sums);
        }
        for i in 0..DOTS {
            let mut lanes = [V::Element::default(); 32];
            sums[i][0].add(sums[i][1]).store(lanes.as_mut_ptr());
            let mut total = lanes[0];
            for lane in 1..V::LANES {
                total = total.plus(lanes[lane]);
            }
            out[i] = total;
        }
    }
}

/// # Safety
/// The instructions exist; two registers can be read at `b` and at each row.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "see `tile`")]
unsafe fn add_dots<V: Vector>(
    a: *const V::Element,
    row_stride: isize,
    b: *const V::Element,
    sums: &mut [[V; 2]; DOTS],
) {
    for j in 0..2 {
        // SAFETY: promised by the caller.
        unsafe {
            let factors = V::load(b.add(j * V::LANES));
            for i in 0..DOTS {
                let numbers = V::load(a.wrapping_offset(i as isize * row_stride).add(j * V::LANES));
                sums[i][j] = numbers.mul_add(factors, sums[i][j]);
            }
        }
    }
}
