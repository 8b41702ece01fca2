//! `burnpy._core`: the Python face of burnpy's Rust crates.
#![deny(unsafe_code)]

use pyo3::prelude::*;

#[pymodule]
mod _core {}
