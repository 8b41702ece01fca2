//! Products of matrices and vectors.

use burnpy_buffer::Pod;

use super::broadcast::{Shape, broadcast_shape, same_dtype, sum_to, typed};
use super::half::via_f32;
use crate::autodiff::record;
use crate::error::{Error, Result};
use crate::kernels::gemm::{Batch, Epilogue, MatRef, gemm_batch, matmul_plain};
use crate::kernels::strided::Odometer;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{dispatch_float, dispatch_int};

impl Tensor {
    /// Matrix product of the last two axes, `[…, m, k] · […, k, n] = […, m, n]`; the axes before them broadcast.
    /// Integers wrap around. No operand is copied, whatever its strides.
    ///
    /// # Errors
    /// `Shape` if a rank is below 2, the inner sizes differ or the other axes do not broadcast; `DType` if the dtypes
    /// differ or are booleans.
    pub fn matmul(&self, other: &Self) -> Result<Self> {
        if let Some(operand) = [self, other].into_iter().find(|operand| operand.rank() < 2) {
            let shape = operand.shape();
            return Err(Error::shape("matmul", format_args!("needs at least 2 axes, got shape {shape:?}")));
        }
        product("matmul", [self, other], [self.shape(), other.shape()], |out| out)
    }

    /// Scalar product of two vectors of one size, of shape `[1]`.
    ///
    /// # Errors
    /// `Shape` if one is no vector or the sizes differ, `DType` as [`Tensor::matmul`].
    pub fn dot(&self, other: &Self) -> Result<Self> {
        let (a, b) = (self.shape(), other.shape());
        if a.len() != 1 || a != b {
            return Err(Error::shape(
                "dot",
                format_args!("needs two vectors of one size, got {a:?} and {b:?}"),
            ));
        }
        product("dot", [self, other], [&[1, a[0]], &[a[0], 1]], |_| [1].as_slice().into())
    }

    /// Matrix times vector, `[…, m, n] · […, n] = […, m]`; the axes before them broadcast.
    ///
    /// # Errors
    /// As [`Tensor::matmul`].
    pub fn matvec(&self, vector: &Self) -> Result<Self> {
        let (a, v) = (self.shape(), vector.shape());
        if a.len() < 2 || v.is_empty() {
            return Err(Error::shape(
                "matvec",
                format_args!("needs a matrix and a vector, got {a:?} and {v:?}"),
            ));
        }
        let column = [v, &[1]].concat();
        product("matvec", [self, vector], [a, &column], |mut out| {
            out.pop();
            out
        })
    }

    /// All products of an element of one vector and one of the other, `[…, m] ⊗ […, n] = […, m, n]`; the axes before
    /// them broadcast.
    ///
    /// # Errors
    /// As [`Tensor::matmul`].
    pub fn outer(&self, other: &Self) -> Result<Self> {
        let (Some((n, batch)), false) = (other.shape().split_last(), self.shape().is_empty()) else {
            let (a, b) = (self.shape(), other.shape());
            return Err(Error::shape("outer", format_args!("needs two vectors, got {a:?} and {b:?}")));
        };
        let (column, row) = ([self.shape(), &[1]].concat(), [batch, &[1, *n]].concat());
        product("outer", [self, other], [&column, &row], |out| out)
    }
}

