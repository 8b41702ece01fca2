//! Conversions between Python's values and the pure crates', written once.

use burnpy_buffer::{
    BlockScale, BlockSize, DType, QuantMode, QuantScheme, QuantStore, QuantValue, ScaleDType,
};
use burnpy_pack::{Backend, Limits, Scalar};
use numpy::PyArrayDescr;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple};

use crate::array::{dtype_of, type_name};

/// A backend by its name.
#[derive(Default)]
pub(crate) struct PyBackend(pub(crate) Backend);

impl PyBackend {
    /// The name, as it is read.
    pub(crate) const fn name(&self) -> &'static str {
        match self.0 {
            Backend::Auto => "auto",
            Backend::Mmap => "mmap",
            Backend::Pread => "pread",
        }
    }
}

impl FromPyObject<'_, '_> for PyBackend {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match value.extract::<String>()?.as_str() {
            "auto" => Ok(Self(Backend::Auto)),
            "mmap" => Ok(Self(Backend::Mmap)),
            "pread" => Ok(Self(Backend::Pread)),
            other => Err(PyValueError::new_err(format!(
                "backend must be \"auto\", \"mmap\" or \"pread\", got {other:?}"
            ))),
        }
    }
}

/// `burnpy.pack.Limits`, read by attribute so that anything with its fields will do.
pub(crate) struct PyLimits(pub(crate) Limits);

impl FromPyObject<'_, '_> for PyLimits {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if !value.hasattr("max_metadata_bytes")? {
            let found = type_name(&value);
            return Err(PyTypeError::new_err(format!("limits must be burnpy.pack.Limits, got {found}")));
        }
        Ok(Self(Limits {
            max_metadata_bytes: value.getattr("max_metadata_bytes")?.extract()?,
            max_tensors: value.getattr("max_tensors")?.extract()?,
            max_tensor_bytes: value.getattr("max_tensor_bytes")?.extract()?,
            max_depth: value.getattr("max_depth")?.extract()?,
            max_file_bytes: value.getattr("max_file_bytes")?.extract()?,
        }))
    }
}

/// The limits of an optional argument.
pub(crate) fn limits_or_default(limits: Option<PyLimits>) -> Limits {
    limits.map_or_else(Limits::default, |limits| limits.0)
}

/// A dtype by its text form. `qfloat` needs a scheme and has its own class on the Python side.
pub(crate) fn dtype_from_name(name: &str) -> PyResult<DType> {
    DType::from_name(name).ok_or_else(|| {
        let known: Vec<_> = DType::plain().map(|dtype| dtype.name()).collect();
        PyValueError::new_err(format!("unknown dtype {name:?}; known are {}", known.join(", ")))
    })
}

/// A dtype: its text form, a NumPy dtype or what NumPy takes for one, or a `burnpy.pack.QuantScheme`.
pub(crate) struct PyDType(pub(crate) DType);

impl FromPyObject<'_, '_> for PyDType {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(name) = value.cast::<PyString>() {
            return dtype_from_name(name.to_str()?).map(Self);
        }
        if value.is_instance(&scheme_class(value.py())?)? {
            return Ok(Self(DType::QFloat(scheme_from_python(&value)?)));
        }
        let descr = PyArrayDescr::new(value.py(), &*value)?;
        let unknown = || PyTypeError::new_err(format!("burnpack has no dtype for {descr}"));
        dtype_of(&descr).map(Self).ok_or_else(unknown)
    }
}

fn scheme_class(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("burnpy.pack")?.getattr("QuantScheme")
}

fn scheme_from_python(value: &Bound<'_, PyAny>) -> PyResult<QuantScheme> {
    let text = |field| value.getattr(field)?.extract::<String>();
    let scale = |name: String| by_name("scale dtype", &name, &ScaleDType::ALL, |dtype| dtype.name());
    let packed_dim = value.getattr("packed_dim")?.extract()?;
    let store = match text("store")?.as_str() {
        "Native" => QuantStore::Native,
        "PackedNative" => QuantStore::PackedNative(packed_dim),
        "PackedU32" => QuantStore::PackedU32(packed_dim),
        other => return Err(unknown_name("store", other, &["Native", "PackedNative", "PackedU32"])),
    };
    let block = match value.getattr("block_size")?.extract::<Option<Vec<u8>>>()? {
        None => None,
        Some(extents) => {
            let size = BlockSize::new(&extents);
            let size = size.ok_or_else(|| PyValueError::new_err("a block has 1 to 5 extents"))?;
            Some(BlockScale { size, dtype: scale(text("block_dtype")?)? })
        }
    };
    Ok(QuantScheme {
        value: by_name("value", &text("value")?, &QuantValue::ALL, |value| value.name())?,
        store,
        mode: by_name("mode", &text("mode")?, &[QuantMode::Symmetric, QuantMode::Lookup], |mode| {
            mode.name()
        })?,
        tensor: value.getattr("tensor")?.extract::<Option<String>>()?.map(scale).transpose()?,
        block,
    })
}

