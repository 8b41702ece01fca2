//! What `burnpy.tensor.TensorData` needs of Rust: values of lists with their natural dtypes, and comparisons.

use burnpy_tensor::{
    BOOL, DType, Element, Error, Kind, Result, Tensor, Value, dispatch_float, dispatch_stored,
};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::argument::{Shape, TensorDType};
use super::error::to_exception;
use super::gate;
use super::import::value_of;
use super::nested::Nested;
use super::tensor::PyTensor;

/// Differences that a message tells.
const TOLD: usize = 5;

/// A plain tensor of data as it is: floats are f64, integers i64; arrays and tensors keep their dtype.
#[pyfunction]
#[pyo3(signature = (data, shape=None, dtype=None, /))]
pub(crate) fn plain_tensor(
    data: &Bound<'_, PyAny>,
    shape: Option<Shape>,
    dtype: Option<TensorDType>,
) -> PyResult<PyTensor> {
    let py = data.py();
    let value = match data.cast_exact::<PyTensor>() {
        Ok(tensor) => tensor.get().0.value().clone(),
        Err(_) if data.is_instance_of::<PyList>() || data.is_instance_of::<PyTuple>() => {
            let nested = Nested::of(data)?;
            let natural = [(Kind::Float, DType::F64), (Kind::Int, DType::I64), (Kind::Bool, BOOL)];
            let natural = natural.iter().find(|(kind, _)| *kind == nested.kind()).expect("all kinds").1;
            nested.value(dtype.map_or(natural, |dtype| dtype.0)).map_err(|error| to_exception(py, error))?
        }
        Err(_) => value_of(data, None)?,
    };
    gate::tensor(py, value.num_elements(), || {
        let mut tensor = Tensor::from(value);
        if let Some(TensorDType(dtype)) = dtype {
            tensor = tensor.cast(dtype)?;
        }
        let Some(shape) = shape else { return Ok(tensor) };
        let shape: Vec<isize> = shape.iter().map(|&size| size as isize).collect();
        tensor.reshape_literal(&shape)
    })
}

/// What is different of two tensors, if anything: elements must be equal, and no NaN is.
#[pyfunction]
#[pyo3(signature = (left, right, /))]
pub(crate) fn difference(
    py: Python<'_>,
    left: &Bound<'_, PyTensor>,
    right: &Bound<'_, PyTensor>,
) -> PyResult<Option<String>> {
    let (x, y) = (left.get().0.value(), right.get().0.value());
    gate::run(py, x.num_elements(), || equal(x, y))
}

/// What is different of two tensors by more than `|x − y| < max(absolute, relative · max(|x|, |y|))`. NaNs are equal, and
/// infinities of one sign.
#[pyfunction]
#[pyo3(signature = (left, right, relative, absolute, /))]
pub(crate) fn difference_beyond(
    py: Python<'_>,
    left: &Bound<'_, PyTensor>,
    right: &Bound<'_, PyTensor>,
    relative: f64,
    absolute: f64,
) -> PyResult<Option<String>> {
    let (x, y) = (left.get().0.value(), right.get().0.value());
    gate::run(py, x.num_elements(), || approximate(x, y, relative, absolute))
}

fn equal(x: &Value, y: &Value) -> Result<Option<String>> {
    if let Some(text) = shapes(x, y) {
        return Ok(Some(text));
    }
    let (x, y) = (x.contiguous(), Tensor::from(y.clone()).cast(x.dtype())?.into_value().contiguous());
    dispatch_stored!(x.dtype(), T => {
        let (a, b) = (slice::<T>(&x), slice::<T>(&y));
        Ok(told(a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b).map(|(i, (a, b))| {
            format!("element {i}: {a:?} is not {b:?}")
        })))
    }, else => Err(Error::dtype("assert_eq", "quantized tensors are compared after dequantization")))
}

fn approximate(x: &Value, y: &Value, relative: f64, absolute: f64) -> Result<Option<String>> {
    if let Some(text) = shapes(x, y) {
        return Ok(Some(text));
    }
    // In the precision of the left side, as Burn does; of half precision and integers, in one that holds them.
    let wide = if x.dtype() == DType::F32 { DType::F32 } else { DType::F64 };
    let same = Tensor::from(y.clone()).cast(x.dtype())?;
    let cast = |tensor: Tensor| Ok(tensor.cast(wide)?.into_value().contiguous());
    let (x, y): (Value, Value) = (cast(x.clone().into())?, cast(same)?);
    dispatch_float!(wide, T => {
        let (a, b) = (slice::<T>(&x), slice::<T>(&y));
        let (relative, absolute) = (relative as T, absolute as T);
        let limit = |a: T, b: T| absolute.max(relative * a.abs().max(b.abs()));
        let is_close = |a: T, b: T| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() < limit(a, b);
        Ok(told(a.iter().zip(b).enumerate().filter(|&(_, (&a, &b))| !is_close(a, b)).map(|(i, (&a, &b))| {
            format!("element {i}: {a:?} and {b:?} differ by {:?}, the tolerance is {:?}", (a - b).abs(), limit(a, b))
        })))
    }, else => unreachable!("f32 or f64"))
}

fn shapes(x: &Value, y: &Value) -> Option<String> {
    (x.shape() != y.shape()).then(|| format!("shape {:?} is not {:?}", x.shape(), y.shape()))
}

fn slice<T: Element>(value: &Value) -> &[T] {
    value.as_slice::<T>().expect("contiguous, of this dtype")
}

/// The first differences and the number of the others.
fn told(mut differences: impl Iterator<Item = String>) -> Option<String> {
    let mut told: Vec<String> = differences.by_ref().take(TOLD).collect();
    let more = differences.count();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    (!told.is_empty()).then(|| told.join("\n"))
}
