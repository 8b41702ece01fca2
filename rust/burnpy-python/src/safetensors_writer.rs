//! Writes a safetensors file beside its place: the header first, then the payloads, one in memory at a time.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use burnpy_pack::{AtomicFile, Error, Tensor};
use burnpy_safetensors::{Dtype, Plan, Spec, plan};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::atomic::PyAtomicFile;
use crate::enter::enter;
use crate::failure::Failure;
use crate::save::tensor_of;

/// Name, dtype in burnpy's words, shape, and whatever holds the payload: a `Tensor`, deferred or not, or a `View`.
type Part<'py> = (String, String, Vec<u64>, Bound<'py, PyAny>);

/// Writes the file beside its place and leaves the commit to the caller.
///
/// The payloads lie in the format's own order, not in that of `parts`; each is drawn once, when its place is reached.
#[pyfunction]
#[pyo3(signature = (parts, filename, metadata=None, *, durable=false))]
pub(crate) fn stage_safetensors(
    py: Python<'_>,
    parts: Vec<Part<'_>>,
    filename: PathBuf,
    metadata: Option<BTreeMap<String, String>>,
    durable: bool,
) -> PyResult<PyAtomicFile> {
    let (plan, payloads) = planned(py, parts, metadata, &filename)?;
    let scratch = enter(py, || write_scratch(&plan, payloads, &filename, durable))?;
    Ok(PyAtomicFile::wrap(scratch, filename))
}

/// The file of `stage_safetensors` as bytes.
#[pyfunction]
#[pyo3(signature = (parts, metadata=None))]
pub(crate) fn safetensors_bytes<'py>(
    py: Python<'py>,
    parts: Vec<Part<'_>>,
    metadata: Option<BTreeMap<String, String>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (plan, payloads) = planned(py, parts, metadata, Path::new("<memory>"))?;
    let file = enter(py, || {
        let mut file = Vec::with_capacity(usize::try_from(plan.total).unwrap_or(0));
        write_planned(&plan, payloads, &mut file).map(|()| file)
    })?;
    Ok(PyBytes::new(py, &file))
}

fn planned(
    py: Python<'_>,
    parts: Vec<Part<'_>>,
    metadata: Option<BTreeMap<String, String>>,
    destination: &Path,
) -> PyResult<(Plan, Vec<Option<Tensor>>)> {
    let mut specs = Vec::with_capacity(parts.len());
    let mut payloads = Vec::with_capacity(parts.len());
    for (name, dtype, shape, payload) in parts {
        payloads.push(Some(tensor_of(name.clone(), &payload, None)?));
        let dtype = Dtype::from_text(&dtype)
            .ok_or_else(|| PyValueError::new_err(format!("safetensors has no dtype for {dtype:?}")))?;
        specs.push(Spec { name, dtype, shape });
    }
    let plan = py
        .detach(|| plan(&specs, metadata.as_ref()))
        .map_err(|error| Failure::from(error).into_exception(py, destination))?;
    Ok((plan, payloads))
}

fn write_scratch(
    plan: &Plan,
    payloads: Vec<Option<Tensor>>,
    destination: &Path,
    durable: bool,
) -> Result<AtomicFile, Error> {
    let scratch = AtomicFile::create(destination, durable).map_err(|error| error.with_path(destination))?;
    let written = || {
        scratch.reserve(plan.total)?;
        write_planned(plan, payloads, &mut scratch.sink())
    };
    written().map_err(|error| error.with_path(destination))?;
    Ok(scratch)
}

fn write_planned(plan: &Plan, mut payloads: Vec<Option<Tensor>>, out: &mut dyn Write) -> Result<(), Error> {
    out.write_all(&plan.head)?;
    for (index, range) in &plan.order {
        let payload = payloads[*index].take().expect("a plan names every tensor once");
        let bytes = payload.to_bytes()?;
        let (found, expected) = (bytes.len() as u64, range.end - range.start);
        if found != expected {
            let kind = burnpy_pack::ErrorKind::TensorBytesSizeMismatch { expected, found };
            return Err(Error::from(kind).with_tensor(&payload.name));
        }
        out.write_all(&bytes).map_err(|error| Error::from(error).with_tensor(&payload.name))?;
    }
    Ok(out.flush()?)
}