/// The matrix product of operands seen in other shapes, seen in another shape itself.
fn product(
    operation: &'static str,
    operands: [&Tensor; 2],
    shapes: [&[usize]; 2],
    output: impl FnOnce(Shape) -> Shape,
) -> Result<Tensor> {
    via_f32(operands, |operands| {
        let [a, b] = [0, 1].map(|i| operands[i].value().reshaped(shapes[i]));
        let value = matmul_values(operation, &a, &b)?;
        let matrices: Shape = value.shape().into();
        let value = value.reshaped(&output(matrices.clone()));
        // d(A·B): dA = G·Bᵀ, dB = Aᵀ·G, each summed over the axes along which it was repeated
        Ok(record(operation, operands, value, |needs| {
            let seen: [Shape; 2] = [a.shape().into(), b.shape().into()];
            let originals: [Shape; 2] = operands.map(|operand| operand.shape().into());
            let (a, b) = (needs[1].then_some(a), needs[0].then_some(b));
            move |gradient: Value| {
                let gradient = gradient.reshaped(&matrices);
                let left = b.map(|b| left_gradient(operation, &gradient, &b, &seen[0])).transpose()?;
                let right = a.map(|a| right_gradient(operation, &a, &gradient, &seen[1])).transpose()?;
                Ok([left.map(|x| x.reshaped(&originals[0])), right.map(|x| x.reshaped(&originals[1]))])
            }
        }))
    })
}

/// `G·Bᵀ`, summed to the left operand's shape.
fn left_gradient(operation: &'static str, gradient: &Value, b: &Value, shape: &[usize]) -> Result<Value> {
    sum_to(matmul_values(operation, gradient, &b.transposed())?, shape)
}

/// `Aᵀ·G`, summed to the right operand's shape.
fn right_gradient(operation: &'static str, a: &Value, gradient: &Value, shape: &[usize]) -> Result<Value> {
    let (batch, _) = shape.split_at(shape.len() - 2);
    let same_rows = a.shape()[..a.rank() - 1] == gradient.shape()[..gradient.rank() - 1];
    if same_rows && batch.iter().all(|&size| size == 1) {
        // One product over all rows of all batches is the sum over the batches.
        let rows = a.shape()[..a.rank() - 1].iter().product();
        let [a, gradient] = [a, gradient].map(|x| x.reshaped(&[rows, x.shape()[x.rank() - 1]]));
        return Ok(matmul_values(operation, &a.transposed(), &gradient)?.reshaped(shape));
    }
    sum_to(matmul_values(operation, &a.transposed(), gradient)?, shape)
}

/// [`Tensor::matmul`] of values.
pub(crate) fn matmul_values(operation: &'static str, a: &Value, b: &Value) -> Result<Value> {
    let dtype = same_dtype(operation, a, b)?;
    let (a_batch, &[m, k]) = a.shape().split_last_chunk().expect("matrices");
    let (b_batch, &[inner, n]) = b.shape().split_last_chunk().expect("matrices");
    if k != inner {
        let message =
            format_args!("inner sizes {k} and {inner} of shapes {:?} and {:?} differ", a.shape(), b.shape());
        return Err(Error::shape(operation, message));
    }
    let batch = broadcast_shape(operation, a_batch, b_batch)?;
    let mut shape = batch.clone();
    shape.extend([m, n]);
    if let Some(rows) = one_matrix(a, b, &batch) {
        let whole = matmul_values(operation, &rows, &b.reshaped(&[k, n]))?;
        return Ok(whole.reshaped(&shape));
    }
    let a = spread(a, &batch, [m, k]);
    let b = spread(b, &batch, [k, n]);
    dispatch_float!(dtype, T => {
        let (x, y) = (matrix::<T>(operation, &a)?, matrix::<T>(operation, &b)?);
        let axes = batch_axes(&a, &b, m * n);
        Value::build_as(dtype, &shape, |out: &mut [T]| {
            gemm_batch(&axes, m, k, n, x, y, out, n, false, &Epilogue::default());
        })
    }, else => dispatch_int!(dtype, T => {
        let (x, y) = (matrix::<T>(operation, &a)?, matrix::<T>(operation, &b)?);
        Value::build_as(dtype, &shape, |out: &mut [T]| integers(&a, &b, (m, k, n), (x, y), out))
    }, else => Err(Error::dtype(operation, format_args!("{} tensors have no arithmetic; cast first", dtype.name())))))
}

