//! `burnpy._core`: the Python face of burnpy's Rust crates. Nothing else in the workspace knows PyO3.

#![deny(unsafe_code)]

mod convert;
mod enter;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
