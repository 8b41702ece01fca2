//! Other shapes for the same elements. None of these copies, but `reshape` and `flatten` where strides forbid a view.

use std::borrow::Cow;

use burnpy_buffer::DType;

use super::axis::{axes, axis};
use super::broadcast::{Shape, sum_to};
use super::quantized::dequantize;
use crate::autodiff::record;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// The same elements in another shape. One size may be −1, it follows from the others; 0 stands for the size of
    /// that axis of the input.
    ///
    /// # Errors
    /// `Shape` if the numbers of elements differ, or −1 stands beside a size of 0.
    ///
    /// ```
    /// use burnpy_tensor::{Tensor, Value};
    /// let x = Tensor::from(Value::from_slice(&[0i32; 24], &[2, 3, 4])?);
    /// assert_eq!(x.reshape(&[0, -1])?.shape(), [2, 12]);
    /// assert!(x.reshape(&[5, -1]).is_err());
    /// # Ok::<(), burnpy_tensor::Error>(())
    /// ```
    pub fn reshape(&self, shape: &[isize]) -> Result<Self> {
        let copied = shape.iter().enumerate().map(|(axis, &size)| match (size, self.shape().get(axis)) {
            (0, Some(&size)) => Ok(size as isize),
            (0, None) => {
                let (shape, rank) = (self.shape(), self.rank());
                let message = format_args!("size 0 of axis {axis} copies from {shape:?}, of rank {rank}");
                Err(Error::shape("reshape", message))
            }
            _ => Ok(size),
        });
        self.reshape_literal(&copied.collect::<Result<Vec<_>>>()?)
    }

    /// [`Tensor::reshape`] where 0 is a size like any other.
    ///
    /// # Errors
    /// As [`Tensor::reshape`].
    pub fn reshape_literal(&self, shape: &[isize]) -> Result<Self> {
        let shape = inferred("reshape", self.shape(), shape)?;
        self.with_shape("reshape", &shape)
    }

    /// Axes `start` to `end`, inclusive, as one. A tensor without axes gets one.
    ///
    /// # Errors
    /// `Shape` if there are no such axes, or `start` comes after `end`.
    pub fn flatten(&self, start: isize, end: isize) -> Result<Self> {
        let shape = self.shape();
        if shape.is_empty() {
            return self.with_shape("flatten", &[1]);
        }
        let (first, last) = (axis("flatten", start, shape.len())?, axis("flatten", end, shape.len())?);
        if first > last {
            let message = format_args!("axis {start} comes after axis {end} in {shape:?}");
            return Err(Error::shape("flatten", message));
        }
        let mut flat = Shape::from_slice(&shape[..first]);
        flat.push(shape[first..=last].iter().product());
        flat.extend_from_slice(&shape[last + 1..]);
        self.with_shape("flatten", &flat)
    }

    /// Without its axes of size 1.
    ///
    /// # Errors
    /// `DType` for quantized tensors.
    pub fn squeeze(&self) -> Result<Self> {
        self.squeeze_dims(&[])
    }

    /// Without an axis, which has size 1.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, or its size is not 1.
    pub fn squeeze_dim(&self, dim: isize) -> Result<Self> {
        self.squeeze_dims(&[dim])
    }

    /// Without several axes of size 1; without all of them if none is named.
    ///
    /// # Errors
    /// `Shape` if there is no such axis or the size of one is not 1, `Argument` if one comes twice.
    pub fn squeeze_dims(&self, dims: &[isize]) -> Result<Self> {
        let shape = self.shape();
        let gone = axes("squeeze", dims, shape.len())?;
        if let Some(&axis) = gone.iter().find(|&&axis| shape[axis] != 1) {
            let message = format_args!("axis {axis} of {shape:?} has size {}, not 1", shape[axis]);
            return Err(Error::shape("squeeze", message));
        }
        let kept = |axis: usize, size: usize| if dims.is_empty() { size != 1 } else { !gone.contains(&axis) };
        let left = shape.iter().enumerate().filter(|&(axis, &size)| kept(axis, size));
        let left: Shape = left.map(|(_, &size)| size).collect();
        self.with_shape("squeeze", &left)
    }

    /// Leading axes of size 1, up to `rank` axes.
    ///
    /// # Errors
    /// `Shape` if there are more already.
    pub fn unsqueeze(&self, rank: usize) -> Result<Self> {
        let Some(added) = rank.checked_sub(self.rank()) else {
            let message = format_args!("a tensor of shape {:?} has more axes than {rank}", self.shape());
            return Err(Error::shape("unsqueeze", message));
        };
        let mut shape = Shape::from_elem(1, added);
        shape.extend_from_slice(self.shape());
        self.with_shape("unsqueeze", &shape)
    }

    /// An axis of size 1 before axis `dim`; the rank itself puts it last, as −1 does.
    ///
    /// # Errors
    /// `Shape` if there is no such place.
    pub fn unsqueeze_dim(&self, dim: isize) -> Result<Self> {
        self.unsqueeze_dims(&[dim])
    }

    /// Axes of size 1 at these places of the result. A place that comes twice gets two.
    ///
    /// # Errors
    /// `Shape` if there is no such place.
    pub fn unsqueeze_dims(&self, dims: &[isize]) -> Result<Self> {
        let rank = self.rank() + dims.len();
        let places = dims.iter().map(|&dim| axis("unsqueeze", dim, rank));
        let mut places = places.collect::<Result<Vec<_>>>()?;
        places.sort_unstable();
        let mut next = 0;
        for (i, place) in places.iter_mut().enumerate() {
            *place = (*place).max(next).min(rank - dims.len() + i);
            next = *place + 1;
        }
        let mut sizes = self.shape().iter();
        let size = |place| if places.contains(&place) { Some(1) } else { sizes.next().copied() };
        let shape: Shape = (0..rank).filter_map(size).collect();
        self.with_shape("unsqueeze", &shape)
    }

    /// The last two axes swapped.
    ///
    /// # Errors
    /// `Shape` if there are fewer.
    pub fn transpose(&self) -> Result<Self> {
        self.swap_dims(-2, -1)
    }

    /// Two axes swapped.
    ///
    /// # Errors
    /// `Shape` if there is no such axis.
    pub fn swap_dims(&self, a: isize, b: isize) -> Result<Self> {
        let rank = self.rank();
        let mut order: Shape = (0..rank).collect();
        order.swap(axis("swap_dims", a, rank)?, axis("swap_dims", b, rank)?);
        self.permuted("swap_dims", order)
    }

    /// Axis `i` of the result is axis `dims[i]` of this tensor.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `Argument` if not each comes once.
    pub fn permute(&self, dims: &[isize]) -> Result<Self> {
        let order = axes("permute", dims, self.rank())?;
        if order.len() != self.rank() {
            let message =
                format_args!("{dims:?} does not name all axes of a tensor of shape {:?}", self.shape());
            return Err(Error::argument("permute", message));
        }
        self.permuted("permute", order.into())
    }

    /// Axes `from` go to places `to`; the others keep their order.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `Argument` if one comes twice or there are not as many places as axes.
    pub fn movedim(&self, from: &[isize], to: &[isize]) -> Result<Self> {
        let rank = self.rank();
        let (sources, places) = (axes("movedim", from, rank)?, axes("movedim", to, rank)?);
        if sources.len() != places.len() {
            return Err(Error::argument("movedim", format_args!("axes {from:?} cannot go to places {to:?}")));
        }
        let mut others = (0..rank).filter(|axis| !sources.contains(axis));
        let source = |place| match places.iter().position(|&to| to == place) {
            Some(i) => Some(sources[i]),
            None => others.next(),
        };
        self.permuted("movedim", (0..rank).filter_map(source).collect())
    }

    /// Backwards along these axes.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `Argument` if one comes twice.
    pub fn flip(&self, dims: &[isize]) -> Result<Self> {
        let axes = axes("flip", dims, self.rank())?;
        let value = flipped(movable("flip", self)?.as_ref(), &axes);
        Ok(record("flip", [self], value, |_| move |gradient: Value| Ok([Some(flipped(&gradient, &axes))])))
    }

    /// Axes of size 1 repeated, and leading axes added, without a copy; −1 keeps a size.
    ///
    /// # Errors
    /// `Shape` if another size than 1 would have to change.
    pub fn expand(&self, shape: &[isize]) -> Result<Self> {
        let from: Shape = self.shape().into();
        let fail = || Error::shape("expand", format_args!("shape {from:?} does not expand to {shape:?}"));
        let added = shape.len().checked_sub(from.len()).ok_or_else(fail)?;
        let size = |(axis, &size): (usize, &isize)| match size {
            -1 => axis.checked_sub(added).map(|axis| from[axis]),
            _ => usize::try_from(size).ok(),
        };
        let wanted = shape.iter().enumerate().map(size).collect::<Option<Shape>>().ok_or_else(fail)?;
        let value = movable("expand", self)?.broadcast_to(&wanted).ok_or_else(fail)?;
        Ok(record("expand", [self], value, |_| move |gradient: Value| Ok([Some(sum_to(gradient, &from)?)])))
    }

    /// The same tensor with its elements in row-major order in memory: itself if they are, else a copy.
    #[must_use]
    pub fn contiguous(&self) -> Self {
        let value = self.value().contiguous();
        record("contiguous", [self], value, |_| |gradient: Value| Ok([Some(gradient)]))
    }

    /// A shape of as many elements.
    pub(crate) fn with_shape(&self, operation: &'static str, shape: &[usize]) -> Result<Self> {
        let from: Shape = self.shape().into();
        let value = movable(operation, self)?.reshaped(shape);
        Ok(record(operation, [self], value, |_| move |gradient: Value| Ok([Some(gradient.reshaped(&from))])))
    }

    fn permuted(&self, operation: &'static str, order: Shape) -> Result<Self> {
        let value = movable(operation, self)?.permuted(&order);
        Ok(record(operation, [self], value, |_| {
            let mut back = Shape::from_elem(0, order.len());
            order.iter().enumerate().for_each(|(to, &from)| back[from] = to);
            move |gradient: Value| Ok([Some(gradient.permuted(&back))])
        }))
    }
}

