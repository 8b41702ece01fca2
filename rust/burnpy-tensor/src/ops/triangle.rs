//! Triangles of matrices.

use super::views::movable;
use crate::autodiff::record;
use crate::dispatch_bits;
use crate::error::{Error, Result};
use crate::parallel;
use crate::tensor::Tensor;
use crate::value::Value;

/// Elements of a task.
const CHUNK: usize = 64 << 10;

impl Tensor {
    /// Of each matrix (the last two axes) the diagonal `k` and what is below it, 0 above. Diagonal 0 is the main one,
    /// positive ones are above it.
    ///
    /// # Errors
    /// `Shape` if there are fewer than two axes.
    pub fn tril(&self, k: isize) -> Result<Self> {
        self.triangle("tril", k, true)
    }

    /// [`Tensor::tril`] the other way: the diagonal `k` and what is above it.
    ///
    /// # Errors
    /// As there.
    pub fn triu(&self, k: isize) -> Result<Self> {
        self.triangle("triu", k, false)
    }

    fn triangle(&self, operation: &'static str, k: isize, lower: bool) -> Result<Self> {
        if self.rank() < 2 {
            let message = format_args!("a matrix has two axes, got shape {:?}", self.shape());
            return Err(Error::shape(operation, message));
        }
        let value = triangle_value(movable(operation, self)?.as_ref(), k, lower)?;
        // dx = dy in the same triangle
        Ok(record(operation, [self], value, |_| {
            move |gradient: Value| Ok([Some(triangle_value(&gradient, k, lower)?)])
        }))
    }
}

fn triangle_value(x: &Value, k: isize, lower: bool) -> Result<Value> {
    let dense = x.contiguous();
    let (rows, cols) = (x.shape()[x.rank() - 2], x.shape()[x.rank() - 1]);
    dispatch_bits!(x.dtype().size().unwrap_or(1), T => {
        let x = dense.as_slice::<T>().expect("contiguous");
        Value::build_as(dense.dtype(), dense.shape(), |out: &mut [T]| {
            let per_task = (CHUNK / cols.max(1)).max(1);
            parallel::chunks_mut(out, per_task * cols.max(1), |task, part| {
                let first = task * per_task;
                for (i, out) in part.chunks_exact_mut(cols).enumerate() {
                    // How many elements of the row are below the diagonal, or on it where the lower part is kept.
                    let row = ((first + i) % rows) as isize;
                    let cut = row.saturating_add(k).saturating_add(isize::from(lower));
                    let cut = cut.clamp(0, cols as isize) as usize;
                    let (kept, zero) = if lower { (0..cut, cut..cols) } else { (cut..cols, 0..cut) };
                    out[kept.clone()].copy_from_slice(&x[(first + i) * cols..][kept]);
                    out[zero].fill(0);
                }
            });
        })
    })
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::{check_gradients, elements, ints, leaf};

    #[test]
    fn the_other_side_of_the_diagonal_is_zero() {
        let x = ints(&[1, 2, 3, 4, 5, 6], &[2, 3]);
        let cases: [(isize, [f64; 6], [f64; 6]); 5] = [
            (0, [1., 0., 0., 4., 5., 0.], [1., 2., 3., 0., 5., 6.]),
            (1, [1., 2., 0., 4., 5., 6.], [0., 2., 3., 0., 0., 6.]),
            (-1, [0., 0., 0., 4., 0., 0.], [1., 2., 3., 4., 5., 6.]),
            (isize::MAX, [1., 2., 3., 4., 5., 6.], [0.; 6]),
            (isize::MIN, [0.; 6], [1., 2., 3., 4., 5., 6.]),
        ];
        for (k, lower, upper) in cases {
            assert_eq!(elements(&x.tril(k).unwrap()), lower, "tril {k}");
            assert_eq!(elements(&x.triu(k).unwrap()), upper, "triu {k}");
        }
        assert_eq!(ints(&[], &[0, 3]).tril(0).unwrap().shape(), [0, 3]);
        assert_eq!(ints(&[], &[3, 0]).triu(0).unwrap().shape(), [3, 0]);
        assert!(ints(&[1], &[1]).tril(0).is_err());
    }

    #[test]
    fn gradients_have_the_same_triangle() {
        check_gradients(&[leaf(&[2, 3, 4])], |x| x[0].tril(1));
        check_gradients(&[leaf(&[3, 4])], |x| x[0].transpose()?.triu(-1));
    }
}
