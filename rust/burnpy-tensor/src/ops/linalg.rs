//! Norms and other small things about vectors and matrices.

use super::axis::axis;
use super::half::number_dtype;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// The p-norm along an axis, kept with size 1: (Σ|x|^p)^{1/p}; the number of non-zeros for p = 0, the largest and
    /// smallest magnitude for p = ∞ and −∞. The gradient at a norm of 0 is 0.
    ///
    /// # Errors
    /// `Shape` for a wrong axis, `Argument` for p = NaN, `DType` if it is not of floats.
    pub fn vector_norm(&self, p: f64, dim: isize) -> Result<Self> {
        axis("vector_norm", dim, self.rank())?;
        match p {
            _ if p.is_nan() => Err(Error::argument("vector_norm", "p is NaN")),
            0.0 => self.not_equal_scalar(0.0.into())?.cast(number_dtype(self.dtype()))?.sum_dim(dim),
            1.0 => self.abs()?.sum_dim(dim),
            f64::INFINITY => self.abs()?.max_dim(dim),
            f64::NEG_INFINITY => self.abs()?.min_dim(dim),
            2.0 => root(&self.square()?.sum_dim(dim)?, 2.0),
            _ => root(&self.abs()?.powf_scalar(p)?.sum_dim(dim)?, p),
        }
    }

    /// `self / max(norm, eps)` along an axis.
    ///
    /// # Errors
    /// As [`Tensor::vector_norm`].
    pub fn vector_normalize(&self, p: f64, dim: isize, eps: f64) -> Result<Self> {
        self.div(&self.vector_norm(p, dim)?.clamp_min(eps.into())?)
    }

    /// `a·b / (max(‖a‖, eps) · max(‖b‖, eps))` along an axis, kept with size 1.
    ///
    /// # Errors
    /// As [`Tensor::vector_norm`], and `Shape` if the shapes do not broadcast.
    pub fn cosine_similarity(&self, other: &Self, dim: isize, eps: f64) -> Result<Self> {
        let norms = |x: &Self| x.vector_norm(2.0, dim)?.clamp_min(eps.into());
        self.mul(other)?.sum_dim(dim)?.div(&norms(self)?.mul(&norms(other)?)?)
    }

    /// The main diagonals of the matrices in the last two axes: `[…, min(m, n)]` of `[…, m, n]`. A view.
    ///
    /// # Errors
    /// `Shape` if the rank is under 2.
    pub fn diag(&self) -> Result<Self> {
        matrix_shape("diag", self.value())?;
        let rank = self.rank();
        self.diagonal(rank - 2, rank - 1)
    }

    /// The sums of the main diagonals: `[…]` of `[…, m, n]`, `[1]` of one matrix.
    ///
    /// # Errors
    /// As [`Tensor::diag`].
    pub fn trace(&self) -> Result<Self> {
        let sums = self.diag()?.sum_dim(-1)?;
        if sums.rank() == 1 { Ok(sums) } else { sums.squeeze_dim(-1) }
    }

    /// The cross product of vectors of 3 along an axis; other axes broadcast.
    ///
    /// # Errors
    /// `Shape` if the axis does not have size 3 in both, or the shapes do not broadcast.
    pub fn cross(&self, other: &Self, dim: isize) -> Result<Self> {
        for x in [self, other] {
            let size = x.shape()[axis("cross", dim, x.rank())?];
            if size != 3 {
                return Err(Error::shape("cross", format_args!("axis {dim} has size {size}, expected 3")));
            }
        }
        // (a × b)_i = a_{i+1} b_{i+2} − a_{i+2} b_{i+1}
        let turned = |x: &Self, by: isize| x.roll_dim(-by, dim);
        let (a1, a2) = (turned(self, 1)?, turned(self, 2)?);
        let (b1, b2) = (turned(other, 1)?, turned(other, 2)?);
        a1.mul(&b2)?.sub(&a2.mul(&b1)?)
    }

    /// The covariance of the rows (variables) over the columns (observations) of a matrix: `[m, m]` of `[m, n]`,
    /// divided by n − `correction`.
    ///
    /// # Errors
    /// `Shape` if it is no matrix, `Argument` if there are not more observations than the correction.
    pub fn cov(&self, dim: isize, correction: usize) -> Result<Self> {
        if self.rank() != 2 {
            return Err(Error::shape("cov", format_args!("expected a matrix, got shape {:?}", self.shape())));
        }
        let along = axis("cov", dim, 2)?;
        let count = self.shape()[along];
        if count <= correction {
            let message = format_args!("{count} observations are not more than the correction {correction}");
            return Err(Error::argument("cov", message));
        }
        let centred = self.sub(&self.mean_dim(dim)?)?;
        let rows = if along == 1 { centred } else { centred.transpose()? };
        rows.matmul(&rows.transpose()?)?.div_scalar(((count - correction) as f64).into())
    }
}

