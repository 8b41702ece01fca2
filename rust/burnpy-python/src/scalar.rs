//! `burnpy.pack.Scalar`: a typed number beside the tensors.

use burnpy_pack::{Scalar, ScalarConversionError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::convert::{scalar_from_value, scalar_value};
use crate::enter::error_class;

/// A number or flag of one of the container's four kinds: Int, UInt, Float, Bool.
///
/// Args:
///     value: a ``bool`` becomes Bool, a ``float`` Float, an ``int`` UInt if it is not negative, else Int; NumPy's
///         scalars go by their dtype.
///     kind: chosen by name instead.
///
/// Raises:
///     OverflowError: no 64-bit integer of the kind holds the value.
///
/// Example:
///     >>> Scalar(3), Scalar(3, "Int"), Scalar(0.5)
///     (Scalar(3, 'UInt'), Scalar(3, 'Int'), Scalar(0.5, 'Float'))
#[pyclass(frozen, name = "Scalar", module = "burnpy.pack", eq)]
#[derive(PartialEq)]
pub(crate) struct PyScalar(pub(crate) Scalar);

#[pymethods]
impl PyScalar {
    #[new]
    #[pyo3(signature = (value, kind=None))]
    fn new(value: &Bound<'_, PyAny>, kind: Option<&str>) -> PyResult<Self> {
        match kind {
            None => scalar_from_value("value", value).map(Self),
            Some("Int") => value.extract().map(Self::int_),
            Some("UInt") => value.extract().map(Self::uint),
            Some("Float") => value.extract().map(Self::float_),
            Some("Bool") => value.extract().map(Self::bool_),
            Some(kind) => Err(PyValueError::new_err(format!(
                "kind must be \"Int\", \"UInt\", \"Float\" or \"Bool\", got {kind:?}"
            ))),
        }
    }

    /// A signed integer.
    #[staticmethod]
    #[pyo3(signature = (value, /))]
    fn int_(value: i64) -> Self {
        Self(Scalar::Int(value))
    }

    /// An unsigned integer.
    #[staticmethod]
    #[pyo3(signature = (value, /))]
    fn uint(value: u64) -> Self {
        Self(Scalar::UInt(value))
    }

    /// A float.
    #[staticmethod]
    #[pyo3(signature = (value, /))]
    fn float_(value: f64) -> Self {
        Self(Scalar::Float(value))
    }

    /// A flag.
    #[staticmethod]
    #[pyo3(signature = (value, /))]
    fn bool_(value: bool) -> Self {
        Self(Scalar::Bool(value))
    }

    /// ``"Int"``, ``"UInt"``, ``"Float"`` or ``"Bool"``.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// The Python value.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        scalar_value(py, self.0)
    }

    /// The value as one of Rust's types: ``"u8"`` … ``"u64"``, ``"usize"``, ``"i8"`` … ``"isize"``, ``"f32"``,
    /// ``"f64"``, ``"bool"``. Integers must be in range, floats take any number, flags only flags.
    ///
    /// Raises:
    ///     ScalarConversionError: it does not fit.
    ///
    /// Example:
    ///     >>> Scalar(200).to("u8")
    ///     200
    ///     >>> Scalar(300).to("u8")
    ///     Traceback (most recent call last):
    ///     burnpy.errors.ScalarConversionError: UInt(300) cannot be read as u8
    #[pyo3(signature = (wanted, /))]
    fn to<'py>(&self, py: Python<'py>, wanted: &str) -> PyResult<Bound<'py, PyAny>> {
        let scalar = self.0;
        macro_rules! integer {
            ($type:ident) => {
                $type::try_from(scalar)
                    .map(|value| value.into_pyobject(py).map(Bound::into_any).map_err(PyErr::from))
            };
        }
        let converted = match wanted {
            "u8" => integer!(u8),
            "u16" => integer!(u16),
            "u32" => integer!(u32),
            "u64" => integer!(u64),
            "usize" => integer!(usize),
            "i8" => integer!(i8),
            "i16" => integer!(i16),
            "i32" => integer!(i32),
            "i64" => integer!(i64),
            "isize" => integer!(isize),
            "f32" => f32::try_from(scalar).map(|value| scalar_value(py, value.into())),
            "f64" => f64::try_from(scalar).map(|value| scalar_value(py, value.into())),
            "bool" => bool::try_from(scalar).map(|value| scalar_value(py, value.into())),
            other => {
                let known = "u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64, bool";
                return Err(PyValueError::new_err(format!("unknown type {other:?}; known are {known}")));
            }
        };
        converted.unwrap_or_else(|error| Err(conversion_error(py, &error)))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (self.kind(), self.value(py)?).into_pyobject(py)?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Scalar({}, '{}')", self.value(py)?.repr()?, self.kind()))
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (self.value(py)?, PyString::new(py, self.kind())).into_pyobject(py)
    }
}

fn conversion_error(py: Python<'_>, error: &ScalarConversionError) -> PyErr {
    let class = error_class(py, "ScalarConversionError");
    class.and_then(|class| class.call1((error.to_string(),))).map_or_else(|error| error, PyErr::from_value)
}

/// A `Scalar`, or a Python value that stands for one; `name` is for the message.
pub(crate) fn scalar_of(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    match value.cast::<PyScalar>() {
        Ok(scalar) => Ok(scalar.get().0),
        Err(_) => scalar_from_value(name, value),
    }
}
