//! What `burnpy.numpy` saves with: a dict of arrays, read in one loop.

use std::path::PathBuf;
use std::sync::Arc;

use burnpy_pack::{Tensor, Writer};
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyString};

use crate::array::{Arrays, as_array, type_name};
use crate::atomic::PyAtomicFile;
use crate::convert::{PyLimits, limits_or_default};
use crate::enter::enter;
use crate::import::Held;
use crate::scalar::scalar_of;
use crate::tensor_entry::PyTensorEntry;
use crate::view::PyView;
use crate::writer::{PyWriter, write_to_python_bytes};

/// Writes a mapping of names to arrays or tensors into a file; see ``burnpy.numpy.save_file``.
#[pyfunction]
#[pyo3(signature = (tensors, filename, metadata=None, *, scalars=None, param_ids=None, durable=false, limits=None))]
#[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn save_file(
    py: Python<'_>,
    tensors: &Bound<'_, PyAny>,
    filename: PathBuf,
    metadata: Option<&Bound<'_, PyAny>>,
    scalars: Option<&Bound<'_, PyAny>>,
    param_ids: Option<&Bound<'_, PyAny>>,
    durable: bool,
    limits: Option<PyLimits>,
) -> PyResult<()> {
    let writer = writer_of(tensors, metadata, scalars, param_ids, limits)?;
    let writer = writer.auto_extension(false).durable(durable);
    enter(py, || writer.write_to_file(filename))
}

/// Writes the file of `save_file` beside its place and leaves the commit to the caller, who has several of them.
#[pyfunction]
#[pyo3(signature = (tensors, filename, metadata=None, *, scalars=None, param_ids=None, durable=false, limits=None))]
#[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn stage_file(
    py: Python<'_>,
    tensors: &Bound<'_, PyAny>,
    filename: PathBuf,
    metadata: Option<&Bound<'_, PyAny>>,
    scalars: Option<&Bound<'_, PyAny>>,
    param_ids: Option<&Bound<'_, PyAny>>,
    durable: bool,
    limits: Option<PyLimits>,
) -> PyResult<PyAtomicFile> {
    let writer = writer_of(tensors, metadata, scalars, param_ids, limits)?;
    let writer = writer.auto_extension(false).durable(durable);
    let scratch = enter(py, || writer.write_scratch(&filename))?;
    Ok(PyAtomicFile::wrap(scratch, filename))
}

/// A container of a mapping of names to arrays or tensors as bytes; see ``burnpy.numpy.save``.
#[pyfunction]
#[pyo3(signature = (tensors, metadata=None, *, scalars=None, param_ids=None, limits=None))]
pub(crate) fn save<'py>(
    py: Python<'py>,
    tensors: &Bound<'py, PyAny>,
    metadata: Option<&Bound<'py, PyAny>>,
    scalars: Option<&Bound<'py, PyAny>>,
    param_ids: Option<&Bound<'py, PyAny>>,
    limits: Option<PyLimits>,
) -> PyResult<Bound<'py, PyBytes>> {
    write_to_python_bytes(py, writer_of(tensors, metadata, scalars, param_ids, limits)?)
}

/// The writer of a mapping of names to arrays or tensors, for who sends the container elsewhere.
#[pyfunction]
#[pyo3(signature = (tensors, metadata=None, *, scalars=None, param_ids=None, limits=None))]
pub(crate) fn plan_file(
    tensors: &Bound<'_, PyAny>,
    metadata: Option<&Bound<'_, PyAny>>,
    scalars: Option<&Bound<'_, PyAny>>,
    param_ids: Option<&Bound<'_, PyAny>>,
    limits: Option<PyLimits>,
) -> PyResult<PyWriter> {
    writer_of(tensors, metadata, scalars, param_ids, limits).map(PyWriter::wrap)
}

fn writer_of(
    tensors: &Bound<'_, PyAny>,
    metadata: Option<&Bound<'_, PyAny>>,
    scalars: Option<&Bound<'_, PyAny>>,
    param_ids: Option<&Bound<'_, PyAny>>,
    limits: Option<PyLimits>,
) -> PyResult<Writer> {
    let param_ids = param_ids.map(|ids| items_of("param_ids", ids)).transpose()?;
    let writer = Writer::new(tensors_of(tensors, param_ids.as_ref())?).limits(limits_or_default(limits));
    with_entries(writer, metadata, scalars)
}

/// The writer with all of two mappings.
pub(crate) fn with_entries(
    mut writer: Writer,
    metadata: Option<&Bound<'_, PyAny>>,
    scalars: Option<&Bound<'_, PyAny>>,
) -> PyResult<Writer> {
    for (key, value) in metadata.map(|items| items_of("metadata", items)).transpose()?.into_iter().flatten() {
        let key = text_key("metadata", &key)?;
        let value = value.cast_into::<PyString>().map_err(|error| {
            let found = type_name(&error.into_inner());
            PyTypeError::new_err(format!("metadata {key:?} must be a str, got {found}"))
        })?;
        writer = writer.with_metadata(&key, text_of(&value, || format!("metadata {key:?}"))?);
    }
    for (key, value) in scalars.map(|items| items_of("scalars", items)).transpose()?.into_iter().flatten() {
        let key = text_key("scalars", &key)?;
        writer = writer.with_scalar(&key, scalar_of(&key, &value)?);
    }
    Ok(writer)
}

