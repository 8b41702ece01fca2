//! Large products, cut into blocks that stay in the caches.

use super::pack::{pack_left, pack_right, packed_left};
use super::scratch::{Scratch, with_kept};
use super::{Activation, Epilogue, GemmElement, MatRef};
use crate::kernels::simd::{Finish, Left, Micro, Region, Right, for_each_region};
use crate::parallel;

/// Steps of the common axis in one pass over the output: a panel of `b` of 32 KiB. It leaves the first-level cache for the
/// second now and then, which costs less than to read and write the output, and to wait for all threads, twice as often.
const STEPS: usize = 512;

/// Bytes of `a` in a block, half of a second-level cache of 512 KiB.
const LEFT_BYTES: usize = 256 << 10;

/// Columns of `b` packed at once.
const COLUMNS: usize = 2048;

/// Rows of `a` packed at once.
const ROWS: usize = 2048;

/// Panels packed in one task: rows of `b` are read in stretches of four lines, which the hardware sees coming.
const PANELS: usize = 4;

/// Bytes from a line of `a` to the next, below which it may be read in place.
const NEAR_LINES: usize = 4 << 10;

/// Bytes over which the rows of `b` may spread for its panels to be read in place.
const NEAR: usize = 128 << 10;

/// Below this many multiplications, all runs on the calling thread.
const SHARED_FROM: usize = 64 << 10;

/// Multiplications in a task, at least.
const TASK: usize = 128 << 10;

/// All but the output of a matrix product.
#[derive(Clone, Copy)]
pub(super) struct Product<'a, T> {
    pub(super) k: usize,
    pub(super) a: MatRef<'a, T>,
    pub(super) b: MatRef<'a, T>,
    pub(super) finish: Finish<'a, T>,
    /// What is left to do after `finish`.
    pub(super) activation: Activation,
}

impl<'a, T: Copy> Product<'a, T> {
    pub(super) fn new(
        k: usize,
        a: MatRef<'a, T>,
        b: MatRef<'a, T>,
        accumulate: bool,
        epilogue: &Epilogue<'a, T>,
        n: usize,
    ) -> Self {
        assert!(epilogue.bias.is_none_or(|bias| bias.len() == n), "one bias for each of {n} columns");
        let relu = epilogue.activation == Activation::Relu;
        let finish = Finish { accumulate, bias: epilogue.bias, relu };
        Self { k, a, b, finish, activation: epilogue.activation }
    }

    /// A part of the steps: the first adds to the output only if asked to, the last alone finishes.
    fn steps(&self, from: usize, len: usize) -> Self {
        let last = from + len == self.k;
        let finish = Finish {
            accumulate: self.finish.accumulate || from > 0,
            bias: self.finish.bias.filter(|_| last),
            relu: self.finish.relu && last,
        };
        let activation = if last { self.activation } else { Activation::None };
        Self { k: len, a: self.a.at(0, from), b: self.b.at(from, 0), finish, activation }
    }

    fn columns(&self, from: usize, len: usize) -> Self {
        let bias = self.finish.bias.map(|bias| &bias[from..from + len]);
        Self { b: self.b.at(0, from), finish: Finish { bias, ..self.finish }, ..*self }
    }

    fn rows(&self, from: usize) -> Self {
        Self { a: self.a.at(from, 0), ..*self }
    }
}

/// Computes `out`, on all threads if there is enough to do.
pub(super) fn multiply<T: GemmElement>(product: &Product<'_, T>, mut out: Region<'_, T>) {
    let (m, n) = (out.rows(), out.cols());
    let micro = T::micro();
    let shared = is_shared(m, n, product.k);
    let columns = even(n, COLUMNS, micro.cols);
    let steps = even(product.k, STEPS, 8);
    for col in (0..n).step_by(columns) {
        let mut out = out.part((0, col), (m, columns));
        let product = product.columns(col, out.cols());
        if product.k == 0 {
            pass(&micro, &product, out, shared);
            continue;
        }
        for step in (0..product.k).step_by(steps) {
            let out = out.part((0, 0), (m, columns));
            pass(&micro, &product.steps(step, steps.min(product.k - step)), out, shared);
        }
    }
}

