//! A matrix times a vector, which is bound by memory: the matrix is read once, as it lies.

use super::block::{Product, is_shared};
use super::scratch::with_kept;
use super::{GemmElement, MatRef};
use crate::kernels::simd::{DOTS, Region, for_each_region};
use crate::simd::{Arch, Kernel, dispatch};

/// Multiplications in a task.
const TASK: usize = 128 << 10;

/// Elements of the output that are summed up together, if the matrix lies in columns.
const RUN: usize = 512;

/// Columns that are added in one pass over a run.
const COLUMNS: usize = 4;

/// The matrix and the vector of a product, either way round: `b` is a column, or `a` a row.
fn roles<'a, T: Copy>(product: &Product<'a, T>, is_column: bool) -> (MatRef<'a, T>, MatRef<'a, T>) {
    let Product { a, b, .. } = *product;
    if is_column { (a, b) } else { (b.transposed(), a.transposed()) }
}

/// Whether the matrix lies in rows or columns.
pub(super) fn suits<T: Copy>(product: &Product<'_, T>, out: &Region<'_, T>) -> bool {
    let (matrix, _) = roles(product, out.cols() == 1);
    (matrix.row_stride == 1 || matrix.col_stride == 1) && product.k > 0
}

/// `out`, of one column or one row.
pub(super) fn multiply<T: GemmElement>(product: &Product<'_, T>, out: Region<'_, T>) {
    let (rows, cols, k) = (out.rows(), out.cols(), product.k);
    let is_column = cols == 1;
    let (matrix, vector) = roles(product, is_column);
    let mut factors: Vec<T> = Vec::new();
    let factors = if vector.row_stride == 1 {
        &vector.data[vector.offset..vector.offset + k]
    } else {
        factors.extend((0..k).map(|p| vector.data[vector.at(p, 0).offset]));
        &factors
    };
    let len = (TASK / k).next_multiple_of(RUN);
    for_each_region(out, (len, len), is_shared(rows, cols, k), |row, col, mut out| {
        let (first, len) = if is_column { (row, out.rows()) } else { (col, out.cols()) };
        let matrix = matrix.at(first, 0);
        with_kept(len, |sums| {
            if matrix.col_stride == 1 {
                sum_rows(matrix, factors, sums);
            } else {
                dispatch(Columns { matrix, factors, sums });
            }
            finish(product, (row, col), sums, &mut out);
        });
    });
}

/// Writes the sums, with what comes after them.
fn finish<T: GemmElement>(
    product: &Product<'_, T>,
    (_, col): (usize, usize),
    sums: &[T],
    out: &mut Region<'_, T>,
) {
    let cols = out.cols();
    for (i, &sum) in sums.iter().enumerate() {
        let (row, j) = (i / cols, i % cols);
        let number = &mut out.row(row)[j];
        let sum = if product.finish.accumulate { number.plus(sum) } else { sum };
        let sum = product.finish.bias.map_or(sum, |bias| sum.plus(bias[col + j]));
        *number = if product.finish.relu && sum < T::ZERO { T::ZERO } else { sum };
    }
    (0..out.rows()).for_each(|row| product.activation.apply(out.row(row)));
}

/// Sums along rows, which lie together.
fn sum_rows<T: GemmElement>(matrix: MatRef<'_, T>, factors: &[T], sums: &mut [T]) {
    let micro = T::micro();
    for (i, sums) in sums.chunks_mut(DOTS).enumerate() {
        let first = matrix.at(i * DOTS, 0);
        if sums.len() == DOTS {
            sums.copy_from_slice(&micro.dots(matrix.data, first.offset, matrix.row_stride, factors));
        } else {
            for (j, sum) in sums.iter_mut().enumerate() {
                // The same row several times: a row alone has the same bits.
                *sum = micro.dots(matrix.data, first.at(j, 0).offset, 0, factors)[0];
            }
        }
    }
}

/// Sums of columns times a factor each, a run of them at a time.
struct Columns<'a, T> {
    matrix: MatRef<'a, T>,
    factors: &'a [T],
    sums: &'a mut [T],
}

impl<T: GemmElement> Kernel for Columns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        self.sums.fill(T::ZERO);
        for (i, sums) in self.sums.chunks_mut(RUN).enumerate() {
            let len = sums.len();
            let column = |p: usize| {
                let start = self.matrix.at(i * RUN, p).offset;
                &self.matrix.data[start..start + len]
            };
            let (groups, rest) = self.factors.as_chunks::<COLUMNS>();
            for (p, factors) in groups.iter().enumerate() {
                let p = p * COLUMNS;
                add_columns::<A, T, COLUMNS>(
                    [column(p), column(p + 1), column(p + 2), column(p + 3)],
                    factors,
                    sums,
                );
            }
            for (p, &factor) in rest.iter().enumerate() {
                add_columns::<A, T, 1>([column(groups.len() * COLUMNS + p)], &[factor], sums);
            }
        }
    }
}

#[inline(always)]
fn add_columns<A: Arch, T: GemmElement, const N: usize>(
    columns: [&[T]; N],
    factors: &[T; N],
    sums: &mut [T],
) {
    let len = sums.len();
    let columns = columns.map(|column| &column[..len]);
    for i in 0..len {
        let mut sum = sums[i];
        for p in 0..N {
            sum = columns[p][i].fma::<A>(factors[p], sum);
        }
        sums[i] = sum;
    }
}
