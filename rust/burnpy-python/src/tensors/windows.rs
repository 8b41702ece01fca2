//! Convolutions and pools of `burnpy.tensor.module`.

use burnpy_tensor::Tensor;
use burnpy_tensor::ops::{
    AvgPoolOptions, ConvOptions, ConvTransposeOptions, DeformConvOptions, MaxPoolOptions, Padding,
    UnfoldOptions,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::argument::Ints;
use super::gate;
use super::tensor::PyTensor;
use crate::array::type_name;

/// A tensor among the arguments of a function.
type Arg<'a, 'py> = &'a Bound<'py, PyTensor>;

/// A number for each axis: one for all, or a sequence of them.
#[derive(Clone, Copy)]
pub(crate) struct Sizes<const N: usize>(pub(crate) [usize; N]);

impl<const N: usize> FromPyObject<'_, '_> for Sizes<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let ints = value.extract::<Ints>()?;
        let sizes = ints.iter().map(|&size| {
            usize::try_from(size)
                .map_err(|_| PyValueError::new_err(format!("sizes must be at least 0, got {size}")))
        });
        let sizes: Vec<usize> = sizes.collect::<PyResult<_>>()?;
        match sizes.as_slice() {
            [one] => Ok(Self([*one; N])),
            all => all.try_into().map(Self).map_err(|_| {
                PyValueError::new_err(format!(
                    "expected 1 or {N} numbers, one for each axis, got {}",
                    all.len()
                ))
            }),
        }
    }
}

/// Padding: ``"valid"``, ``"same"``, numbers for both ends of each axis, or pairs of them.
#[derive(Clone, Copy)]
pub(crate) struct Pads<const N: usize>(Padding<N>);

impl<const N: usize> FromPyObject<'_, '_> for Pads<N> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(name) = value.cast::<PyString>() {
            return match name.to_str()? {
                "valid" => Ok(Self(Padding::Valid)),
                "same" => Ok(Self(Padding::Same)),
                other => Err(PyValueError::new_err(format!(
                    "padding must be \"valid\", \"same\", numbers or pairs of them, got {other:?}"
                ))),
            };
        }
        if let Ok(Sizes(both)) = value.extract::<Sizes<N>>() {
            return Ok(Self(Padding::Explicit(both.map(|pad| (pad, pad)))));
        }
        let pairs = value.extract::<Vec<(usize, usize)>>().map_err(|_| {
            let found = type_name(&value);
            PyTypeError::new_err(format!(
                "padding must be \"valid\", \"same\", numbers or pairs of them, got {found}"
            ))
        })?;
        pairs.as_slice().try_into().map(|pads| Self(Padding::Explicit(pads))).map_err(|_| {
            PyValueError::new_err(format!(
                "expected {N} pairs of padding, one for each axis, got {}",
                pairs.len()
            ))
        })
    }
}

impl<const N: usize> Pads<N> {
    /// Elements at both ends of each axis of an input, for a kernel.
    fn of(self, x: &Tensor, kernel: [usize; N], stride: [usize; N]) -> [(usize, usize); N] {
        self.0.resolve(last_sizes(x), kernel, stride)
    }
}

/// Sizes of the last axes; what is not there has size 0, and the operation refuses the rank.
fn last_sizes<const N: usize>(x: &Tensor) -> [usize; N] {
    let shape = x.shape();
    std::array::from_fn(|axis| (shape.len() + axis).checked_sub(N).map_or(0, |axis| shape[axis]))
}

fn inner<'a>(tensor: &'a Bound<'_, PyTensor>) -> &'a Tensor {
    &tensor.get().0
}

/// Multiplications, in elements, that a convolution is worth.
fn conv_work(x: &Tensor, weight: &Tensor) -> usize {
    x.num_elements().saturating_mul(weight.num_elements())
}

