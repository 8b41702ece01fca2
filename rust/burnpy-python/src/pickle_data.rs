//! The whole of a pickle as Python's plain objects, for `PytorchReader.read_pickle_data`.

use std::collections::HashMap;

use burnpy_pickle::{Checkpoint, Scalar, Value, ValueId};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::failure::Failure;
use crate::foreign::{Content, Foreign};
use crate::foreign_file::PyForeignFile;
use crate::plain_value::plain_value;

/// What a pickle holds, below a key of its root or all of it: ``None``, ``bool``, ``int``, ``float``, ``str``,
/// ``bytes``, lists (tuples and sets too), dicts with text keys. For everything else ``unsupported`` is called with
/// the name of its type.
///
/// Raises:
///     KeyError: the root has no such key.
///     TypeError: the root is no dict; the message says what it is.
#[pyfunction]
#[pyo3(signature = (file, unsupported, key=None))]
pub(crate) fn pickle_data<'py>(
    file: &Bound<'py, PyForeignFile>,
    unsupported: &Bound<'py, PyAny>,
    key: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let open = file.get().open()?;
    let Content::Pickle(pickle) = &open.content else {
        return Err(PyTypeError::new_err("the file is no pickle"));
    };
    let checkpoint = &*pickle.checkpoint;
    let mut walk = Walk { checkpoint, open: &open, unsupported, made: HashMap::new() };
    let mut root = checkpoint.root();
    if let Some(key) = key {
        let Value::Dict(_) = checkpoint.arena().get(root) else {
            return Err(PyTypeError::new_err(type_name(checkpoint, root)));
        };
        root = checkpoint.get(root, key).ok_or_else(|| PyKeyError::new_err(key.to_owned()))?;
    }
    walk.value(root)
}

/// What the archive of a checkpoint says of itself.
#[pyfunction]
#[pyo3(signature = (file, /))]
pub(crate) fn archive_info<'py>(file: &Bound<'py, PyForeignFile>) -> PyResult<Bound<'py, PyDict>> {
    let open = file.get().open()?;
    let told = PyDict::new(file.py());
    if let Content::Pickle(pickle) = &open.content {
        let info = pickle.checkpoint.info();
        told.set_item("version", &info.version)?;
        told.set_item("format_version", &info.format_version)?;
        told.set_item("storage_alignment", &info.storage_alignment)?;
        told.set_item("big_endian", info.big_endian)?;
        told.set_item("data_size", info.data_size)?;
    }
    Ok(told)
}

/// The leaves were listed when the file was opened, so no container here holds itself or is nested too deep.
struct Walk<'a, 'py> {
    checkpoint: &'a Checkpoint,
    open: &'a Foreign,
    unsupported: &'a Bound<'py, PyAny>,
    /// What two places share is one object in Python too: a few bytes of a file must not multiply.
    made: HashMap<ValueId, Bound<'py, PyAny>>,
}

impl<'py> Walk<'_, 'py> {
    fn value(&mut self, id: ValueId) -> PyResult<Bound<'py, PyAny>> {
        if let Some(made) = self.made.get(&id) {
            return Ok(made.clone());
        }
        let made = self.make(id)?;
        self.made.insert(id, made.clone());
        Ok(made)
    }

    fn make(&mut self, id: ValueId) -> PyResult<Bound<'py, PyAny>> {
        let (checkpoint, py) = (self.checkpoint, self.unsupported.py());
        match checkpoint.arena().get(id) {
            Value::List(items) => self.list(items),
            Value::Tuple(items) | Value::Size(items) => self.list(items),
            Value::Set(set) => self.list(&set.items),
            Value::Dict(dict) => {
                let made = PyDict::new(py);
                for &(key, value) in &dict.entries {
                    if let Some(key) = key_text(checkpoint, key) {
                        made.set_item(key, self.value(value)?)?;
                    }
                }
                Ok(made.into_any())
            }
            Value::None => Ok(py.None().into_bound(py)),
            Value::Bool(value) => self.scalar(&Scalar::Bool(*value)),
            Value::Int(value) => self.scalar(&Scalar::Int(*value)),
            Value::BigInt(value) => self.scalar(&Scalar::BigInt((**value).clone())),
            Value::Float(value) => self.scalar(&Scalar::Float(*value)),
            Value::Text(text) => text.into_bound_py_any(py),
            Value::Bytes(blob) => self.scalar(&Scalar::Bytes((**blob).clone())),
            Value::LongText(text) => {
                let bytes = checkpoint.blob(&self.open.map.bytes, &text.blob);
                let bytes = bytes.map_err(|error| self.raised(error.into()))?;
                PyBytes::new(py, &bytes).call_method1("decode", ("utf-8", "replace"))
            }
            Value::NumpyScalar(value) => self.scalar(&Scalar::Numpy(**value)),
            _ => self.unsupported.call1((type_name(checkpoint, id),)),
        }
    }

    fn list(&mut self, items: &[ValueId]) -> PyResult<Bound<'py, PyAny>> {
        let items = items.iter().map(|&item| self.value(item)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(self.unsupported.py(), items)?.into_any())
    }

    fn scalar(&self, scalar: &Scalar) -> PyResult<Bound<'py, PyAny>> {
        plain_value(self.unsupported.py(), scalar, self.checkpoint, &self.open.map.bytes)
            .map_err(|failure| self.raised(failure))
    }

    fn raised(&self, failure: Failure) -> PyErr {
        failure.into_exception(self.unsupported.py(), &self.open.path)
    }
}

/// A key as text: Burn has texts and whole numbers as keys, and nothing else.
fn key_text(checkpoint: &Checkpoint, key: ValueId) -> Option<String> {
    match checkpoint.arena().get(key) {
        Value::Text(text) => Some(text.to_string()),
        Value::Int(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Python's name of a value's type.
fn type_name(checkpoint: &Checkpoint, id: ValueId) -> String {
    match checkpoint.arena().get(id) {
        Value::None => "NoneType".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Int(_) | Value::BigInt(_) => "int".to_owned(),
        Value::Float(_) => "float".to_owned(),
        Value::Complex(_) => "complex".to_owned(),
        Value::Text(_) | Value::LongText(_) => "str".to_owned(),
        Value::Bytes(_) => "bytes".to_owned(),
        Value::List(_) => "list".to_owned(),
        Value::Tuple(_) => "tuple".to_owned(),
        Value::Size(_) => "torch.Size".to_owned(),
        Value::Set(_) => "set".to_owned(),
        Value::Dict(_) => "dict".to_owned(),
        Value::Global(global) => global.qualified(),
        Value::Storage(_) => "torch.Storage".to_owned(),
        Value::Tensor(_) => "torch.Tensor".to_owned(),
        Value::Device(_) => "torch.device".to_owned(),
        Value::NumpyDType(_) => "numpy.dtype".to_owned(),
        Value::NumpyScalar(_) => "numpy.generic".to_owned(),
        Value::Object(object) => object.class.qualified(),
        _ => "object".to_owned(),
    }
}