/// Whether a product is worth the threads.
pub(super) fn is_shared(m: usize, n: usize, k: usize) -> bool {
    m.saturating_mul(n).saturating_mul(k) >= SHARED_FROM
}

/// The parts of `len`, each a multiple of `unit` and of at most about `most`, all of one size but the last.
fn even(len: usize, most: usize, unit: usize) -> usize {
    let parts = len.div_ceil(most).max(1);
    len.div_ceil(parts).next_multiple_of(unit).max(unit)
}

/// One block of steps, of all rows and at most `COLUMNS` columns.
fn pass<T: GemmElement>(micro: &Micro<T>, product: &Product<'_, T>, mut out: Region<'_, T>, shared: bool) {
    let (m, n) = (out.rows(), out.cols());
    let block = even(m, LEFT_BYTES / size_of::<T>() / product.k.max(64), micro.rows);
    if m <= block {
        return rows(micro, product, Panels::AsNeeded(product.b), out, block, shared);
    }
    let mut scratch = Scratch::new::<T>(n.next_multiple_of(micro.cols) * product.k);
    let packed = scratch.numbers();
    share(packed, PANELS * micro.cols * product.k, shared, |group, packed| {
        let from = group * PANELS * micro.cols;
        pack_right(product.b.at(0, from), product.k, n - from, micro.cols, packed);
    });
    for row in (0..m).step_by(ROWS) {
        let out = out.part((row, 0), (ROWS, n));
        rows(micro, &product.rows(row), Panels::Packed(packed), out, block, shared);
    }
}

/// At most `ROWS` rows of it, or one block.
fn rows<T: GemmElement>(
    micro: &Micro<T>,
    product: &Product<'_, T>,
    right: Panels<'_, T>,
    out: Region<'_, T>,
    block: usize,
    shared: bool,
) {
    let (m, n) = (out.rows(), out.cols());
    let Product { a, k, .. } = *product;
    if stays(a, m <= block, n, micro) {
        let tile_stride = micro.rows as isize * a.row_stride;
        let left = Left {
            data: a.data,
            offset: a.offset,
            tile_stride,
            row_stride: a.row_stride,
            step: a.col_stride,
        };
        return tasks(micro, product, right, left, out, block, shared);
    }
    let mut scratch = Scratch::new::<T>(m.next_multiple_of(micro.rows) * k);
    let packed = scratch.numbers();
    share(packed, PANELS * micro.rows * k, shared, |group, packed| {
        let from = group * PANELS * micro.rows;
        pack_left(a.at(from, 0), m - from, k, micro.rows, packed);
    });
    let (tile_stride, row_stride, step) = packed_left(a, k, micro.rows);
    tasks(
        micro,
        product,
        right,
        Left { data: packed, offset: 0, tile_stride, row_stride, step },
        out,
        block,
        shared,
    );
}

/// Whether `a` is read where it is: it must lie in rows or columns, and either be used a few times only, or be one block
/// whose lines are so near to each other that they do not push each other out of the cache.
fn stays<T>(a: MatRef<'_, T>, is_one_block: bool, n: usize, micro: &Micro<T>) -> bool {
    match (a.row_stride, a.col_stride) {
        (distance, 1) | (1, distance) => {
            let is_near = distance.unsigned_abs() * size_of::<T>() < NEAR_LINES;
            n <= 2 * micro.cols || (is_one_block && is_near)
        }
        _ => false,
    }
}

