//! `burnpy.pack.AtomicFile`: a file that appears whole or not at all.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use burnpy_pack::{AtomicFile, Error};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::enter::enter;
use crate::import::buffer_bytes;

/// A scratch file beside its destination, put in place by ``commit`` and deleted without it.
///
/// The destination holds the complete old or the complete new content, whatever happens in between. A symbolic link
/// is followed, the old file's mode is kept.
///
/// Args:
///     destination: the file to appear.
///     durable: whether a commit waits until the disk has the file and its name.
///
/// Example:
///     >>> with AtomicFile("notes.txt") as file:
///     ...     _ = file.write(b"all of it")
///     ...     file.commit()
///     >>> from pathlib import Path
///     >>> Path("notes.txt").read_text()
///     'all of it'
#[pyclass(frozen, name = "AtomicFile", module = "burnpy.pack")]
pub(crate) struct PyAtomicFile {
    file: Mutex<Option<AtomicFile>>,
    scratch: PathBuf,
    destination: PathBuf,
}

#[pymethods]
impl PyAtomicFile {
    #[new]
    #[pyo3(signature = (destination, *, durable=true))]
    fn new(py: Python<'_>, destination: PathBuf, durable: bool) -> PyResult<Self> {
        let create =
            || AtomicFile::create(&destination, durable).map_err(|error| error.with_path(&destination));
        Ok(Self::wrap(enter(py, create)?, destination))
    }

    /// Where the scratch file is.
    #[getter]
    fn path(&self) -> &PathBuf {
        &self.scratch
    }

    /// Appends bytes, all of them, and returns their number.
    fn write(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<usize> {
        let bytes = buffer_bytes(data)?;
        self.with_file(py, |file| {
            let mut sink = file.sink();
            sink.write_all(&bytes).and_then(|()| sink.flush()).map_err(Error::from)
        })?;
        Ok(bytes.len())
    }

    /// Asks the file system for room at once, which makes the writes faster; not more than will be written.
    ///
    /// Raises:
    ///     IoError: there is no room.
    fn reserve(&self, py: Python<'_>, nbytes: u64) -> PyResult<()> {
        self.with_file(py, |file| file.reserve(nbytes))
    }

    /// The descriptor of the open scratch file. Who writes through a copy of it flushes before the commit.
    #[cfg(unix)]
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        self.with_file(py, |file| Ok(std::os::fd::AsRawFd::as_raw_fd(file.file())))
    }

    /// Puts the file in place. It is used up by this, also by a failure.
    ///
    /// Args:
    ///     overwrite: whether something at the destination is replaced.
    ///
    /// Raises:
    ///     AlreadyExists: something is there, and ``overwrite`` is off.
    #[pyo3(signature = (overwrite=true))]
    fn commit(&self, py: Python<'_>, overwrite: bool) -> PyResult<()> {
        let file = py.detach(|| self.lock().take()).ok_or_else(used_up)?;
        let commit = || if overwrite { file.commit() } else { file.commit_new() };
        enter(py, || commit().map_err(|error| error.with_path(&self.destination)))
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) {
        py.detach(|| drop(self.lock().take()));
    }
}

impl PyAtomicFile {
    pub(crate) fn wrap(file: AtomicFile, destination: PathBuf) -> Self {
        Self { scratch: file.path().to_owned(), file: Mutex::new(Some(file)), destination }
    }

    fn with_file<T: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&AtomicFile) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let run =
            || self.lock().as_ref().map(|file| run(file).map_err(|error| error.with_path(&self.scratch)));
        enter(py, || run().transpose())?.ok_or_else(used_up)
    }

    fn lock(&self) -> MutexGuard<'_, Option<AtomicFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn used_up() -> PyErr {
    PyValueError::new_err("the file is committed or closed already")
}
