//! Softmax and its relatives, over any axis.

use burnpy_buffer::Pod;

use super::axis;
use super::half::via_f32;
use crate::autodiff::record;
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::kernels::number::Real;
use crate::kernels::{map, ops, quiet_softmax, softmax};
use crate::tensor::Tensor;
use crate::value::Value;

/// Which function of a slice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Function {
    Softmax,
    Softmin,
    LogSoftmax,
    Quiet,
}

impl Tensor {
    /// `eˣ / Σ eˣ` along an axis, computed without overflow.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `DType` if it is not of floats.
    pub fn softmax(&self, dim: isize) -> Result<Self> {
        apply("softmax", self, dim, Function::Softmax)
    }

    /// `x − ln Σ eˣ` along an axis, computed without overflow.
    ///
    /// # Errors
    /// As [`Tensor::softmax`].
    pub fn log_softmax(&self, dim: isize) -> Result<Self> {
        apply("log_softmax", self, dim, Function::LogSoftmax)
    }

    /// The softmax of `−x` along an axis.
    ///
    /// # Errors
    /// As [`Tensor::softmax`].
    pub fn softmin(&self, dim: isize) -> Result<Self> {
        apply("softmin", self, dim, Function::Softmin)
    }

    /// `eˣ / (1 + Σ eˣ)` along an axis, which can be 0 for all elements; it is for a slice of only −∞.
    ///
    /// # Errors
    /// As [`Tensor::softmax`].
    pub fn quiet_softmax(&self, dim: isize) -> Result<Self> {
        apply("quiet_softmax", self, dim, Function::Quiet)
    }
}

fn apply(operation: &'static str, x: &Tensor, dim: isize, function: Function) -> Result<Tensor> {
    via_f32([x], |[x]| {
        let axis = axis::axis(operation, dim, x.rank())?;
        let input = x.value();
        let value = dispatch_float!(x.dtype(), T => along::<T, 1>(axis, [input], |[x], n, out| forward(function, x, n, out)),
            else => Err(Error::dtype(operation, format_args!("needs floats, got {}", x.dtype().name()))))?;
        let output = value.clone();
        // y = softmax(x): dx = y (dy − Σ dy y), the same for quiet softmax, the contrary for softmin
        // y = log_softmax(x): dx = dy − eʸ Σ dy
        Ok(record(operation, [x], value, |_| {
            move |gradient: Value| {
                let dx = dispatch_float!(output.dtype(), T => {
                    along::<T, 2>(axis, [&gradient, &output], |[dy, y], n, out| backward(function, dy, y, n, out))
                }, else => unreachable!("checked above"))?;
                Ok([Some(dx)])
            }
        }))
    })
}

fn forward<T: Real>(function: Function, x: &[T], columns: usize, out: &mut [T]) {
    match function {
        Function::Softmax => softmax::softmax(x, columns, out),
        Function::LogSoftmax => softmax::log_softmax(x, columns, out),
        Function::Quiet => quiet_softmax::quiet_softmax(x, columns, out),
        Function::Softmin => {
            let mut contrary = x.to_vec();
            map::unary_assign(ops::Neg, &mut contrary);
            softmax::softmax(&contrary, columns, out);
        }
    }
}

fn backward<T: Real>(function: Function, dy: &[T], y: &[T], columns: usize, out: &mut [T]) {
    match function {
        Function::Softmax | Function::Quiet => softmax::softmax_backward(dy, y, columns, out),
        Function::LogSoftmax => softmax::log_softmax_backward(dy, y, columns, out),
        Function::Softmin => {
            softmax::softmax_backward(dy, y, columns, out);
            map::unary_assign(ops::Neg, out);
        }
    }
}

/// `run` on rows along an axis, whose elements it finds side by side; the result lies in memory as they do.
fn along<T: Real + Pod, const N: usize>(
    axis: usize,
    inputs: [&Value; N],
    run: impl FnOnce([&[T]; N], usize, &mut [T]),
) -> Result<Value> {
    let rank = inputs[0].rank();
    let order: Vec<usize> = (0..rank).filter(|&other| other != axis).chain([axis]).collect();
    let mut back = vec![0; rank];
    order.iter().enumerate().for_each(|(to, &from)| back[from] = to);
    let rows = inputs.map(|input| input.permuted(&order).contiguous());
    let columns = inputs[0].shape()[axis];
    let value = Value::build_as(inputs[0].dtype(), rows[0].shape(), |out: &mut [T]| {
        run(rows.each_ref().map(|rows| rows.as_slice().expect("contiguous")), columns, out);
    })?;
    Ok(value.permuted(&back))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{assert_close, check_gradients, doubles, numbers, tensor};

    type Run = fn(&Tensor, isize) -> Result<Tensor>;

    #[test]
    fn known_values() {
        let x = tensor(&[1.0f32, 2.0, 3.0], &[3]);
        assert_close(&doubles(x.softmax(0).unwrap().value()), &[0.09003057, 0.24472847, 0.66524096], 1e-6);
        let rows = tensor(&[1.0f64, 7.0, 13.0, -3.0], &[2, 2]);
        let expected = [2.472623157e-3, 0.997527377, 0.999999887, 1.12535162e-7];
        assert_close(&doubles(rows.softmax(-1).unwrap().value()), &expected, 1e-9);
        assert_close(
            &doubles(rows.softmin(1).unwrap().value()),
            &[expected[1], expected[0], expected[3], expected[2]],
            1e-9,
        );
        let logs = rows.log_softmax(1).unwrap();
        assert_close(&doubles(logs.value()), &expected.map(f64::ln), 1e-8);
    }

    #[test]
    fn quiet_rows_of_only_minus_infinity_are_zero_with_gradient_zero() {
        let low = f64::NEG_INFINITY;
        let x = tensor(&[low, low, 0.0, low, 1.0, 1000.0, -2000.0, -1999.0], &[4, 2])
            .autodiff()
            .require_grad()
            .unwrap();
        let y = x.quiet_softmax(1).unwrap();
        assert_close(&doubles(y.value()), &[0.0, 0.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0], 1e-15);
        let grads = y.backward().unwrap();
        assert_close(&doubles(x.grad(&grads).unwrap()), &[0.0, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0], 1e-15);
    }

    #[test]
    fn gradients_are_central_differences_over_every_axis() {
        let functions: [Run; 4] =
            [Tensor::softmax, Tensor::log_softmax, Tensor::softmin, Tensor::quiet_softmax];
        for run in functions {
            for dim in -3..3 {
                check_gradients(&[numbers(&[2, 3, 4], 1)], |x| run(&x[0], dim));
            }
            check_gradients(&[numbers(&[4, 3], 1).transposed()], |x| run(&x[0], 1));
            check_gradients(&[numbers(&[1], 1)], |x| run(&x[0], 0));
            assert_eq!(run(&tensor::<f32>(&[], &[2, 0]), 1).unwrap().shape(), [2, 0]);
            assert!(
                run(&tensor(&[1i32], &[1]), 0).unwrap_err().to_string().ends_with("needs floats, got i32")
            );
        }
    }
}