/// `parallel::chunks_mut`, if the work is worth it.
fn share<T: Send>(out: &mut [T], len: usize, shared: bool, run: impl Fn(usize, &mut [T]) + Sync) {
    // Panels without steps have no elements, but are asked for all the same.
    let len = len.max(1);
    if shared {
        parallel::chunks_mut(out, len, run);
    } else {
        out.chunks_mut(len).enumerate().for_each(|(i, part)| run(i, part));
    }
}

/// Where panels of `b` come from.
#[derive(Clone, Copy)]
enum Panels<'a, T> {
    /// All are packed already.
    Packed(&'a [T]),
    /// Each is packed when its turn comes.
    AsNeeded(MatRef<'a, T>),
}

/// Computes `out` in tasks of whole tiles, of `block` or less.
fn tasks<T: GemmElement>(
    micro: &Micro<T>,
    product: &Product<'_, T>,
    right: Panels<'_, T>,
    left: Left<'_, T>,
    out: Region<'_, T>,
    block: usize,
    shared: bool,
) {
    let (m, n) = (out.rows(), out.cols());
    let task = if shared { task_size(micro, product.k, (m, n), (block, n)) } else { (block, n) };
    for_each_region(out, task, shared, |row, col, mut out| {
        let tile = (row / micro.rows) as isize * left.tile_stride;
        let left = Left { offset: left.offset.wrapping_add_signed(tile), ..left };
        for panel in (0..out.cols()).step_by(micro.cols) {
            let from = col + panel;
            let mut out = out.part((0, panel), (usize::MAX, micro.cols));
            let cols = out.cols();
            let finish = product.columns(from, cols).finish;
            match right {
                Panels::Packed(packed) => {
                    let right = Right { data: &packed[from * product.k..], step: micro.cols };
                    micro.run(product.k, left, right, finish, &mut out);
                }
                Panels::AsNeeded(b) if is_near(b, product.k, out.rows(), cols, micro) => {
                    let right = Right { data: &b.data[b.at(0, from).offset..], step: b.row_stride as usize };
                    micro.run(product.k, left, right, finish, &mut out);
                }
                Panels::AsNeeded(b) => with_kept(product.k * micro.cols, |packed| {
                    pack_right(b.at(0, from), product.k, cols, micro.cols, packed);
                    micro.run(product.k, left, Right { data: packed, step: micro.cols }, finish, &mut out);
                }),
            }
        }
        if product.activation != Activation::None {
            (0..out.rows()).for_each(|row| product.activation.apply(out.row(row)));
        }
    });
}

/// Whether a panel of `b` is read as fast where it is as from a copy: a full one, in rows, that is either used a few
/// times only or whose rows are not so far apart that they push each other out of the cache.
fn is_near<T>(b: MatRef<'_, T>, k: usize, rows: usize, cols: usize, micro: &Micro<T>) -> bool {
    let in_rows = b.col_stride == 1 && b.row_stride >= 0 && cols == micro.cols && k > 0;
    in_rows && (rows <= 4 * micro.rows || k * b.row_stride as usize * size_of::<T>() <= NEAR)
}

/// Halves a block, across first if it is wide, until there are 8 tasks (16 of many blocks, which take longer, so that a
/// thread that is done early waits for less) or they would become too small.
fn task_size<T>(
    micro: &Micro<T>,
    k: usize,
    (m, n): (usize, usize),
    (mut rows, mut cols): (usize, usize),
) -> (usize, usize) {
    let wanted = if m > rows { 16 } else { 8 };
    while m.div_ceil(rows) * n.div_ceil(cols) < wanted && rows * cols * k >= 2 * TASK {
        let is_wide = rows <= cols && cols > 4 * micro.cols;
        if is_wide || (rows <= micro.rows && cols > micro.cols) {
            cols = cols.div_ceil(2).next_multiple_of(micro.cols);
        } else if rows > micro.rows {
            rows = rows.div_ceil(2).next_multiple_of(micro.rows);
        } else {
            break;
        }
    }
    (rows, cols)
}