/// The value of a tensor as elements that can be moved one by one: quantized ones share scales, and are dequantized.
///
/// # Errors
/// `DType` if a scheme has no numbers.
pub(crate) fn movable<'a>(operation: &'static str, x: &'a Tensor) -> Result<Cow<'a, Value>> {
    match x.dtype() {
        DType::QFloat(_) => {
            dequantize(x.value()).map(Cow::Owned).map_err(|error| Error::dtype(operation, error))
        }
        _ => Ok(Cow::Borrowed(x.value())),
    }
}

fn flipped(value: &Value, axes: &[usize]) -> Value {
    value.with_layout(axes.iter().fold(value.layout().clone(), |layout, &axis| layout.flipped(axis)))
}

/// A shape with −1 replaced by what is left of the elements.
fn inferred(operation: &'static str, from: &[usize], shape: &[isize]) -> Result<Shape> {
    let total: usize = from.iter().product();
    let fail = |reason: &str| {
        Error::shape(operation, format_args!("shape {from:?} has {total} elements, {shape:?} {reason}"))
    };
    let known = shape.iter().filter(|&&size| size != -1);
    let known = known.map(|&size| usize::try_from(size)).collect::<std::result::Result<Shape, _>>();
    let known = known.map_err(|_| fail("has a negative size"))?;
    let product = known.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    let product = if known.contains(&0) { Some(0) } else { product };
    let rest = match (shape.len() - known.len(), product) {
        (0, Some(product)) if product == total => 0,
        (0, _) => return Err(fail("has not")),
        (1, Some(0)) => return Err(fail("leaves the size at -1 open: another one is 0")),
        (1, Some(product)) if total.is_multiple_of(product) => total / product,
        (1, _) => return Err(fail("does not divide them")),
        _ => return Err(fail("has more than one -1")),
    };
    Ok(shape.iter().map(|&size| if size == -1 { rest } else { size as usize }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::testing::{check_gradients, elements, leaf};

    #[test]
    fn shapes_are_what_the_names_say() {
        type View = fn(&Tensor) -> Result<Tensor>;
        let cases: [(&str, View, &[usize]); 26] = [
            ("reshape", |x| x.reshape(&[0, -1]), &[2, 12]),
            ("reshape", |x| x.reshape(&[24]), &[24]),
            ("reshape", |x| x.reshape_literal(&[4, 1, -1]), &[4, 1, 6]),
            ("flatten", |x| x.flatten(1, -1), &[2, 12]),
            ("flatten", |x| x.flatten(0, 0), &[2, 3, 4]),
            (
                "flatten",
                |x| x.reshape(&[24])?.slice(&[crate::ops::Slice::At(1)])?.squeeze()?.flatten(0, -1),
                &[1],
            ),
            ("squeeze", |x| x.reshape(&[1, 2, 1, 12])?.squeeze(), &[2, 12]),
            ("squeeze", |x| x.reshape(&[1, 2, 1, 12])?.squeeze_dim(-2), &[1, 2, 12]),
            ("squeeze", |x| x.reshape(&[1, 2, 1, 12])?.squeeze_dims(&[0, 2]), &[2, 12]),
            ("unsqueeze", |x| x.unsqueeze(5), &[1, 1, 2, 3, 4]),
            ("unsqueeze", |x| x.unsqueeze_dim(3), &[2, 3, 4, 1]),
            ("unsqueeze", |x| x.unsqueeze_dim(-2), &[2, 3, 1, 4]),
            ("unsqueeze", |x| x.unsqueeze_dims(&[0, -1, -1]), &[1, 2, 3, 4, 1, 1]),
            ("unsqueeze", |x| x.unsqueeze_dims(&[1, 1]), &[2, 1, 1, 3, 4]),
            ("transpose", Tensor::transpose, &[2, 4, 3]),
            ("swap", |x| x.swap_dims(0, -1), &[4, 3, 2]),
            ("permute", |x| x.permute(&[2, 0, -2]), &[4, 2, 3]),
            ("movedim", |x| x.movedim(&[0], &[-1]), &[3, 4, 2]),
            ("movedim", |x| x.movedim(&[0, 1], &[2, 0]), &[3, 4, 2]),
            ("flip", |x| x.flip(&[0, -1]), &[2, 3, 4]),
            ("flip", |x| x.flip(&[]), &[2, 3, 4]),
            ("expand", |x| x.unsqueeze_dim(1)?.expand(&[-1, 5, 3, -1]), &[2, 5, 3, 4]),
            ("expand", |x| x.expand(&[2, -1, -1, -1]), &[2, 2, 3, 4]),
            ("contiguous", |x| Ok(x.transpose()?.contiguous()), &[2, 4, 3]),
            ("reshape of a view", |x| x.transpose()?.reshape(&[-1]), &[24]),
            ("empty", |x| x.slice(&[crate::ops::Slice::range(0, 0)])?.reshape_literal(&[5, 0]), &[5, 0]),
        ];
        for (name, view, shape) in cases {
            let x = leaf(&[2, 3, 4]);
            assert_eq!(view(&x).unwrap().shape(), shape, "{name}");
            check_gradients(&[x], |x| view(&x[0]));
        }
    }

    #[test]
    fn elements_go_where_the_names_say() {
        let x = leaf(&[2, 3]);
        let all = elements(&x);
        let picked = |order: &[usize]| order.iter().map(|&i| all[i]).collect::<Vec<_>>();
        assert_eq!(elements(&x.transpose().unwrap()), picked(&[0, 3, 1, 4, 2, 5]));
        assert_eq!(elements(&x.flip(&[1]).unwrap()), picked(&[2, 1, 0, 5, 4, 3]));
        assert_eq!(elements(&x.flip(&[0, 1]).unwrap()), picked(&[5, 4, 3, 2, 1, 0]));
        assert_eq!(elements(&x.expand(&[2, 2, 3]).unwrap()), [&all[..], &all[..]].concat());
    }

    #[test]
    fn gradients_of_halves_add_up_in_f32() {
        let x = leaf(&[2, 3]).inner().cast(DType::F16).unwrap().autodiff().require_grad().unwrap();
        let both = Tensor::cat(&[&x.expand(&[4, 2, 3]).unwrap(), &x.unsqueeze(3).unwrap()], 0).unwrap();
        let gradients = both.backward().unwrap();
        let found = x.grad(&gradients).unwrap();
        assert_eq!((found.dtype(), elements(&found.clone().into())), (DType::F16, vec![5.0; 6]));
    }

    #[test]
    fn views_share_the_memory() {
        let x = leaf(&[2, 3]);
        let view = x.transpose().unwrap().unsqueeze_dim(0).unwrap().expand(&[4, 3, 2]).unwrap();
        assert_eq!(view.value().bytes().as_ptr(), x.value().bytes().as_ptr());
    }

    #[test]
    fn impossible_shapes_are_errors() {
        let x = leaf(&[2, 3, 4]);
        let cases = [
            (x.reshape(&[5, 5]), "reshape: shape [2, 3, 4] has 24 elements, [5, 5] has not"),
            (x.reshape(&[-1, 5]), "reshape: shape [2, 3, 4] has 24 elements, [-1, 5] does not divide them"),
            (x.reshape(&[-1, -1]), "reshape: shape [2, 3, 4] has 24 elements, [-1, -1] has more than one -1"),
            (
                x.reshape(&[-2, -12]),
                "reshape: shape [2, 3, 4] has 24 elements, [-2, -12] has a negative size",
            ),
            (x.reshape(&[1, 2, 3, 0]), "reshape: size 0 of axis 3 copies from [2, 3, 4], of rank 3"),
            (
                x.reshape_literal(&[0, -1]),
                "reshape: shape [2, 3, 4] has 24 elements, [0, -1] leaves the size at -1 open: another one is 0",
            ),
            (
                x.reshape(&[isize::MAX, isize::MAX]),
                "reshape: shape [2, 3, 4] has 24 elements, [9223372036854775807, 9223372036854775807] has not",
            ),
            (x.flatten(2, 1), "flatten: axis 2 comes after axis 1 in [2, 3, 4]"),
            (x.squeeze_dim(1), "squeeze: axis 1 of [2, 3, 4] has size 3, not 1"),
            (x.unsqueeze(2), "unsqueeze: a tensor of shape [2, 3, 4] has more axes than 2"),
            (x.unsqueeze_dim(4), "unsqueeze: axis 4 is outside of a tensor of rank 4"),
            (x.permute(&[0, 1]), "permute: [0, 1] does not name all axes of a tensor of shape [2, 3, 4]"),
            (x.permute(&[0, 1, 1]), "permute: axis 1 comes twice in [0, 1, 1]"),
            (x.movedim(&[0], &[1, 2]), "movedim: axes [0] cannot go to places [1, 2]"),
            (x.expand(&[2, 3, 5]), "expand: shape [2, 3, 4] does not expand to [2, 3, 5]"),
            (x.expand(&[-1, 2, 3, 4]), "expand: shape [2, 3, 4] does not expand to [-1, 2, 3, 4]"),
            (
                x.expand(&[isize::MAX, 2, 3, 4]),
                "expand: shape [2, 3, 4] does not expand to [9223372036854775807, 2, 3, 4]",
            ),
            (x.swap_dims(0, 3), "swap_dims: axis 3 is outside of a tensor of rank 3"),
        ];
        for (result, message) in cases {
            assert_eq!(result.unwrap_err().to_string(), message);
        }
        assert!(leaf(&[3]).transpose().is_err());
    }
}
