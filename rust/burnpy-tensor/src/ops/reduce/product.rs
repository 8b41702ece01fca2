//! Products of many elements.

use super::values::{AsRows, Reduced, fold_values};
use crate::autodiff::record;
use crate::element::Kind;
use crate::error::{Error, Result};
use crate::kernels::number::Number;
use crate::kernels::reduce::Prod;
use crate::ops::broadcast::Shape;
use crate::ops::half::via_f32;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{dispatch_bits, dispatch_float, parallel};

/// Elements of a task.
const CHUNK: usize = 16 << 10;

impl Tensor {
    /// Product of all elements, of shape `[1]`; 1 if there are none. Integers wrap around.
    ///
    /// # Errors
    /// `DType` for booleans.
    pub fn prod(&self) -> Result<Self> {
        prod("prod", self, |x| Ok(Reduced::all(x)), Some([1].as_slice().into()))
    }

    /// Product along an axis, which is kept with size 1.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `DType` for booleans.
    pub fn prod_dim(&self, dim: isize) -> Result<Self> {
        self.prod_dims(&[dim])
    }

    /// Product along axes, which are kept with size 1. Without axes, nothing is multiplied.
    ///
    /// # Errors
    /// As [`Tensor::prod_dim`], or `Argument` if an axis comes twice.
    pub fn prod_dims(&self, dims: &[isize]) -> Result<Self> {
        prod("prod_dim", self, |x| Reduced::new("prod_dim", x, dims), None)
    }
}

fn prod(
    operation: &'static str,
    x: &Tensor,
    reduced: impl FnOnce(&Value) -> Result<Reduced>,
    seen: Option<Shape>,
) -> Result<Tensor> {
    via_f32([x], |[x]| {
        let reduced = reduced(x.value())?;
        let value = prod_values(operation, x.value(), &reduced)?;
        let value = seen.map_or_else(|| value.clone(), |shape| value.reshaped(&shape));
        // dx = dy · the product of the other elements, which is no quotient: there may be zeros
        Ok(record(operation, [x], value, |_| {
            let x = x.value().clone();
            move |gradient: Value| Ok([Some(others(&x, &gradient, &reduced)?)])
        }))
    })
}

fn prod_values(operation: &'static str, value: &Value, reduced: &Reduced) -> Result<Value> {
    dispatch_float!(value.dtype(), T => fold_values::<T>(value, reduced, Prod), else => {
        if Kind::of(value.dtype()) != Kind::Int {
            let name = value.dtype().name();
            return Err(Error::dtype(operation, format_args!("{name} tensors have no arithmetic; cast first")));
        }
        dispatch_bits!(value.dtype().size().unwrap_or(8), T => fold_values::<T>(value, reduced, Prod))
    })
}

/// For each element, `gradient` times the product of those that it is multiplied with.
fn others(x: &Value, gradient: &Value, reduced: &Reduced) -> Result<Value> {
    let as_rows = AsRows::new(x, reduced);
    let (rows, weights) = (&as_rows.rows, gradient.contiguous());
    let result = dispatch_float!(x.dtype(), T => {
        let (x, weights) = (rows.as_slice::<T>().expect("contiguous"), weights.as_slice::<T>().expect("contiguous"));
        Value::build_as(rows.dtype(), rows.shape(), |out: &mut [T]| {
            let len = reduced.count.max(1);
            let each = (CHUNK / len).max(1);
            parallel::chunks_mut(out, len * each, |i, out| {
                for (j, out) in out.chunks_mut(len).enumerate() {
                    let row = i * each + j;
                    products_of_others(&x[row * len..][..len], weights[row], out);
                }
            });
        })
    }, else => Err(Error::dtype("prod", "only floats have gradients")))?;
    Ok(as_rows.restore(&result))
}

fn products_of_others<T: Number<Wide = f64>>(x: &[T], weight: T, out: &mut [T]) {
    let mut after = vec![1.0; x.len()];
    for i in (1..x.len()).rev() {
        after[i - 1] = after[i] * x[i].widen();
    }
    let mut before = weight.widen();
    for ((out, &x), after) in out.iter_mut().zip(x).zip(after) {
        *out = T::narrow(before * after);
        before *= x.widen();
    }
}
