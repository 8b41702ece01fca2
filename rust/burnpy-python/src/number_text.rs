//! Numbers as text, for the metric files of the training loop: a line a metric and batch.

use std::fmt::Write;

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

/// Lines of a metric file, a number and its weight each: the first two values of every snapshot.
///
/// Raises:
///     TypeError: a value is no number, a snapshot no tuple.
///     ValueError: a snapshot has not four values.
///
/// Example:
///     >>> mean_lines([(0.5, 64, 32.0, 64), (0.25, 8, 34.0, 72)])
///     '0.5,64\n0.25,8\n'
#[pyfunction]
#[pyo3(signature = (snapshots, /))]
pub(crate) fn mean_lines(snapshots: Vec<Snapshot<'_>>) -> String {
    let mut lines = String::with_capacity(snapshots.len() * LINE);
    for (value, weight, ..) in snapshots {
        // A metric of a user's own may count in other things than integers.
        match weight.extract::<i64>() {
            Ok(weight) => writeln!(lines, "{value},{weight}"),
            Err(_) => writeln!(lines, "{value},{weight}"),
        }
        .expect("a string takes all");
    }
    lines
}

/// Value and weight of a batch, and the sums after it.
type Snapshot<'py> = (f64, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Bytes of a common line.
const LINE: usize = 24;
