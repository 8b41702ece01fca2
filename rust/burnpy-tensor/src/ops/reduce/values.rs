//! What all reductions share: shapes, and folds of values.

use burnpy_buffer::Pod;

use crate::error::{Error, Result};
use crate::kernels::fold::{Folding, fold_strided};
use crate::kernels::number::Number;
use crate::kernels::reduce::Fold;
use crate::ops::axis;
use crate::ops::broadcast::Shape;
use crate::value::Value;

/// The axes of a reduction, and the shape with size 1 there.
pub(super) struct Reduced {
    pub(super) axes: Vec<usize>,
    pub(super) kept: Shape,
    /// How many elements become one; `None` if it is over `usize::MAX`, beside an axis of size 0.
    pub(super) count: usize,
}

impl Reduced {
    pub(super) fn new(operation: &'static str, value: &Value, dims: &[isize]) -> Result<Self> {
        Ok(Self::over(value, axis::axes(operation, dims, value.rank())?))
    }

    pub(super) fn all(value: &Value) -> Self {
        Self::over(value, (0..value.rank()).collect())
    }

    pub(super) fn over(value: &Value, axes: Vec<usize>) -> Self {
        let mut kept: Shape = value.shape().into();
        let count = axes.iter().fold(1usize, |count, &axis| count.saturating_mul(kept[axis]));
        axes.iter().for_each(|&axis| kept[axis] = 1);
        Self { axes, kept, count }
    }

    /// # Errors
    /// `Shape` if a result has no elements that it could come from.
    pub(super) fn needs_elements(self, operation: &'static str, value: &Value) -> Result<Self> {
        if self.count == 0 && self.kept.iter().all(|&size| size > 0) {
            let shape = value.shape();
            return Err(Error::shape(operation, format_args!("no elements to reduce in shape {shape:?}")));
        }
        Ok(self)
    }
}

/// The fold of `value` along axes, which are kept with size 1. `T` has the dtype's size.
pub(super) fn fold_values<T: Pod + Number>(
    value: &Value,
    reduced: &Reduced,
    fold: impl Fold<T>,
) -> Result<Value> {
    if value.num_elements() == 0 {
        return Value::build_as(value.dtype(), &reduced.kept, |out: &mut [T]| out.fill(nothing(fold)));
    }
    let (dense, folding) = match Folding::new(value.layout(), &reduced.axes) {
        Some(folding) => (value.clone(), folding),
        None => {
            let dense = value.contiguous();
            let folding = Folding::new(dense.layout(), &reduced.axes).expect("rows lie side by side");
            (dense, folding)
        }
    };
    let block = dense.block::<T>().expect("the dtype has this size");
    Value::build_as(value.dtype(), &reduced.kept, |out: &mut [T]| {
        fold_strided(fold, block, &folding, out);
    })
}

fn nothing<T: Number, F: Fold<T>>(fold: F) -> T {
    fold.finish(F::START)
}

/// The gradient of a reduction seen in the shape of its input.
pub(super) fn spread(gradient: &Value, kept: &[usize], shape: &[usize]) -> Value {
    gradient.reshaped(kept).broadcast_to(shape).expect("axes of size 1 repeat")
}

/// An array as rows of what is reduced, and how to get back from there.
pub(super) struct AsRows {
    /// `[results, count]`, in one piece.
    pub(super) rows: Value,
    /// The kept axes, then the reduced ones.
    shape: Shape,
    back: Vec<usize>,
}

impl AsRows {
    pub(super) fn new(x: &Value, reduced: &Reduced) -> Self {
        let (kept, folded): (Vec<usize>, Vec<usize>) =
            (0..x.rank()).partition(|axis| !reduced.axes.contains(axis));
        let order = [kept, folded].concat();
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(to, &from)| back[from] = to);
        let rows = x.permuted(&order).contiguous();
        let results = reduced.kept.iter().product();
        Self { shape: rows.shape().into(), rows: rows.reshaped(&[results, reduced.count]), back }
    }

    /// A value of the rows' shape in the shape of the array.
    pub(super) fn restore(&self, value: &Value) -> Value {
        value.reshaped(&self.shape).permuted(&self.back)
    }
}
