//! Sampling of images, for `burnpy.tensor.module`.

use burnpy_tensor::ops::{
    GridMode, GridPadding, GridSampleOptions, InterpolateMode, InterpolateOptions, OutputSize,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::argument::Ints;
use super::gate;
use super::tensor::PyTensor;

/// Images of another size, ``(batch, channels, length)`` or ``(batch, channels, height, width)``.
///
/// Args:
///     output_size: sizes of the last axes, or
///     scale_factor: their factors.
///     mode: ``"nearest"``, ``"nearest_exact"``, ``"linear"``, ``"cubic"`` or ``"lanczos"``.
///     align_corners: whether the centres of the corner pixels stay where they are.
#[pyfunction]
#[pyo3(signature = (x, output_size=None, *, scale_factor=None, mode="nearest", align_corners=true))]
pub(crate) fn interpolate(
    py: Python<'_>,
    x: &Bound<'_, PyTensor>,
    output_size: Option<Ints>,
    scale_factor: Option<&Bound<'_, PyAny>>,
    mode: &str,
    align_corners: bool,
) -> PyResult<PyTensor> {
    let x = &x.get().0;
    let axes = x.rank().saturating_sub(2);
    let output = match (output_size, scale_factor) {
        (Some(sizes), None) => OutputSize::Size(whole(&sizes)?),
        (None, Some(factor)) => OutputSize::Scale(match factor.extract::<f64>() {
            Ok(factor) => vec![factor; axes],
            Err(_) => factor.extract()?,
        }),
        _ => return Err(PyTypeError::new_err("interpolate takes either output_size or scale_factor")),
    };
    let mode = match mode {
        "nearest" => InterpolateMode::Nearest,
        "nearest_exact" => InterpolateMode::NearestExact,
        "linear" | "bilinear" => InterpolateMode::Linear,
        "cubic" | "bicubic" => InterpolateMode::Cubic,
        "lanczos" | "lanczos3" => InterpolateMode::Lanczos,
        other => return Err(unknown("mode", other)),
    };
    let options = InterpolateOptions { output, mode, align_corners };
    gate::tensor(py, usize::MAX, || x.interpolate(&options))
}

/// Images sampled at the points of a grid, ``(batch, height, width, 2)``, x before y, −1 and 1 being the edges.
///
/// Args:
///     mode: ``"bilinear"``, ``"nearest"`` or ``"bicubic"``.
///     padding: what lies outside: ``"zeros"``, ``"border"`` or ``"reflection"``.
///     align_corners: whether −1 and 1 are the centres of the corner pixels, else their outer edges.
#[pyfunction]
#[pyo3(signature = (x, grid, *, mode="bilinear", padding="zeros", align_corners=false))]
pub(crate) fn grid_sample_2d(
    py: Python<'_>,
    x: &Bound<'_, PyTensor>,
    grid: &Bound<'_, PyTensor>,
    mode: &str,
    padding: &str,
    align_corners: bool,
) -> PyResult<PyTensor> {
    let mode = match mode {
        "bilinear" => GridMode::Bilinear,
        "nearest" => GridMode::Nearest,
        "bicubic" => GridMode::Bicubic,
        other => return Err(unknown("mode", other)),
    };
    let padding = match padding {
        "zeros" => GridPadding::Zeros,
        "border" => GridPadding::Border,
        "reflection" => GridPadding::Reflection,
        other => return Err(unknown("padding", other)),
    };
    let options = GridSampleOptions { mode, padding, align_corners };
    let (x, grid) = (&x.get().0, &grid.get().0);
    gate::tensor(py, gate::work(x, grid), || x.grid_sample_2d(grid, &options))
}

/// The grid of affine maps ``(batch, 2, 3)``, for images of ``size`` (batch, channels, height, width).
#[pyfunction]
#[pyo3(signature = (theta, size, *, align_corners=false))]
pub(crate) fn affine_grid_2d(
    py: Python<'_>,
    theta: &Bound<'_, PyTensor>,
    size: [usize; 4],
    align_corners: bool,
) -> PyResult<PyTensor> {
    let theta = &theta.get().0;
    gate::tensor(py, usize::MAX, || theta.affine_grid_2d(size, align_corners))
}

fn whole(sizes: &[isize]) -> PyResult<Vec<usize>> {
    let sizes = sizes.iter().map(|&size| usize::try_from(size));
    sizes.collect::<Result<_, _>>().map_err(|_| PyValueError::new_err("sizes must be at least 0"))
}

fn unknown(what: &str, name: &str) -> PyErr {
    PyValueError::new_err(format!("unknown {what} {name:?}"))
}