/// The `burnpy.pack.QuantScheme` of a quantized dtype; `None` for any other.
pub(crate) fn scheme_to_python(py: Python<'_>, dtype: DType) -> PyResult<Option<Bound<'_, PyAny>>> {
    let DType::QFloat(scheme) = dtype else { return Ok(None) };
    let fields = PyDict::new(py);
    let (store, packed_dim) = match scheme.store {
        QuantStore::Native => ("Native", 0),
        QuantStore::PackedNative(dim) => ("PackedNative", dim),
        QuantStore::PackedU32(dim) => ("PackedU32", dim),
    };
    fields.set_item("value", scheme.value.name())?;
    fields.set_item("store", store)?;
    fields.set_item("packed_dim", packed_dim)?;
    fields.set_item("mode", scheme.mode.name())?;
    fields.set_item("tensor", scheme.tensor.map(ScaleDType::name))?;
    if let Some(block) = scheme.block {
        let extents = block.size.extents().unwrap_or(&block.size.storage);
        fields.set_item("block_size", PyTuple::new(py, extents)?)?;
        fields.set_item("block_dtype", block.dtype.name())?;
    }
    scheme_class(py)?.call((), Some(&fields)).map(Some)
}

/// A dtype as `PyDType` takes it: its text form, or the scheme of a quantized one.
pub(crate) fn dtype_to_python(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    Ok(match scheme_to_python(py, dtype)? {
        Some(scheme) => scheme,
        None => PyString::new(py, dtype.name()).into_any(),
    })
}

fn by_name<T: Copy>(what: &str, name: &str, all: &[T], name_of: fn(T) -> &'static str) -> PyResult<T> {
    let found = all.iter().find(|&&one| name_of(one) == name).copied();
    let known: Vec<_> = all.iter().map(|&one| name_of(one)).collect();
    found.ok_or_else(|| unknown_name(what, name, &known))
}

fn unknown_name(what: &str, name: &str, known: &[&str]) -> PyErr {
    PyValueError::new_err(format!(
        "unknown {what} {name:?} of a quantization scheme; known are {}",
        known.join(", ")
    ))
}

/// A scalar as the Python value that it stands for.
pub(crate) fn scalar_value(py: Python<'_>, scalar: Scalar) -> PyResult<Bound<'_, PyAny>> {
    Ok(match scalar {
        Scalar::Int(value) => value.into_pyobject(py)?.into_any(),
        Scalar::UInt(value) => value.into_pyobject(py)?.into_any(),
        Scalar::Float(value) => PyFloat::new(py, value).into_any(),
        Scalar::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
    })
}

/// A Python value as a scalar: `bool` → Bool, `float` → Float, `int` → UInt if it is not negative, else Int; a scalar of
/// NumPy by its dtype.
pub(crate) fn scalar_from_value(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Scalar::Bool(value.extract()?));
    }
    if value.is_exact_instance_of::<PyFloat>() {
        return Ok(Scalar::Float(value.extract()?));
    }
    if value.is_exact_instance_of::<PyInt>() {
        return int_scalar(name, value);
    }
    if let Some(scalar) = numpy_scalar(value)? {
        return Ok(scalar);
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Scalar::Float(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        return int_scalar(name, value);
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("scalar {name:?} must be a bool, int, float or Scalar, got {kind}")))
}

fn int_scalar(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if let Ok(unsigned) = value.extract::<u64>() {
        return Ok(Scalar::UInt(unsigned));
    }
    let signed = value.extract::<i64>();
    signed.map(Scalar::Int).map_err(|_| {
        PyOverflowError::new_err(format!("scalar {name:?} is {value}, which no 64-bit integer holds"))
    })
}

/// A NumPy scalar or an array of no dimension, told by its dtype's kind.
fn numpy_scalar(value: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    let Ok(dtype) = value.getattr("dtype") else { return Ok(None) };
    let (Ok(kind), Ok(shape)) = (dtype.getattr("kind"), value.getattr("shape")) else { return Ok(None) };
    if !shape.cast::<PyTuple>().is_ok_and(|shape| shape.is_empty()) {
        return Ok(None);
    }
    let item = || value.call_method0("item");
    Ok(match kind.cast::<PyString>()?.to_str()? {
        "b" => Some(Scalar::Bool(item()?.extract()?)),
        "u" => Some(Scalar::UInt(item()?.extract()?)),
        "i" => Some(Scalar::Int(item()?.extract()?)),
        "f" => Some(Scalar::Float(item()?.extract()?)),
        _ => None,
    })
}