macro_rules! convolutions {
    ($($n:literal $conv:ident $transposed:ident $shape:literal;)+) => {$(
        #[doc = concat!("Convolution of ``(batch, channels, ", $shape, ")`` with ``(out, channels / groups, ...)``.")]
        ///
        /// Args:
        ///     bias: ``(out,)``.
        ///     stride, dilation: a number for all axes or one for each.
        ///     padding: the same, or a pair for each axis, or ``"valid"``, ``"same"``.
        ///     groups: parts of the channels that do not see each other.
        #[pyfunction]
        #[pyo3(signature = (x, weight, bias=None, *, stride=Sizes([1; $n]), padding=Pads(Padding::Valid), dilation=Sizes([1; $n]), groups=1))]
        #[allow(clippy::too_many_arguments, reason = "keyword arguments")]
        pub(crate) fn $conv(
            py: Python<'_>,
            x: Arg<'_, '_>,
            weight: Arg<'_, '_>,
            bias: Option<Arg<'_, '_>>,
            stride: Sizes<$n>,
            padding: Pads<$n>,
            dilation: Sizes<$n>,
            groups: usize,
        ) -> PyResult<PyTensor> {
            let (x, weight, bias) = (inner(x), inner(weight), bias.map(inner));
            let padding = padding.of(x, last_sizes(weight), stride.0);
            let options = ConvOptions { stride: stride.0, padding, dilation: dilation.0, groups };
            gate::tensor(py, conv_work(x, weight), || x.$conv(weight, bias, &options))
        }

        #[doc = concat!("Transposed convolution of ``(batch, channels, ", $shape, ")`` with ``(channels, out / groups, ...)``.")]
        ///
        /// Args:
        ///     padding: elements that are cut off at both ends of each axis.
        ///     padding_out: elements that are added at the end of each axis.
        #[pyfunction]
        #[pyo3(signature = (x, weight, bias=None, *, stride=Sizes([1; $n]), padding=Sizes([0; $n]), padding_out=Sizes([0; $n]), dilation=Sizes([1; $n]), groups=1))]
        #[allow(clippy::too_many_arguments, reason = "keyword arguments")]
        pub(crate) fn $transposed(
            py: Python<'_>,
            x: Arg<'_, '_>,
            weight: Arg<'_, '_>,
            bias: Option<Arg<'_, '_>>,
            stride: Sizes<$n>,
            padding: Sizes<$n>,
            padding_out: Sizes<$n>,
            dilation: Sizes<$n>,
            groups: usize,
        ) -> PyResult<PyTensor> {
            let (x, weight, bias) = (inner(x), inner(weight), bias.map(inner));
            let options = ConvTransposeOptions {
                stride: stride.0,
                padding: padding.0,
                padding_out: padding_out.0,
                dilation: dilation.0,
                groups,
            };
            gate::tensor(py, conv_work(x, weight), || x.$transposed(weight, bias, &options))
        }
    )+};
}

convolutions! {
    1 conv1d conv_transpose1d "length";
    2 conv2d conv_transpose2d "height, width";
    3 conv3d conv_transpose3d "depth, height, width";
}

macro_rules! average_pools {
    ($($n:literal $pool:ident $adaptive:ident;)+) => {$(
        /// Means of windows. ``stride`` is the kernel's size by default; ``count_include_pad`` counts padding as zeros.
        #[pyfunction]
        #[pyo3(signature = (x, kernel_size, *, stride=None, padding=Pads(Padding::Valid), count_include_pad=true, ceil_mode=false))]
        pub(crate) fn $pool(
            py: Python<'_>,
            x: Arg<'_, '_>,
            kernel_size: Sizes<$n>,
            stride: Option<Sizes<$n>>,
            padding: Pads<$n>,
            count_include_pad: bool,
            ceil_mode: bool,
        ) -> PyResult<PyTensor> {
            let (x, stride) = (inner(x), stride.unwrap_or(kernel_size).0);
            let padding = padding.of(x, kernel_size.0, stride);
            let options =
                AvgPoolOptions { kernel_size: kernel_size.0, stride, padding, count_include_pad, ceil_mode };
            gate::tensor(py, x.num_elements(), || x.$pool(&options))
        }

        /// Means of windows whose sizes are such that the output has this one.
        #[pyfunction]
        pub(crate) fn $adaptive(py: Python<'_>, x: Arg<'_, '_>, output_size: Sizes<$n>) -> PyResult<PyTensor> {
            let x = inner(x);
            gate::tensor(py, x.num_elements(), || x.$adaptive(output_size.0))
        }
    )+};
}

average_pools! {
    1 avg_pool1d adaptive_avg_pool1d;
    2 avg_pool2d adaptive_avg_pool2d;
    3 avg_pool3d adaptive_avg_pool3d;
}