/// `a` as a single matrix of all its rows, if `b` is the same for all of them and no copy is needed for it.
fn one_matrix(a: &Value, b: &Value, batch: &[usize]) -> Option<Value> {
    let repeats = b.shape()[..b.rank() - 2].iter().all(|&size| size == 1);
    if !repeats || a.rank() == 2 || a.shape()[..a.rank() - 2] != *batch {
        return None;
    }
    let cols = a.shape()[a.rank() - 1];
    let rows = a.shape()[..a.rank() - 1].iter().product();
    a.layout().reshaped(&[rows, cols]).map(|layout| a.with_layout(layout))
}

fn spread(value: &Value, batch: &[usize], matrix: [usize; 2]) -> Value {
    value.broadcast_to(&[batch, &matrix].concat()).expect("it is what the shape was made from")
}

/// The first matrix of the last two axes.
pub(crate) fn matrix<'a, T: crate::element::Element>(
    operation: &'static str,
    value: &'a Value,
) -> Result<MatRef<'a, T>> {
    let strides = value.layout().strides();
    let (row, col) = (strides[value.rank() - 2], strides[value.rank() - 1]);
    Ok(MatRef::new(typed(operation, value)?, value.layout().offset(), row, col))
}

fn batch_axes(a: &Value, b: &Value, matrix: usize) -> Vec<Batch> {
    let rank = a.rank() - 2;
    let mut out_stride = matrix;
    let mut axes: Vec<Batch> = (0..rank)
        .rev()
        .map(|axis| {
            let (len, stride) = (a.shape()[axis], out_stride);
            out_stride *= len;
            let (a_stride, b_stride) = (a.layout().strides()[axis], b.layout().strides()[axis]);
            Batch { len, a_stride, b_stride, out_stride: stride }
        })
        .collect();
    axes.reverse();
    axes
}

