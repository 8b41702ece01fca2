//! Options of convolutions and pools: padding, strides and what comes of them, axis by axis.

use crate::error::{Error, Result};

/// How an input is padded before windows slide over it.
///
/// ```
/// use burnpy_tensor::ops::Padding;
/// // ⌈10 / 1⌉ = 10 outputs of a kernel of 3 need 2 more elements.
/// assert_eq!(Padding::Same.resolve([10], [3], [1]), [(1, 1)]);
/// // An odd one goes at the end.
/// assert_eq!(Padding::Same.resolve([5], [2], [1]), [(0, 1)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Padding<const N: usize> {
    /// Not at all.
    #[default]
    Valid,
    /// So that there are `⌈input / stride⌉` outputs. Dilation is ignored, as in Burn.
    Same,
    /// By these numbers of elements at the start and at the end of each axis.
    Explicit([(usize, usize); N]),
}

impl<const N: usize> Padding<N> {
    /// Elements at the start and at the end of each axis. An overflow gives more padding than there is memory for.
    pub fn resolve(&self, input: [usize; N], kernel: [usize; N], stride: [usize; N]) -> [(usize, usize); N] {
        match *self {
            Self::Valid => [(0, 0); N],
            Self::Explicit(pads) => pads,
            Self::Same => std::array::from_fn(|axis| {
                let (size, stride) = (input[axis], stride[axis].max(1));
                let last = (size.div_ceil(stride).saturating_sub(1)).saturating_mul(stride);
                let total =
                    if size == 0 { 0 } else { last.saturating_add(kernel[axis]).saturating_sub(size) };
                (total / 2, total - total / 2)
            }),
        }
    }
}

/// A window that slides along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) dilation: usize,
    pub(crate) pad: (usize, usize),
}

impl Window {
    /// The windows of an operation's axes.
    pub(crate) fn all<const N: usize>(
        kernel: [usize; N],
        stride: [usize; N],
        dilation: [usize; N],
        pads: [(usize, usize); N],
    ) -> [Self; N] {
        std::array::from_fn(|i| Self {
            kernel: kernel[i],
            stride: stride[i],
            dilation: dilation[i],
            pad: pads[i],
        })
    }

    /// `dilation · (kernel − 1) + 1`.
    ///
    /// # Errors
    /// `Argument` if a number is 0, or if there is an overflow.
    pub(crate) fn extent(&self, operation: &'static str) -> Result<usize> {
        let Self { kernel, stride, dilation, .. } = *self;
        if kernel == 0 || stride == 0 || dilation == 0 {
            return Err(Error::argument(
                operation,
                format_args!(
                    "kernel size, stride and dilation must be at least 1, got {kernel}, {stride}, {dilation}"
                ),
            ));
        }
        let extent = (kernel - 1).checked_mul(dilation).and_then(|reach| reach.checked_add(1));
        extent.filter(|&extent| extent <= isize::MAX as usize / 4).ok_or_else(|| {
            Error::argument(operation, format_args!("kernel size {kernel} · dilation {dilation} overflows"))
        })
    }

    /// How many windows there are over an axis of `size` elements: `r((size + pads − extent) / stride) + 1`, where r
    /// rounds down, or up in ceil mode. There, a last window that starts behind the input is dropped.
    ///
    /// # Errors
    /// `Argument` as [`Window::extent`], `Shape` if the padded axis is shorter than the window.
    pub(crate) fn outputs(&self, operation: &'static str, size: usize, ceil: bool) -> Result<usize> {
        let extent = self.extent(operation)?;
        let (start, end) = self.pad;
        let padded = size.checked_add(start).and_then(|padded| padded.checked_add(end));
        let padded = padded.filter(|&padded| padded <= isize::MAX as usize / 4).ok_or_else(|| {
            Error::argument(operation, format_args!("padding {start} + {size} + {end} overflows"))
        })?;
        let Some(room) = padded.checked_sub(extent) else {
            return Err(Error::shape(
                operation,
                format_args!(
                    "a window of {extent} elements does not fit in an axis of {size}, padded to {padded}"
                ),
            ));
        };
        let outputs = if ceil { room.div_ceil(self.stride) } else { room / self.stride } + 1;
        let behind = ceil && outputs > 1 && (outputs - 1).saturating_mul(self.stride) >= size + start;
        Ok(outputs - usize::from(behind))
    }
}

/// The sizes of the last `N` axes of a tensor of `N + 2` axes.
///
/// # Errors
/// `Shape` if it has another rank.
pub(crate) fn spatial<const N: usize>(operation: &'static str, shape: &[usize]) -> Result<[usize; N]> {
    if shape.len() != N + 2 {
        let rank = shape.len();
        return Err(Error::shape(
            operation,
            format_args!("expected a tensor of rank {}, got rank {rank}: {shape:?}", N + 2),
        ));
    }
    Ok(std::array::from_fn(|i| shape[i + 2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(kernel: usize, stride: usize, dilation: usize, pad: (usize, usize)) -> Window {
        Window { kernel, stride, dilation, pad }
    }

    #[test]
    fn ceil_mode_drops_a_window_that_starts_in_the_padding() {
        assert_eq!(window(2, 2, 1, (1, 1)).outputs("pool", 5, true).unwrap(), 3);
        assert_eq!(window(2, 3, 2, (1, 1)).outputs("pool", 5, true).unwrap(), 2);
        assert_eq!(window(3, 2, 1, (0, 0)).outputs("pool", 8, true).unwrap(), 4);
        assert_eq!(window(3, 2, 1, (0, 0)).outputs("pool", 8, false).unwrap(), 3);
    }

    #[test]
    fn what_cannot_slide_is_an_error() {
        for bad in [window(0, 1, 1, (0, 0)), window(1, 0, 1, (0, 0)), window(1, 1, 0, (0, 0))] {
            assert!(bad.outputs("pool", 4, false).is_err());
        }
        assert!(window(usize::MAX, 1, 3, (0, 0)).outputs("pool", 4, false).is_err());
        assert!(window(1, 1, 1, (usize::MAX, 1)).outputs("pool", 4, false).is_err());
        let error = window(3, 1, 2, (0, 1)).outputs("pool", 3, false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "pool: a window of 5 elements does not fit in an axis of 3, padded to 4"
        );
    }

    #[test]
    fn same_ignores_dilation_and_puts_the_odd_element_at_the_end() {
        assert_eq!(Padding::Same.resolve([7, 6], [3, 2], [2, 1]), [(1, 1), (0, 1)]);
        assert_eq!(Padding::Same.resolve([0], [3], [1]), [(0, 0)]);
    }
}