macro_rules! maximum_pools {
    ($($n:literal $pool:ident $($with_indices:ident)?;)+) => {$(
        /// Largest elements of windows. ``stride`` is the kernel's size by default.
        #[pyfunction]
        #[pyo3(signature = (x, kernel_size, *, stride=None, padding=Pads(Padding::Valid), dilation=Sizes([1; $n]), ceil_mode=false))]
        pub(crate) fn $pool(
            py: Python<'_>,
            x: Arg<'_, '_>,
            kernel_size: Sizes<$n>,
            stride: Option<Sizes<$n>>,
            padding: Pads<$n>,
            dilation: Sizes<$n>,
            ceil_mode: bool,
        ) -> PyResult<PyTensor> {
            let (x, stride) = (inner(x), stride.unwrap_or(kernel_size).0);
            let (kernel_size, dilation) = (kernel_size.0, dilation.0);
            let padding = padding.of(x, kernel_size, stride);
            let options = MaxPoolOptions { kernel_size, stride, padding, dilation, ceil_mode };
            gate::tensor(py, x.num_elements(), || x.$pool(&options))
        }

        $(/// Largest elements of windows, and where they are in their plane.
        #[pyfunction]
        #[pyo3(signature = (x, kernel_size, *, stride=None, padding=Pads(Padding::Valid), dilation=Sizes([1; $n]), ceil_mode=false))]
        pub(crate) fn $with_indices(
            py: Python<'_>,
            x: Arg<'_, '_>,
            kernel_size: Sizes<$n>,
            stride: Option<Sizes<$n>>,
            padding: Pads<$n>,
            dilation: Sizes<$n>,
            ceil_mode: bool,
        ) -> PyResult<(PyTensor, PyTensor)> {
            let (x, stride) = (inner(x), stride.unwrap_or(kernel_size).0);
            let (kernel_size, dilation) = (kernel_size.0, dilation.0);
            let padding = padding.of(x, kernel_size, stride);
            let options = MaxPoolOptions { kernel_size, stride, padding, dilation, ceil_mode };
            let (y, indices) = gate::run(py, x.num_elements(), || x.$with_indices(&options))?;
            Ok((PyTensor(y), PyTensor(indices)))
        })?
    )+};
}

maximum_pools! {
    1 max_pool1d max_pool1d_with_indices;
    2 max_pool2d max_pool2d_with_indices;
    3 max_pool3d;
}

/// Convolution whose windows are bent by ``offset``, and weighed by ``mask``.
#[pyfunction]
#[pyo3(signature = (x, offset, weight, mask=None, bias=None, *, stride=Sizes([1; 2]), padding=Sizes([0; 2]), dilation=Sizes([1; 2]), weight_groups=1, offset_groups=1))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments")]
pub(crate) fn deform_conv2d(
    py: Python<'_>,
    x: Arg<'_, '_>,
    offset: Arg<'_, '_>,
    weight: Arg<'_, '_>,
    mask: Option<Arg<'_, '_>>,
    bias: Option<Arg<'_, '_>>,
    stride: Sizes<2>,
    padding: Sizes<2>,
    dilation: Sizes<2>,
    weight_groups: usize,
    offset_groups: usize,
) -> PyResult<PyTensor> {
    let (stride, padding, dilation) = (stride.0, padding.0, dilation.0);
    let options = DeformConvOptions { stride, padding, dilation, weight_groups, offset_groups };
    let (x, offset, weight) = (inner(x), inner(offset), inner(weight));
    let (mask, bias) = (mask.map(inner), bias.map(inner));
    gate::tensor(py, conv_work(x, weight), || x.deform_conv2d(offset, weight, mask, bias, &options))
}

/// Windows of images as columns: ``(batch, channels, height, width)`` gives ``(batch, channels · kernel, windows)``.
#[pyfunction]
#[pyo3(signature = (x, kernel_size, *, stride=Sizes([1; 2]), padding=Sizes([0; 2]), dilation=Sizes([1; 2])))]
pub(crate) fn unfold4d(
    py: Python<'_>,
    x: Arg<'_, '_>,
    kernel_size: Sizes<2>,
    stride: Sizes<2>,
    padding: Sizes<2>,
    dilation: Sizes<2>,
) -> PyResult<PyTensor> {
    let options = UnfoldOptions { stride: stride.0, dilation: dilation.0, padding: padding.0 };
    let x = inner(x);
    let work = x.num_elements().saturating_mul(kernel_size.0.iter().product());
    gate::tensor(py, work, || x.unfold4d(kernel_size.0, &options))
}

/// The contrary of ``unfold4d``: columns are added up where their windows lie in images of ``output_size``.
#[pyfunction]
#[pyo3(signature = (x, output_size, kernel_size, *, stride=Sizes([1; 2]), padding=Sizes([0; 2]), dilation=Sizes([1; 2])))]
pub(crate) fn fold4d(
    py: Python<'_>,
    x: Arg<'_, '_>,
    output_size: Sizes<2>,
    kernel_size: Sizes<2>,
    stride: Sizes<2>,
    padding: Sizes<2>,
    dilation: Sizes<2>,
) -> PyResult<PyTensor> {
    let options = UnfoldOptions { stride: stride.0, dilation: dilation.0, padding: padding.0 };
    let x = inner(x);
    gate::tensor(py, x.num_elements(), || x.fold4d(output_size.0, kernel_size.0, &options))
}