/// `sum^{1/p}`, whose gradient at 0 is 0 and not infinite: a norm of 0 has the subgradient 0.
fn root(sum: &Tensor, p: f64) -> Result<Tensor> {
    let zero = sum.equal_scalar(0.0.into())?;
    let safe = sum.mask_fill(&zero, 1.0.into())?;
    let root = if p == 2.0 { safe.sqrt()? } else { safe.powf_scalar(1.0 / p)? };
    root.mask_fill(&zero, if p > 0.0 { 0.0 } else { f64::INFINITY }.into())
}

/// Batch, rows and columns of the matrices in the last two axes.
///
/// # Errors
/// `Shape` if the rank is under 2.
pub(crate) fn matrix_shape(operation: &'static str, x: &Value) -> Result<(usize, usize, usize)> {
    match x.shape() {
        [batch @ .., rows, cols] => Ok((batch.iter().product(), *rows, *cols)),
        shape => Err(Error::shape(operation, format_args!("expected matrices, got shape {shape:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(data: &[f64], shape: &[usize]) -> Tensor {
        Tensor::from(Value::from_slice(data, shape).unwrap())
    }

    fn numbers(tensor: &Tensor) -> Vec<f64> {
        tensor.value().contiguous().as_slice::<f64>().unwrap().to_vec()
    }

    #[test]
    fn norms_are_those_of_their_p() {
        let x = tensor(&[3.0, -4.0, 0.0], &[1, 3]);
        for (p, expected) in
            [(0.0, 2.0), (1.0, 7.0), (2.0, 5.0), (f64::INFINITY, 4.0), (f64::NEG_INFINITY, 0.0)]
        {
            assert_eq!(numbers(&x.vector_norm(p, 1).unwrap()), [expected], "p = {p}");
        }
        let cubic = numbers(&x.vector_norm(3.0, -1).unwrap())[0];
        assert!((cubic - 91f64.powf(1.0 / 3.0)).abs() < 1e-12);
        assert!(x.vector_norm(f64::NAN, 1).is_err() && x.vector_norm(2.0, 2).is_err());
    }

    #[test]
    fn the_gradient_of_a_norm_of_zero_is_zero() {
        let x = tensor(&[0.0, 0.0, 3.0, 4.0], &[2, 2]).autodiff().require_grad().unwrap();
        let grads = x.vector_norm(2.0, 1).unwrap().backward().unwrap();
        let found = x.grad(&grads).unwrap().contiguous();
        let found = found.as_slice::<f64>().unwrap();
        assert!(found[..2] == [0.0, 0.0] && (found[2] - 0.6).abs() < 1e-12 && (found[3] - 0.8).abs() < 1e-12);
    }

    #[test]
    fn diagonals_traces_and_products_of_vectors() {
        let x = tensor(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]);
        assert_eq!((numbers(&x.diag().unwrap()), numbers(&x.trace().unwrap())), (vec![1.0, 5.0], vec![6.0]));
        let batch = tensor(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], &[2, 2, 2]);
        assert_eq!(
            (batch.trace().unwrap().shape(), numbers(&batch.trace().unwrap())),
            (&[2][..], vec![5.0, 13.0])
        );
        let (a, b) = (tensor(&[1.0, 0.0, 0.0], &[1, 3]), tensor(&[0.0, 1.0, 0.0], &[1, 3]));
        assert_eq!(numbers(&a.cross(&b, 1).unwrap()), [0.0, 0.0, 1.0]);
        assert!(x.cross(&x, 0).is_err() && a.reshape(&[3]).unwrap().diag().is_err());
        assert_eq!(numbers(&a.cosine_similarity(&a, 1, 1e-8).unwrap()), [1.0]);
    }

    #[test]
    fn a_covariance_is_symmetric_and_divided_by_the_freedom() {
        let x = tensor(&[1.0, 2.0, 3.0, 6.0, 4.0, 2.0], &[2, 3]);
        assert_eq!(numbers(&x.cov(1, 1).unwrap()), [1.0, -2.0, -2.0, 4.0]);
        assert!(x.cov(1, 3).is_err() && tensor(&[1.0], &[1]).cov(0, 0).is_err());
    }
}
