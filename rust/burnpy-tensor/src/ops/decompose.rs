//! Decompositions of matrices: QR, LU, SVD, and the determinant. The mathematics is `nalgebra`'s.

use nalgebra::{DMatrix, RealField};

use super::half::via_f32;
use super::linalg::matrix_shape;
use crate::autodiff::record;
use crate::dispatch_float;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::parallel;
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// The determinants of the matrices in the last two axes: shape `[…]` of `[…, n, n]`, `[1]` of one matrix.
    ///
    /// # Errors
    /// `Shape` if the matrices are not square, `DType` if they are not of floats.
    pub fn det(&self) -> Result<Self> {
        via_f32([self], |[x]| {
            let (batch, rows, cols) = matrix_shape("det", x.value())?;
            if rows != cols {
                return Err(Error::shape("det", format_args!("matrices are {rows} × {cols}, not square")));
            }
            let (value, adjugates) = determinants(x.value(), batch, rows, x.is_tracked())?;
            // d det(X) = Σ adj(X)ᵀ ∘ dX, also where X has no inverse
            Ok(record("det", [x], value, |_| {
                move |gradient: Value| {
                    let adjugates = adjugates.expect("kept for a tracked input");
                    let mut shape = adjugates.shape().to_vec();
                    let rank = shape.len();
                    (shape[rank - 2], shape[rank - 1]) = (1, 1);
                    Ok([Some(super::arith::mul_values("det", &adjugates, &gradient.reshaped(&shape))?)])
                }
            }))
        })
    }

    /// `(q, r)` with `self = q · r`: q `[m, k]` has orthonormal columns, r `[k, n]` is upper triangular,
    /// k = min(m, n). No gradient.
    ///
    /// # Errors
    /// `Shape` if it is no matrix, `DType` if it is not of floats.
    pub fn qr(&self) -> Result<(Self, Self)> {
        let (dtype, x) = plain_matrix("qr", self)?;
        let [q, r] = dispatch_float!(x.dtype(), T => {
            let qr = to_matrix::<T>(&x).qr();
            [from_matrix::<T>(&qr.q())?, from_matrix::<T>(&qr.r())?]
        }, else => return Err(not_floats("qr", &x)));
        Ok((q.cast(dtype)?, r.cast(dtype)?))
    }

    /// `(l, u, p)` with `p · self = l · u`: l is lower triangular with ones on its diagonal, u upper triangular, and
    /// p a permutation as a matrix of zeros and ones. No gradient.
    ///
    /// # Errors
    /// As [`Tensor::qr`].
    pub fn lu(&self) -> Result<(Self, Self, Self)> {
        let (dtype, x) = plain_matrix("lu", self)?;
        let [l, u, p] = dispatch_float!(x.dtype(), T => {
            let lu = to_matrix::<T>(&x).lu();
            let mut p = DMatrix::<T>::identity(x.shape()[0], x.shape()[0]);
            lu.p().permute_rows(&mut p);
            [from_matrix::<T>(&lu.l())?, from_matrix::<T>(&lu.u())?, from_matrix::<T>(&p)?]
        }, else => return Err(not_floats("lu", &x)));
        Ok((l.cast(dtype)?, u.cast(dtype)?, p.cast(dtype)?))
    }

    /// `(u, s, vt)` with `self = u · diag(s) · vt`, s descending; u `[m, k]`, s `[k]`, vt `[k, n]`, k = min(m, n). No
    /// gradient.
    ///
    /// # Errors
    /// As [`Tensor::qr`]; `Argument` if an element is not finite.
    pub fn svd(&self) -> Result<(Self, Self, Self)> {
        let (dtype, x) = plain_matrix("svd", self)?;
        let [u, s, vt] = dispatch_float!(x.dtype(), T => {
            let matrix = to_matrix::<T>(&x);
            if !matrix.iter().all(|x| x.is_finite()) {
                return Err(Error::argument("svd", "the matrix has elements that are not finite"));
            }
            if matrix.is_empty() {
                let k = x.shape()[0].min(x.shape()[1]);
                let zeros = |shape: &[usize]| Value::zeros(shape, x.dtype());
                [zeros(&[x.shape()[0], k])?, zeros(&[k])?, zeros(&[k, x.shape()[1]])?].map(Self::from)
            } else {
                let svd = matrix.svd(true, true);
                let (u, vt) = (svd.u.expect("asked for"), svd.v_t.expect("asked for"));
                let s: Vec<T> = svd.singular_values.iter().copied().collect();
                [from_matrix::<T>(&u)?, Value::from_slice(&s, &[s.len()])?.into(), from_matrix::<T>(&vt)?]
            }
        }, else => return Err(not_floats("svd", &x)));
        Ok((u.cast(dtype)?, s.cast(dtype)?, vt.cast(dtype)?))
    }
}

/// The elements of one matrix in f32 or f64, and the dtype that results have.
fn plain_matrix(operation: &'static str, x: &Tensor) -> Result<(burnpy_buffer::DType, Value)> {
    let dtype = super::half::number_dtype(x.dtype());
    let wide = if super::half::is_half(x.dtype()) { x.cast(burnpy_buffer::DType::F32)? } else { x.clone() };
    if x.rank() != 2 {
        return Err(Error::shape(operation, format_args!("expected a matrix, got shape {:?}", x.shape())));
    }
    Ok((dtype, wide.into_value()))
}

fn not_floats(operation: &'static str, x: &Value) -> Error {
    Error::dtype(operation, format_args!("expected floats, got {}", x.dtype().name()))
}

