//! Elements around a tensor.

use super::axis::Indices;
use super::broadcast::Shape;
use super::index::{Pick, picked_values, sum_at};
use super::scalar::Scalar;
use super::slice::{number_around, part};
use super::views::movable;
use crate::autodiff::record;
use crate::error::{Error, Result};
use crate::kernels::region::Span;
use crate::tensor::Tensor;
use crate::value::Value;

/// What stands in the padding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PadMode {
    /// A number.
    Constant(Scalar),
    /// The elements mirrored at the first and the last one, which do not come twice.
    Reflect,
    /// The first and the last element.
    Edge,
}

impl Tensor {
    /// With `(before, after)` elements more along each of the last axes: the last pair is for the last axis.
    ///
    /// # Errors
    /// `Shape` for more pairs than axes, `Argument` if `Reflect` needs more elements than there are beside the edge, or
    /// `Edge` any of an empty axis.
    ///
    /// ```
    /// use burnpy_tensor::{Tensor, Value, ops::PadMode};
    /// let x = Tensor::from(Value::from_slice(&[1i32, 2, 3], &[3])?);
    /// assert_eq!(x.pad(&[(2, 1)], PadMode::Reflect)?.value().as_slice::<i32>(), Some(&[3, 2, 1, 2, 3, 2][..]));
    /// # Ok::<(), burnpy_tensor::Error>(())
    /// ```
    pub fn pad(&self, padding: &[(usize, usize)], mode: PadMode) -> Result<Self> {
        let shape = self.shape();
        let Some(lead) = shape.len().checked_sub(padding.len()) else {
            let message = format_args!("{} pairs for the axes of {shape:?}", padding.len());
            return Err(Error::shape("pad", message));
        };
        let mut out: Shape = shape.into();
        for (size, &(before, after)) in out[lead..].iter_mut().zip(padding) {
            let sum = size.checked_add(before).and_then(|size| size.checked_add(after));
            *size = sum.ok_or_else(|| {
                Error::shape("pad", format_args!("padding {padding:?} of {shape:?} overflows"))
            })?;
        }
        match mode {
            PadMode::Constant(number) => self.padded_by(number, lead, padding, &out),
            _ => padding
                .iter()
                .enumerate()
                .filter(|&(_, &pair)| pair != (0, 0))
                .try_fold(self.clone(), |x, (i, &(before, _))| {
                    x.padded_from_within(lead + i, before, out[lead + i], mode)
                }),
        }
    }

    fn padded_by(
        &self,
        number: Scalar,
        lead: usize,
        padding: &[(usize, usize)],
        shape: &[usize],
    ) -> Result<Self> {
        let whole = |(axis, &size): (usize, &usize)| {
            let start = axis.checked_sub(lead).map_or(0, |i| padding[i].0);
            Span { start: if size == 0 { 0 } else { start }, step: 1, count: size }
        };
        let spans: Vec<Span> = self.shape().iter().enumerate().map(whole).collect();
        let value = number_around(shape, &spans, movable("pad", self)?.as_ref(), number)?;
        // dx = dy without the padding
        Ok(record("pad", [self], value, |_| move |gradient: Value| Ok([Some(part(&gradient, &spans))])))
    }

    /// One axis, to `size` elements; those of the padding are picked from it.
    fn padded_from_within(&self, axis: usize, before: usize, size: usize, mode: PadMode) -> Result<Self> {
        let held = self.shape()[axis];
        let room = if mode == PadMode::Reflect { held.saturating_sub(1) } else { usize::MAX };
        if held == 0 || before > room || size - held - before > room {
            let message = format_args!(
                "{mode:?} of {before} and {} elements needs more than the {held} of axis {axis}",
                size - held - before
            );
            return Err(Error::argument("pad", message));
        }
        let source = |place: usize| match (place.checked_sub(before), mode) {
            (Some(i), _) if i < held => i,
            (Some(i), PadMode::Reflect) => 2 * (held - 1) - i,
            (Some(_), _) => held - 1,
            (None, PadMode::Reflect) => before - place,
            (None, _) => 0,
        };
        let at = Indices::new(&(0..size).map(|place| source(place) as u32).collect::<Vec<_>>())?;
        let (mut shape, from): (Shape, Shape) = (self.shape().into(), self.shape().into());
        shape[axis] = size;
        let pick = Pick::rows(&from, axis);
        let value = picked_values(movable("pad", self)?.as_ref(), pick, &at, &shape)?;
        // dx = Σ dy over the places that an element stands in
        Ok(record("pad", [self], value, |_| {
            move |gradient: Value| Ok([Some(sum_at(&from, pick, &at, &gradient)?)])
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::testing::{check_gradients, elements, ints, leaf};

    #[test]
    fn each_mode_fills_the_padding_its_way() {
        let x = ints(&[1, 2, 3, 4], &[4]);
        let cases: [(PadMode, [f64; 7]); 3] = [
            (PadMode::Constant(Scalar::Int(7)), [7., 1., 2., 3., 4., 7., 7.]),
            (PadMode::Reflect, [2., 1., 2., 3., 4., 3., 2.]),
            (PadMode::Edge, [1., 1., 2., 3., 4., 4., 4.]),
        ];
        for (mode, expected) in cases {
            assert_eq!(elements(&x.pad(&[(1, 2)], mode).unwrap()), expected);
        }
        let grid = ints(&[1, 2, 3, 4], &[2, 2]).pad(&[(1, 0), (0, 1)], PadMode::Edge).unwrap();
        assert_eq!((grid.shape(), elements(&grid)), (&[3, 3][..], vec![1., 2., 2., 1., 2., 2., 3., 4., 4.]));
        let around_nothing =
            ints(&[], &[0, 2]).pad(&[(1, 1), (0, 0)], PadMode::Constant(Scalar::Int(3))).unwrap();
        assert_eq!(elements(&around_nothing), [3.; 4]);
    }

    #[test]
    fn gradients_come_back_from_the_padding() {
        for mode in [PadMode::Constant(Scalar::Float(1.0)), PadMode::Reflect, PadMode::Edge] {
            check_gradients(&[leaf(&[2, 3, 4])], |x| x[0].pad(&[(2, 1), (0, 3)], mode));
            check_gradients(&[leaf(&[2, 3])], |x| x[0].transpose()?.pad(&[(0, 0), (1, 1)], mode));
        }
    }

    #[test]
    fn padding_that_cannot_be_is_an_error() {
        let x = leaf(&[3]);
        let cases = [
            (
                x.pad(&[(3, 0)], PadMode::Reflect),
                "pad: Reflect of 3 and 0 elements needs more than the 3 of axis 0",
            ),
            (x.pad(&[(0, 0); 2], PadMode::Edge), "pad: 2 pairs for the axes of [3]"),
            (
                ints(&[], &[0]).pad(&[(1, 0)], PadMode::Edge),
                "pad: Edge of 1 and 0 elements needs more than the 0 of axis 0",
            ),
            (
                x.pad(&[(usize::MAX, 1)], PadMode::Edge),
                "pad: padding [(18446744073709551615, 1)] of [3] overflows",
            ),
        ];
        for (result, message) in cases {
            assert_eq!(result.unwrap_err().to_string(), message);
        }
    }
}