/// The items of a mapping in a dict of our own: nobody else changes it, and it keeps every value alive.
fn items_of<'py>(what: &str, mapping: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    if let Ok(dict) = mapping.cast::<PyDict>() {
        return dict.copy();
    }
    let mapping = mapping
        .cast::<PyMapping>()
        .map_err(|_| PyTypeError::new_err(format!("{what} must be a mapping, got {}", type_name(mapping))))?;
    let items = PyDict::new(mapping.py());
    for key in mapping.keys()? {
        let value = mapping.get_item(&key)?;
        items.set_item(key, value)?;
    }
    Ok(items)
}

fn text_key(what: &str, key: &Bound<'_, PyAny>) -> PyResult<String> {
    match key.cast::<PyString>() {
        Ok(text) => text_of(text, || format!("a key of {what}")).map(str::to_owned),
        Err(_) => {
            let (kind, key) = (type_name(key), key.repr()?);
            Err(PyTypeError::new_err(format!("keys of {what} must be str, got {kind} {key}")))
        }
    }
}

/// The text of a `str`; one that UTF-8 cannot hold is refused with the place where it stood.
fn text_of<'a>(text: &'a Bound<'_, PyString>, place: impl FnOnce() -> String) -> PyResult<&'a str> {
    text.to_str().map_err(|error| {
        let named = |name| error.value(text.py()).getattr(name);
        let build = || -> PyResult<PyErr> {
            let reason = format!("{}, in {}", named("reason")?, place());
            let fields = (named("encoding")?, named("object")?, named("start")?, named("end")?, reason);
            Ok(PyErr::from_value(named("__class__")?.call1(fields)?))
        };
        build().unwrap_or_else(|failed| failed)
    })
}

/// A parameter's id, told of its tensor where it is none.
fn param_id_of(name: &str, id: &Bound<'_, PyAny>) -> PyResult<u64> {
    id.extract().map_err(|error: PyErr| {
        let problem = error.value(id.py());
        let message = format!("param_ids {name:?} must be an int from 0 to 2**64 - 1: {problem}");
        match error.is_instance_of::<PyOverflowError>(id.py()) {
            true => PyOverflowError::new_err(message),
            false => PyTypeError::new_err(message),
        }
    })
}

fn tensors_of(mapping: &Bound<'_, PyAny>, param_ids: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Tensor>> {
    let items = items_of("tensors", mapping)?;
    let owner = Arc::new(Held::new(&items));
    let mut tensors = Vec::with_capacity(items.len());
    let mut arrays = Arrays::default();
    let mut ids_used = 0;
    for (key, value) in items {
        let name = text_key("tensors", &key)?;
        let param_id = match param_ids {
            Some(ids) => ids.get_item(&key)?.map(|id| param_id_of(&name, &id)).transpose()?,
            None => None,
        };
        ids_used += usize::from(param_id.is_some());
        let tensor = match as_array(&name, &value)? {
            Some(array) => arrays.tensor(name, array, param_id, &owner)?,
            None => tensor_of(name, &value, param_id)?,
        };
        tensors.push(tensor);
    }
    match param_ids {
        Some(ids) if ids.len() > ids_used => Err(unknown_id(ids, &tensors)),
        _ => Ok(tensors),
    }
}

/// The tensor that a value stands for which is no array; the key wins over a name that it has itself.
pub(crate) fn tensor_of(name: String, value: &Bound<'_, PyAny>, param_id: Option<u64>) -> PyResult<Tensor> {
    let mut tensor = if let Ok(tensor) = value.cast::<PyTensorEntry>() {
        tensor.get().0.clone()
    } else if let Ok(view) = value.cast::<PyView>() {
        view.get().to_tensor(value.py())?
    } else {
        let numpy = value.py().import("numpy")?;
        if !value.is_instance(&numpy.getattr("generic")?)? {
            return Err(no_tensor(&name, value));
        }
        let array = numpy.call_method1("asarray", (value,))?.cast_into::<PyUntypedArray>()?;
        return Arrays::default().tensor(name, &array, param_id, &Arc::new(Held::new(&array)));
    };
    tensor.name = name;
    tensor.param_id = param_id.or(tensor.param_id);
    Ok(tensor)
}

fn no_tensor(name: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let found = type_name(value);
    let hint = match found.split('.').next() {
        Some("torch") => "; burnpy.torch saves it",
        Some("jax" | "jaxlib") => "; burnpy.jax saves it",
        _ => "; numpy.asarray makes an array of it, if it is one",
    };
    PyTypeError::new_err(format!(
        "tensor {name:?} must be a NumPy array or burnpy.pack.Tensor, got {found}{hint}"
    ))
}

fn unknown_id(ids: &Bound<'_, PyDict>, tensors: &[Tensor]) -> PyErr {
    let is_known = |key: &str| tensors.iter().any(|tensor| tensor.name == key);
    let unknown = ids.keys().into_iter().find(|key| !key.extract::<String>().is_ok_and(|key| is_known(&key)));
    let unknown = unknown
        .map_or_else(String::new, |key| key.repr().map_or_else(|_| "?".to_owned(), |key| key.to_string()));
    PyValueError::new_err(format!("param_ids names {unknown}, but no tensor has this name"))
}
