//! Windows along an axis.

use burnpy_buffer::Layout;

use super::axis::axis;
use super::broadcast::Shape;
use super::index::around;
use super::views::movable;
use crate::autodiff::record;
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::parallel;
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// The windows of `size` elements along an axis that begin every `step` elements: their number stands where the axis
    /// was, their elements in a new last axis. A view, without a copy.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `Argument` if a step or size is 0 or the window is longer than the axis.
    pub fn unfold(&self, dim: isize, size: usize, step: usize) -> Result<Self> {
        let along = axis("unfold", dim, self.rank())?;
        let held = self.shape()[along];
        if size == 0 || step == 0 || size > held {
            let message = format_args!("windows of {size} every {step} along axis {along} of size {held}");
            return Err(Error::argument("unfold", message));
        }
        let value = windows(movable("unfold", self)?.as_ref(), along, size, step)?;
        // dx = Σ dy over the windows that an element is in
        Ok(record("unfold", [self], value, |_| {
            let shape: Shape = self.shape().into();
            move |gradient: Value| Ok([Some(overlap(&shape, along, size, step, &gradient)?)])
        }))
    }
}

fn windows(x: &Value, axis: usize, size: usize, step: usize) -> Result<Value> {
    let layout = x.layout();
    let (mut shape, mut strides): (Shape, Vec<isize>) = (layout.shape().into(), layout.strides().into());
    shape[axis] = (shape[axis] - size) / step + 1;
    shape.push(size);
    strides.push(strides[axis]);
    // One window has no next one: a step past the end need not fit.
    strides[axis] = if shape[axis] > 1 { strides[axis] * step as isize } else { 0 };
    let layout = Layout::from_parts(&shape[..], &strides[..], layout.offset());
    layout.map(|layout| x.with_layout(layout)).map_err(|error| Error::shape("unfold", error))
}

/// The sum of windows where they lie on an axis.
fn overlap(shape: &[usize], axis: usize, size: usize, step: usize, windows: &Value) -> Result<Value> {
    let (count, (_, held, inner)) = (windows.shape()[axis], around(shape, axis));
    // Elements of a window beside its number: then they are runs of `inner`.
    let mut order: Shape = (0..shape.len()).collect();
    order.insert(axis + 1, shape.len());
    let dense = windows.permuted(&order).contiguous();
    dispatch_float!(windows.dtype(), T => {
        let dy = dense.as_slice::<T>().expect("contiguous");
        Value::build_as(windows.dtype(), shape, |out: &mut [T]| {
            parallel::chunks_mut(out, (held * inner).max(1), |o, out| {
                out.fill(0.0);
                for w in 0..count {
                    let dy = &dy[(o * count + w) * size * inner..][..size * inner];
                    out[w * step * inner..].iter_mut().zip(dy).for_each(|(out, &dy)| *out += dy);
                }
            });
        })
    }, else => {
        let wide = super::cast::cast_value(windows, crate::DType::F32)?;
        super::cast::cast_value(&overlap(shape, axis, size, step, &wide)?, windows.dtype())
    })
}

#[cfg(test)]
mod tests {
    use crate::ops::testing::{check_gradients, elements, ints, leaf};

    #[test]
    fn windows_follow_each_other_by_the_step() {
        let x = ints(&[0, 1, 2, 3, 4, 5, 6], &[7]);
        let windows = x.unfold(0, 3, 2).unwrap();
        assert_eq!(
            (windows.shape(), elements(&windows)),
            (&[3, 3][..], vec![0., 1., 2., 2., 3., 4., 4., 5., 6.])
        );
        assert_eq!(x.unfold(0, 7, usize::MAX).unwrap().shape(), [1, 7]);
        assert_eq!(ints(&[0; 12], &[3, 4]).unfold(0, 2, 1).unwrap().shape(), [2, 4, 2]);
        let message = "unfold: windows of 8 every 1 along axis 0 of size 7";
        assert_eq!(x.unfold(0, 8, 1).unwrap_err().to_string(), message);
        assert!(x.unfold(0, 1, 0).is_err() && x.unfold(0, 0, 1).is_err());
    }

    #[test]
    fn gradients_of_overlapping_windows_add_up() {
        for dim in 0..3 {
            check_gradients(&[leaf(&[3, 4, 5])], |x| x[0].unfold(dim, 3, 1));
            check_gradients(&[leaf(&[3, 4, 5])], |x| x[0].unfold(dim, 1, 2));
        }
    }
}
