//! Shapes, axes, dtypes and devices as arguments, read in one place.

use burnpy_tensor::DType;
use numpy::PyArrayDescr;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString, PyTuple};
use smallvec::SmallVec;

use crate::array::{dtype_of, type_name};
use crate::convert::dtype_from_name;
use crate::enter::error_class;

/// Axes, or sizes of which some may be negative: one integer or a sequence of them.
pub(crate) struct Ints(pub(crate) SmallVec<[isize; 5]>);

impl FromPyObject<'_, '_> for Ints {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(one) = int(&value) {
            return Ok(Self(SmallVec::from_slice(&[one])));
        }
        if value.is_instance_of::<PyString>() {
            return Err(not_ints(&value));
        }
        let items = value.try_iter().map_err(|_| not_ints(&value))?;
        items.map(|item| int(&item?)).collect::<PyResult<_>>().map(Self)
    }
}

fn int(value: &Bound<'_, PyAny>) -> PyResult<isize> {
    if value.is_instance_of::<PyBool>() {
        return Err(not_ints(value));
    }
    if value.is_instance_of::<PyInt>() { value.extract() } else { value.call_method0("__index__")?.extract() }
}

#[cold]
fn not_ints(value: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("expected an integer or a sequence of integers, got {}", type_name(value)))
}

impl Ints {
    /// `f(2, 3)` and `f((2, 3))` alike.
    pub(crate) fn of_args(args: &Bound<'_, PyTuple>) -> PyResult<Self> {
        if args.len() == 1 { args.get_item(0)?.extract() } else { args.as_any().extract() }
    }
}

impl std::ops::Deref for Ints {
    type Target = [isize];

    fn deref(&self) -> &[isize] {
        &self.0
    }
}

/// Sizes of axes: one integer or a sequence of them, none negative.
pub(crate) struct Shape(pub(crate) SmallVec<[usize; 5]>);

impl FromPyObject<'_, '_> for Shape {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let sizes = value.extract::<Ints>()?;
        let sizes = sizes.iter().map(|&size| usize::try_from(size).map_err(|_| negative(&value, size)));
        sizes.collect::<PyResult<_>>().map(Self)
    }
}

impl std::ops::Deref for Shape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

#[cold]
fn negative(value: &Bound<'_, PyAny>, size: isize) -> PyErr {
    let build =
        || error_class(value.py(), "ShapeError")?.call1((format!("sizes must be at least 0, got {size}"),));
    build().map_or_else(|error| error, PyErr::from_value)
}

/// A dtype of a tensor: Burn's name of it, NumPy's, or a dtype of NumPy or `ml_dtypes`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TensorDType(pub(crate) DType);

impl FromPyObject<'_, '_> for TensorDType {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(name) = value.cast::<PyString>() {
            let name = name.to_str()?;
            return by_numpy_name(name).map_or_else(|| dtype_from_name(name), Ok).map(Self);
        }
        let descr = PyArrayDescr::new(value.py(), &*value)?;
        dtype_of(&descr).map(Self).ok_or_else(|| unknown(&value, &descr))
    }
}

#[cold]
fn unknown(value: &Bound<'_, PyAny>, descr: &Bound<'_, PyArrayDescr>) -> PyErr {
    let text = format!("no tensor has the dtype {descr}");
    let build = || error_class(value.py(), "DTypeError")?.call1((text,));
    build().map_or_else(|error| error, PyErr::from_value)
}

fn by_numpy_name(name: &str) -> Option<DType> {
    Some(match name {
        "float64" | "double" => DType::F64,
        "float32" | "float" => DType::F32,
        "float16" | "half" => DType::F16,
        "bfloat16" => DType::BF16,
        "int64" => DType::I64,
        "int32" => DType::I32,
        "int16" => DType::I16,
        "int8" => DType::I8,
        "uint64" => DType::U64,
        "uint32" => DType::U32,
        "uint16" => DType::U16,
        "uint8" => DType::U8,
        _ => return None,
    })
}
