//! Whether some elements are true, or all.

use super::values::{Reduced, fold_values};
use crate::element::BOOL;
use crate::error::Result;
use crate::kernels::reduce::{Max, Min};
use crate::ops::cast::cast_value;
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// Whether an element is true (not 0), of shape `[1]`; false if there are none.
    ///
    /// # Errors
    /// None.
    pub fn any(&self) -> Result<Self> {
        test(self, &Reduced::all(self.value()), true, Some(&[1]))
    }

    /// Whether all elements are true (not 0), of shape `[1]`; true if there are none.
    ///
    /// # Errors
    /// None.
    pub fn all(&self) -> Result<Self> {
        test(self, &Reduced::all(self.value()), false, Some(&[1]))
    }

    /// [`Tensor::any`] along an axis, which is kept with size 1.
    ///
    /// # Errors
    /// `Shape` if there is no such axis.
    pub fn any_dim(&self, dim: isize) -> Result<Self> {
        test(self, &Reduced::new("any_dim", self.value(), &[dim])?, true, None)
    }

    /// [`Tensor::all`] along an axis, which is kept with size 1.
    ///
    /// # Errors
    /// `Shape` if there is no such axis.
    pub fn all_dim(&self, dim: isize) -> Result<Self> {
        test(self, &Reduced::new("all_dim", self.value(), &[dim])?, false, None)
    }
}

fn test(x: &Tensor, reduced: &Reduced, any: bool, seen: Option<&[usize]>) -> Result<Tensor> {
    let flags = cast_value(x.value(), BOOL)?;
    // Bytes of 0 and 1; of no elements, the largest is 0, and the smallest 255.
    let value = if any {
        fold_values::<u8>(&flags, reduced, Max)?
    } else if reduced.count == 0 {
        Value::full(&reduced.kept, 1.0, BOOL)?
    } else {
        fold_values::<u8>(&flags, reduced, Min)?
    };
    let value = seen.map_or_else(|| value.clone(), |shape| value.reshaped(shape));
    Ok(Tensor::from_parts(value, None, x.is_autodiff()))
}
