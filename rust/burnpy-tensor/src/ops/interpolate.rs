//! Images at another resolution.

use super::half::via_f32;
use super::resample::{along_axes, transposed};
use crate::autodiff::record;
use crate::error::{Error, Result};
use crate::kernels::resample::Taps;
use crate::tensor::Tensor;
use crate::value::Value;

/// Which inputs an output is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InterpolateMode {
    /// The one at `⌊output · inputs / outputs⌋`.
    #[default]
    Nearest,
    /// The one nearest to the centre of the output; halves go up.
    NearestExact,
    /// Two along each axis, by their distance.
    Linear,
    /// Four along each axis, with the kernel of Keys for a = −0.75.
    Cubic,
    /// Six along each axis, with `sinc(x) · sinc(x / 3)`.
    Lanczos,
}

/// The size of the result.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputSize {
    /// Elements along each axis.
    Size(Vec<usize>),
    /// `trunc(inputs · scale)` elements along each axis.
    Scale(Vec<f64>),
}

/// What [`Tensor::interpolate`] makes.
#[derive(Debug, Clone, PartialEq)]
pub struct InterpolateOptions {
    /// The size of the result.
    pub output: OutputSize,
    /// Which inputs an output is made of.
    pub mode: InterpolateMode,
    /// Whether the first and the last element of an axis stay where they are; else the edges of its pixels do.
    pub align_corners: bool,
}

impl Tensor {
    /// `[batch, channels, sizes…]`, with one to three axes, at another resolution.
    ///
    /// With `align_corners` output `o` is at `o · (inputs − 1) / max(outputs − 1, 1)`, else at
    /// `(o + ½) · inputs / outputs − ½`.
    ///
    /// # Errors
    /// `Shape` if the rank is below 3 or above 5, if there is not one size for each axis, or an axis is empty;
    /// `Argument` for a size of 0 or a scale that is none; `DType` if the tensor does not hold floats.
    pub fn interpolate(&self, options: &InterpolateOptions) -> Result<Self> {
        const OPERATION: &str = "interpolate";
        if !(3..=5).contains(&self.rank()) {
            let found = self.shape();
            return Err(Error::shape(
                OPERATION,
                format_args!("expected rank 3, 4 or 5, got shape {found:?}"),
            ));
        }
        let inputs = self.shape()[2..].to_vec();
        let outputs = sizes(OPERATION, &inputs, &options.output)?;
        let both = inputs.iter().zip(&outputs);
        let taps: Vec<Taps> = both
            .map(|(&inputs, &outputs)| taps(options.mode, inputs, outputs, options.align_corners))
            .collect();
        via_f32([self], |[x]| {
            let value = along_axes(OPERATION, x.value(), &taps)?;
            // The map is linear: dx = its transpose of dy.
            Ok(record(OPERATION, [x], value, |_| {
                let taps = transposed(&taps, &inputs);
                move |gradient: Value| Ok([Some(along_axes(OPERATION, &gradient, &taps)?)])
            }))
        })
    }
}

fn sizes(operation: &'static str, inputs: &[usize], output: &OutputSize) -> Result<Vec<usize>> {
    let sizes: Vec<usize> = match output {
        OutputSize::Size(sizes) => sizes.clone(),
        // A cast saturates, and the limit below holds for what it gives.
        OutputSize::Scale(scales) => {
            inputs.iter().zip(scales).map(|(&size, &scale)| (size as f64 * scale) as usize).collect()
        }
    };
    let given = match output {
        OutputSize::Size(sizes) => sizes.len(),
        OutputSize::Scale(scales) => scales.len(),
    };
    if given != inputs.len() || inputs.contains(&0) {
        return Err(Error::shape(operation, format_args!("{given} output sizes for axes of {inputs:?}")));
    }
    if sizes.iter().any(|&size| size == 0 || size > 1 << 40) {
        return Err(Error::argument(operation, format_args!("axes of {inputs:?} cannot become {sizes:?}")));
    }
    Ok(sizes)
}

fn taps(mode: InterpolateMode, inputs: usize, outputs: usize, align_corners: bool) -> Taps {
    let position = |o: usize| {
        if align_corners {
            o as f64 * ((inputs - 1) as f64 / outputs.saturating_sub(1).max(1) as f64)
        } else {
            (o as f64 + 0.5) * (inputs as f64 / outputs as f64) - 0.5
        }
    };
    let last = inputs - 1;
    let nearest = |at: f64| vec![((at.max(0.0) as usize).min(last), 1.0)];
    Taps::new(outputs, |o| match mode {
        // In integers: a quotient of floats may fall just below a whole number.
        InterpolateMode::Nearest => {
            vec![(((o as u128 * inputs as u128 / outputs as u128) as usize).min(last), 1.0)]
        }
        InterpolateMode::NearestExact => nearest((o as f64 + 0.5) * (inputs as f64 / outputs as f64)),
        InterpolateMode::Linear => linear(position(o), last),
        InterpolateMode::Cubic => cubic(position(o), last),
        InterpolateMode::Lanczos => lanczos(position(o), last),
    })
}

fn linear(at: f64, last: usize) -> Vec<(usize, f64)> {
    let at = at.max(0.0);
    let low = (at as usize).min(last);
    let part = (at - low as f64).min(1.0);
    // A weight of 0 would still make NaN of an infinity.
    if part > 0.0 { vec![(low, 1.0 - part), ((low + 1).min(last), part)] } else { vec![(low, 1.0)] }
}

fn cubic(at: f64, last: usize) -> Vec<(usize, f64)> {
    const A: f64 = -0.75;
    let near = |x: f64| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    let part = at - at.floor();
    let weights = [far(1.0 + part), near(part), near(1.0 - part), far(2.0 - part)];
    let index = |i: usize| (at.floor() - 1.0 + i as f64).clamp(0.0, last as f64) as usize;
    weights.into_iter().enumerate().map(|(i, weight)| (index(i), weight)).collect()
}

/// Taps out of range are dropped, and the others scaled so that they add up to 1.
fn lanczos(at: f64, last: usize) -> Vec<(usize, f64)> {
    let sinc = |x: f64| {
        let x = x * std::f64::consts::PI;
        if x == 0.0 { 1.0 } else { x.sin() / x }
    };
    let weight = |x: f64| if x.abs() < 3.0 { sinc(x) * sinc(x / 3.0) } else { 0.0 };
    let indices = (-2..=3).map(|i| at.floor() + f64::from(i)).filter(|i| (0.0..=last as f64).contains(i));
    let mut taps: Vec<(usize, f64)> = indices.map(|i| (i as usize, weight(at - i))).collect();
    let sum: f64 = taps.iter().map(|tap| tap.1).sum();
    taps.iter_mut().for_each(|tap| tap.1 /= sum);
    taps
}