/// Products of integers, one after the other.
fn integers<T: Pod + crate::kernels::number::Number>(
    a: &Value,
    b: &Value,
    (m, k, n): (usize, usize, usize),
    (x, y): (MatRef<'_, T>, MatRef<'_, T>),
    out: &mut [T],
) {
    let axes = |value: &Value| -> Vec<(usize, isize)> {
        value
            .shape()
            .iter()
            .copied()
            .zip(value.layout().strides().iter().copied())
            .take(value.rank() - 2)
            .collect()
    };
    let (a_axes, b_axes) = (axes(a), axes(b));
    let mut from = (Odometer::new(&a_axes, x.offset, 0), Odometer::new(&b_axes, y.offset, 0));
    for out in out.chunks_mut((m * n).max(1)) {
        let (x, y) = (MatRef { offset: from.0.position(), ..x }, MatRef { offset: from.1.position(), ..y });
        matmul_plain(m, k, n, x, y, out, n);
        from.0.advance();
        from.1.advance();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{assert_close, check_gradients, doubles, numbers, tensor};

    /// Row-major product of matrices of the last two axes, batches already equal.
    fn reference(a: &Value, b: &Value) -> Vec<f64> {
        let ([m, k], n) = ([a.rank() - 2, a.rank() - 1].map(|axis| a.shape()[axis]), b.shape()[b.rank() - 1]);
        let (x, y) = (doubles(a), doubles(b));
        let batches = a.num_elements() / (m * k);
        let sum = |batch: usize, i: usize, j: usize| {
            (0..k).map(|l| x[(batch * m + i) * k + l] * y[(batch * k + l) * n + j]).sum()
        };
        let places =
            (0..batches).flat_map(|batch| (0..m).flat_map(move |i| (0..n).map(move |j| (batch, i, j))));
        places.map(|(batch, i, j)| sum(batch, i, j)).collect()
    }

    #[test]
    fn matrices_of_any_strides_and_batches_multiply() {
        for (a, b) in [
            (numbers(&[3, 5], 0), numbers(&[5, 4], 1)),
            (numbers(&[5, 3], 0).transposed(), numbers(&[4, 5], 1).transposed()),
            (numbers(&[2, 3, 5], 0), numbers(&[2, 5, 4], 1)),
            (numbers(&[2, 3, 5], 0), numbers(&[1, 5, 4], 1)),
            (numbers(&[2, 3, 5], 0), numbers(&[5, 4], 1)),
            (numbers(&[2, 1, 3, 5], 0), numbers(&[1, 3, 5, 4], 1)),
            (numbers(&[3, 2, 3, 5], 0).permuted(&[1, 0, 2, 3]), numbers(&[4, 5], 1).transposed()),
            (numbers(&[1, 5], 0), numbers(&[5, 1], 1)),
        ] {
            let batch = broadcast_shape("", &a.shape()[..a.rank() - 2], &b.shape()[..b.rank() - 2]).unwrap();
            let spread = |x: &Value| spread(x, &batch, *x.shape().last_chunk().unwrap());
            let found = Tensor::from(a.clone()).matmul(&b.clone().into()).unwrap();
            assert_close(&doubles(found.value()), &reference(&spread(&a), &spread(&b)), 1e-13);
            check_gradients(&[a, b], |x| x[0].matmul(&x[1]));
        }
    }

    #[test]
    fn vectors_multiply() {
        let [a, b] = [numbers(&[4], 0), numbers(&[4], 1)].map(Tensor::from);
        let dot = a.dot(&b).unwrap();
        assert_eq!((dot.shape(), a.outer(&b).unwrap().shape()), (&[1][..], &[4, 4][..]));
        check_gradients(&[numbers(&[7], 0), numbers(&[7], 1)], |x| x[0].dot(&x[1]));
        check_gradients(&[numbers(&[2, 3], 0), numbers(&[2, 4], 1)], |x| x[0].outer(&x[1]));
        check_gradients(&[numbers(&[3, 4], 0), numbers(&[4], 1)], |x| x[0].matvec(&x[1]));
        check_gradients(&[numbers(&[2, 3, 4], 0), numbers(&[2, 4], 1)], |x| x[0].matvec(&x[1]));
    }

    #[test]
    fn integers_multiply_and_wrap() {
        let (a, b) = (tensor(&[1i32, 2, 3, 4], &[2, 2]), tensor(&[5i32, 6, 7, 8], &[2, 2]));
        assert_eq!(a.matmul(&b).unwrap().value().as_slice::<i32>(), Some(&[19, 22, 43, 50][..]));
        let (a, b) = (tensor(&[16u8, 1, 2, 3], &[2, 1, 2]), tensor(&[16u8, 3], &[1, 2, 1]));
        assert_eq!(a.matmul(&b).unwrap().value().as_slice::<u8>(), Some(&[3, 41][..]));
    }

    #[test]
    fn sizes_of_zero_and_what_does_not_fit() {
        let none = tensor::<f32>(&[], &[2, 0]);
        assert_eq!(doubles(none.matmul(&tensor::<f32>(&[], &[0, 3])).unwrap().value()), [0.0; 6]);
        assert_eq!(
            tensor::<f32>(&[], &[0, 2, 3]).matmul(&tensor(&[1.0f32; 3], &[3, 1])).unwrap().shape(),
            [0, 2, 1]
        );
        let message = |result: Result<Tensor>| result.unwrap_err().to_string();
        let x = tensor(&[1.0f32; 6], &[2, 3]);
        assert_eq!(message(x.matmul(&x)), "matmul: inner sizes 3 and 2 of shapes [2, 3] and [2, 3] differ");
        assert_eq!(
            message(x.matmul(&tensor(&[1.0f32], &[1]))),
            "matmul: needs at least 2 axes, got shape [1]"
        );
        assert!(message(x.dot(&x)).starts_with("dot: needs two vectors of one size"));
        assert!(message(x.matmul(&tensor(&[1.0f64; 3], &[3, 1]))).contains("differ; cast"));
    }
}
