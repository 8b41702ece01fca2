//! Numbers as text, for the metric files of the training loop: a line a metric and batch.

use pyo3::prelude::*;

/// The shortest digits that give the number back, never with an exponent: the form of metric files.
///
/// Example:
///     >>> plain_float(50.0), plain_float(1e-7), plain_float(1e21), plain_float(float("nan"))
///     ('50', '0.0000001', '1000000000000000000000', 'NaN')
#[pyfunction]
#[pyo3(signature = (value, /))]
pub(crate) fn plain_float(value: f64) -> String {
    value.to_string()
}