fn to_matrix<T: Element + RealField>(x: &Value) -> DMatrix<T> {
    let dense = x.contiguous();
    DMatrix::from_row_slice(x.shape()[0], x.shape()[1], dense.as_slice::<T>().expect("its dtype"))
}

fn from_matrix<T: Element + RealField>(matrix: &DMatrix<T>) -> Result<Tensor> {
    let (rows, cols) = matrix.shape();
    let value = Value::build(&[rows, cols], |out: &mut [T]| {
        for (i, out) in out.iter_mut().enumerate() {
            *out = matrix[(i / cols, i % cols)];
        }
    })?;
    Ok(value.into())
}

/// Determinants, and if wanted the transposed adjugates, which are their gradients.
fn determinants(x: &Value, batch: usize, n: usize, wants_adjugates: bool) -> Result<(Value, Option<Value>)> {
    let shape = if x.rank() == 2 { vec![1] } else { x.shape()[..x.rank() - 2].to_vec() };
    let dense = x.contiguous();
    dispatch_float!(x.dtype(), T => {
        let data = dense.as_slice::<T>().expect("contiguous");
        let matrix = |i: usize| DMatrix::<f64>::from_row_iterator(n, n, data[i * n * n..(i + 1) * n * n].iter().map(|x| x.to_f64()));
        let found = parallel::map(batch, |i| {
            let matrix = matrix(i);
            (matrix.clone().lu().determinant(), wants_adjugates.then(|| adjugate_transposed(&matrix)))
        });
        let value = Value::build_as(x.dtype(), &shape, |out: &mut [T]| {
            out.iter_mut().zip(&found).for_each(|(out, (det, _))| *out = T::from_f64(*det));
        })?;
        if !wants_adjugates {
            return Ok((value, None));
        }
        let adjugates = Value::build_as(x.dtype(), x.shape(), |out: &mut [T]| {
            let all = found.iter().flat_map(|(_, adjugate)| adjugate.iter().flatten());
            out.iter_mut().zip(all).for_each(|(out, &x)| *out = T::from_f64(x));
        })?;
        Ok((value, Some(adjugates)))
    }, else => Err(not_floats("det", x)))
}

/// The cofactors in row-major order: det(X) · X⁻ᵀ from X = U S Vᵀ, as det(U) det(V) · U (∏_{j≠i} s_j) Vᵀ, which needs
/// no inverse.
fn adjugate_transposed(matrix: &DMatrix<f64>) -> Vec<f64> {
    let n = matrix.nrows();
    if n == 0 || !matrix.iter().all(|x| x.is_finite()) {
        return vec![f64::NAN; n * n];
    }
    let svd = matrix.clone().svd(true, true);
    let (u, vt) = (svd.u.expect("asked for"), svd.v_t.expect("asked for"));
    let sign = (u.determinant() * vt.determinant()).signum();
    let others =
        |i: usize| svd.singular_values.iter().enumerate().filter(move |&(j, _)| j != i).map(|(_, &s)| s);
    let scaled = DMatrix::from_fn(n, n, |row, i| sign * u[(row, i)] * others(i).product::<f64>());
    let cofactors = scaled * vt;
    (0..n * n).map(|i| cofactors[(i / n, i % n)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, data: &[f64]) -> Tensor {
        Tensor::from(Value::from_slice(data, &[rows, data.len() / rows.max(1)]).unwrap())
    }

    fn product(a: &Tensor, b: &Tensor) -> Vec<f64> {
        let (x, y) = (to_matrix::<f64>(a.value()), to_matrix::<f64>(b.value()));
        let product = x * y;
        (0..product.len()).map(|i| product[(i / product.ncols(), i % product.ncols())]).collect()
    }

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn the_factors_multiply_to_the_matrix() {
        let data = [2.0, -1.0, 0.5, 4.0, 3.0, 1.0];
        for rows in [2, 3] {
            let x = matrix(rows, &data);
            let (q, r) = x.qr().unwrap();
            assert!(close(&product(&q, &r), &data));
            let (l, u, p) = x.lu().unwrap();
            assert!(close(&product(&l, &u), &product(&p, &x)));
            let (u, s, vt) = x.svd().unwrap();
            let s = s.value().as_slice::<f64>().unwrap().to_vec();
            let us = to_matrix::<f64>(u.value()) * DMatrix::from_diagonal(&s.clone().into());
            assert!(s[0] >= s[1] && close(&product(&from_matrix(&us).unwrap(), &vt), &data));
        }
        assert!(matrix(1, &[f64::NAN]).svd().is_err());
        assert!(Tensor::from(Value::from_slice(&[1i32], &[1, 1]).unwrap()).qr().is_err());
    }

    #[test]
    fn the_gradient_of_a_determinant_is_the_cofactors_also_of_a_singular_matrix() {
        for (data, det, gradient) in [
            ([1.0, 2.0, 3.0, 4.0], -2.0, [4.0, -3.0, -2.0, 1.0]),
            ([1.0, 2.0, 2.0, 4.0], 0.0, [4.0, -2.0, -2.0, 1.0]),
        ] {
            let x = matrix(2, &data).autodiff().require_grad().unwrap();
            let y = x.det().unwrap();
            assert!(close(y.value().as_slice::<f64>().unwrap(), &[det]));
            let grads = y.backward().unwrap();
            assert!(close(x.grad(&grads).unwrap().as_slice::<f64>().unwrap(), &gradient), "{grads:?}");
        }
        assert!(matrix(1, &[1.0, 2.0]).det().is_err());
    }
}
