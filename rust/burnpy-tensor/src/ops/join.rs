//! Tensors put together and taken apart.

use super::axis::axis;
use super::broadcast::{Shape, same_dtype, sum_to};
use super::half::plain_all;
use super::slice::part_of_axis;
use super::views::movable;
use crate::autodiff::{Flow, record, record_many};
use crate::dispatch_bits;
use crate::error::{Error, Result};
use crate::kernels::join::{Piece, join_rows};
use crate::kernels::region::Span;
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// Tensors one after the other along an axis; their other sizes are the same.
    ///
    /// # Errors
    /// `Argument` if there are none, `Shape` or `DType` if they do not fit.
    pub fn cat(tensors: &[&Self], dim: isize) -> Result<Self> {
        if let Some(plain) = plain_all(tensors)? {
            return Self::cat(&plain.iter().collect::<Vec<_>>(), dim);
        }
        let first = tensors.first().ok_or_else(|| Error::argument("cat", "no tensors"))?;
        let axis = axis("cat", dim, first.rank())?;
        for (i, tensor) in tensors.iter().enumerate() {
            same_dtype("cat", first.value(), tensor.value())?;
            let same = |(other, (a, b)): (usize, (&usize, &usize))| other == axis || a == b;
            if tensor.rank() != first.rank()
                || !first.shape().iter().zip(tensor.shape()).enumerate().all(same)
            {
                let (a, b) = (first.shape(), tensor.shape());
                let message = format_args!("tensor {i} of shape {b:?} does not join {a:?} along axis {axis}");
                return Err(Error::shape("cat", message));
            }
        }
        let values: Vec<&Value> = tensors.iter().map(|tensor| tensor.value()).collect();
        let sizes: Vec<usize> = values.iter().map(|value| value.shape()[axis]).collect();
        let value = cat_values(&values, axis)?;
        // each input's gradient is its part of dy
        Ok(record_many("cat", tensors, value, || {
            move |gradient: Value, flow: &mut Flow<'_>| {
                let mut start = 0;
                for (i, &count) in sizes.iter().enumerate() {
                    let span = Span { start: if count == 0 { 0 } else { start }, step: 1, count };
                    flow.give(i, part_of_axis(&gradient, axis, span))?;
                    start += count;
                }
                Ok(())
            }
        }))
    }

    /// Tensors of one shape along a new axis.
    ///
    /// # Errors
    /// `Argument` if there are none, `Shape` or `DType` if they do not fit.
    pub fn stack(tensors: &[&Self], dim: isize) -> Result<Self> {
        if let Some(plain) = plain_all(tensors)? {
            return Self::stack(&plain.iter().collect::<Vec<_>>(), dim);
        }
        let first = tensors.first().ok_or_else(|| Error::argument("stack", "no tensors"))?;
        if let Some(other) = tensors.iter().find(|tensor| tensor.shape() != first.shape()) {
            let message = format_args!("shapes {:?} and {:?} differ", first.shape(), other.shape());
            return Err(Error::shape("stack", message));
        }
        let place = axis("stack", dim, first.rank() + 1)? as isize;
        let wide = tensors.iter().map(|tensor| tensor.unsqueeze_dim(place)).collect::<Result<Vec<_>>>()?;
        Self::cat(&wide.iter().collect::<Vec<_>>(), place)
    }

    /// The tensor `times[i]` times along axis i; leading axes are added where there are more numbers than axes.
    ///
    /// # Errors
    /// `Shape` for fewer numbers than axes.
    pub fn repeat(&self, times: &[usize]) -> Result<Self> {
        let Some(added) = times.len().checked_sub(self.rank()) else {
            let message = format_args!("{times:?} has fewer numbers than {:?} axes", self.shape());
            return Err(Error::shape("repeat", message));
        };
        // Each axis n becomes (1, n), is repeated as a view to (t, n), and copied once.
        let sizes = || std::iter::repeat_n(1, added).chain(self.shape().iter().copied());
        let narrow: Shape = sizes().flat_map(|size| [1, size]).collect();
        let wide: Shape = sizes().zip(times).flat_map(|(size, &times)| [times, size]).collect();
        let sized = |(size, &times): (usize, &usize)| size.checked_mul(times);
        let Some(out) = sizes().zip(times).map(sized).collect::<Option<Shape>>() else {
            return Err(Error::shape("repeat", format_args!("{times:?} times {:?} overflows", self.shape())));
        };
        let view = movable("repeat", self)?.reshaped(&narrow).broadcast_to(&wide);
        let view = view.ok_or_else(|| Error::shape("repeat", format_args!("shape {out:?} is too large")))?;
        let value = view.reshaped(&out);
        // dx = Σ dy over the repetitions
        Ok(record("repeat", [self], value, |_| {
            let shape: Shape = self.shape().into();
            move |gradient: Value| Ok([Some(sum_to(gradient.reshaped(&wide), &narrow)?.reshaped(&shape))])
        }))
    }

    /// The tensor `times` times along one axis.
    ///
    /// # Errors
    /// `Shape` if there is no such axis.
    pub fn repeat_dim(&self, dim: isize, times: usize) -> Result<Self> {
        let mut all = vec![1; self.rank()];
        all[axis("repeat_dim", dim, self.rank())?] = times;
        self.repeat(&all)
    }

    /// Pieces of `size` along an axis, the last one smaller if it does not divide. Views.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `Argument` if the size is 0.
    pub fn split(&self, size: usize, dim: isize) -> Result<Vec<Self>> {
        let axis = axis("split", dim, self.rank())?;
        if size == 0 {
            return Err(Error::argument("split", "pieces of size 0"));
        }
        let total = self.shape()[axis];
        let starts = (0..total.max(1)).step_by(size);
        starts.map(|start| self.narrowed("split", axis, start, size.min(total - start))).collect()
    }

    /// Pieces of these sizes along an axis, which add up to its size. Views.
    ///
    /// # Errors
    /// `Shape` if there is no such axis or the sizes do not add up.
    pub fn split_with_sizes(&self, sizes: &[usize], dim: isize) -> Result<Vec<Self>> {
        let (axis, mut start) = (axis("split_with_sizes", dim, self.rank())?, 0);
        let total = sizes.iter().try_fold(0usize, |total, &size| total.checked_add(size));
        if total != Some(self.shape()[axis]) {
            let message = format_args!("{sizes:?} do not add up to {} of axis {axis}", self.shape()[axis]);
            return Err(Error::shape("split_with_sizes", message));
        }
        let pieces = sizes.iter().map(|&size| {
            start += size;
            self.narrowed("split_with_sizes", axis, start - size, size)
        });
        pieces.collect()
    }

    /// At most `count` pieces of equal size along an axis, the last one smaller if it does not divide. Views.
    ///
    /// Unlike Burn: sizes are rounded up, and there are fewer pieces if they suffice (5 in 4 gives 2, 2 and 1).
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `Argument` for 0 pieces.
    pub fn chunk(&self, count: usize, dim: isize) -> Result<Vec<Self>> {
        let axis = axis("chunk", dim, self.rank())?;
        if count == 0 {
            return Err(Error::argument("chunk", "0 pieces"));
        }
        self.split(self.shape()[axis].div_ceil(count).max(1), axis as isize)
    }

    /// The indices of an axis one by one, which keeps size 1. Views.
    ///
    /// # Errors
    /// `Shape` if there is no such axis.
    pub fn iter_dim(&self, dim: isize) -> Result<Vec<Self>> {
        let axis = axis("iter_dim", dim, self.rank())?;
        (0..self.shape()[axis]).map(|i| self.narrowed("iter_dim", axis, i, 1)).collect()
    }

    /// Moved along axes, `shifts[i]` places towards higher indices of axis `dims[i]`; what leaves comes in at the start.
    ///
    /// # Errors
    /// `Shape` if there is no such axis, `Argument` for other numbers of shifts than of axes.
    pub fn roll(&self, shifts: &[isize], dims: &[isize]) -> Result<Self> {
        if shifts.len() != dims.len() {
            return Err(Error::argument("roll", format_args!("shifts {shifts:?} for axes {dims:?}")));
        }
        let axes = dims.iter().map(|&dim| axis("roll", dim, self.rank())).collect::<Result<Vec<_>>>()?;
        let shifts: Vec<isize> = shifts.to_vec();
        let rolled = move |value: Value, sign: i128| {
            let roll = |value: Value, (&shift, &axis): (&isize, &usize)| {
                let shift = (sign * shift as i128).rem_euclid(value.shape()[axis].max(1) as i128);
                roll_value(value, shift as usize, axis)
            };
            shifts.iter().zip(&axes).try_fold(value, roll)
        };
        let value = rolled(movable("roll", self)?.into_owned(), 1)?;
        // dx = dy rolled back
        Ok(record("roll", [self], value, |_| move |gradient: Value| Ok([Some(rolled(gradient, -1)?)])))
    }

    /// [`Tensor::roll`] along one axis.
    ///
    /// # Errors
    /// `Shape` if there is no such axis.
    pub fn roll_dim(&self, shift: isize, dim: isize) -> Result<Self> {
        self.roll(&[shift], &[dim])
    }
}

fn roll_value(value: Value, shift: usize, axis: usize) -> Result<Value> {
    if shift == 0 {
        return Ok(value);
    }
    let size = value.shape()[axis];
    let tail = part_of_axis(&value, axis, Span { start: size - shift, step: 1, count: shift });
    let head = part_of_axis(&value, axis, Span { start: 0, step: 1, count: size - shift });
    cat_values(&[&tail, &head], axis)
}

/// Values of one dtype, one after the other along an axis.
pub(crate) fn cat_values(values: &[&Value], axis: usize) -> Result<Value> {
    let mut shape: Shape = values[0].shape().into();
    let total = values.iter().try_fold(0usize, |total, value| total.checked_add(value.shape()[axis]));
    shape[axis] =
        total.ok_or_else(|| Error::shape("cat", "the sizes add up to more than can be addressed"))?;
    let values: Vec<Value> = values.iter().map(|value| rows_together(value, axis)).collect();
    let dtype = values[0].dtype();
    dispatch_bits!(dtype.size().unwrap_or(1), T => {
        let pieces: Vec<Piece<'_, T>> = values.iter().map(|value| Piece {
            block: value.block::<T>().expect("one dtype"),
            offset: value.layout().offset(),
            rows: rows_of(value, axis),
            len: value.shape()[axis..].iter().product(),
        }).collect();
        Value::build_as(dtype, &shape, |out: &mut [T]| join_rows(&pieces, out))
    })
}

/// Sizes and strides of the axes before one.
fn rows_of(value: &Value, axis: usize) -> Vec<(usize, isize)> {
    let layout = value.layout();
    layout.shape()[..axis].iter().copied().zip(layout.strides()[..axis].iter().copied()).collect()
}

/// The value, copied if the elements from an axis on do not lie together.
fn rows_together(value: &Value, axis: usize) -> Value {
    let layout = value.layout();
    let mut expected = 1;
    let together =
        layout.shape()[axis..].iter().zip(&layout.strides()[axis..]).rev().all(|(&size, &stride)| {
            let fits = size == 1 || stride == expected;
            expected *= size as isize;
            fits
        });
    if together { value.clone() } else { value.contiguous() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::testing::{check_gradients, elements, ints, leaf};

    #[test]
    fn tensors_are_joined_along_any_axis_from_any_strides() {
        let (a, b) = (ints(&[0, 1, 2, 3, 4, 5], &[2, 3]), ints(&[10, 20, 30, 40], &[2, 2]));
        let cat = Tensor::cat(&[&a, &b], -1).unwrap();
        assert_eq!(
            (cat.shape(), elements(&cat)),
            (&[2, 5][..], vec![0., 1., 2., 10., 20., 3., 4., 5., 30., 40.])
        );
        let turned = Tensor::cat(&[&a.transpose().unwrap(), &b.transpose().unwrap()], 0).unwrap();
        assert_eq!(elements(&turned), elements(&cat.transpose().unwrap()));
        let wide = Tensor::cat(&[&a.narrow(1, 1, 2).unwrap(), &b], 1).unwrap();
        assert_eq!(elements(&wide), [1., 2., 10., 20., 4., 5., 30., 40.]);
        let empty = a.narrowed("test", 1, 0, 0).unwrap();
        assert_eq!(elements(&Tensor::cat(&[&empty, &a, &empty], 1).unwrap()), elements(&a));
        assert_eq!(Tensor::cat(&[&empty, &empty], 1).unwrap().shape(), [2, 0]);
        let stack = Tensor::stack(&[&b, &b], 2).unwrap();
        assert_eq!(
            (stack.shape(), elements(&stack)),
            (&[2, 2, 2][..], vec![10., 10., 20., 20., 30., 30., 40., 40.])
        );
    }

    #[test]
    fn gradients_of_joins_are_parts_and_of_parts_joins() {
        for axis in 0..3 {
            let (x, mut shape) = (leaf(&[2, 3, 4]), [2, 3, 4]);
            shape[axis] = 2;
            let dim = axis as isize;
            check_gradients(&[x.clone(), leaf(&shape), leaf(&[2, 3, 4])], |x| {
                Tensor::cat(&[&x[0], &x[1], &x[2]], dim)
            });
            check_gradients(&[x.clone(), leaf(&[2, 3, 4])], |x| Tensor::stack(&[&x[0], &x[1]], dim - 4));
            check_gradients(std::slice::from_ref(&x), |x| {
                let pieces = x[0].split(2, dim)?;
                Tensor::cat(&[&pieces[pieces.len() - 1], &pieces[0]], dim)
            });
            check_gradients(std::slice::from_ref(&x), |x| x[0].roll(&[1, -5], &[dim, 0]));
            check_gradients(std::slice::from_ref(&x), |x| x[0].repeat_dim(dim, 3));
        }
        check_gradients(&[leaf(&[2, 3])], |x| x[0].repeat(&[2, 3, 2]));
    }

    #[test]
    fn pieces_have_the_sizes_that_were_asked_for() {
        let x = ints(&[0, 1, 2, 3, 4], &[5]);
        let sizes = |pieces: Vec<Tensor>| pieces.iter().map(|piece| piece.shape()[0]).collect::<Vec<_>>();
        assert_eq!(sizes(x.split(2, 0).unwrap()), [2, 2, 1]);
        assert_eq!(sizes(x.split(9, 0).unwrap()), [5]);
        assert_eq!(sizes(x.split_with_sizes(&[0, 4, 1], 0).unwrap()), [0, 4, 1]);
        for (count, expected) in [(1, &[5][..]), (2, &[3, 2]), (3, &[2, 2, 1]), (4, &[2, 2, 1]), (9, &[1; 5])]
        {
            assert_eq!(sizes(x.chunk(count, 0).unwrap()), expected);
        }
        let empty = x.narrowed("test", 0, 0, 0).unwrap();
        assert_eq!(sizes(empty.split(2, 0).unwrap()), [0]);
        assert_eq!(sizes(empty.chunk(2, 0).unwrap()), [0]);
        assert_eq!(sizes(x.iter_dim(0).unwrap()), [1; 5]);
    }

    #[test]
    fn a_positive_shift_moves_to_higher_indices() {
        let x = ints(&[0, 1, 2, 3], &[4]);
        for (shift, expected) in [
            (1, [3., 0., 1., 2.]),
            (-1, [1., 2., 3., 0.]),
            (8, [0., 1., 2., 3.]),
            (isize::MIN, [0., 1., 2., 3.]),
        ] {
            assert_eq!(elements(&x.roll_dim(shift, 0).unwrap()), expected);
        }
        assert_eq!(ints(&[], &[0]).roll_dim(3, 0).unwrap().shape(), [0]);
    }

    #[test]
    fn repeats_follow_each_other() {
        let x = ints(&[1, 2, 3, 4], &[2, 2]);
        assert_eq!(elements(&x.repeat(&[1, 2]).unwrap()), [1., 2., 1., 2., 3., 4., 3., 4.]);
        assert_eq!(elements(&x.repeat(&[2, 1]).unwrap()), [1., 2., 3., 4., 1., 2., 3., 4.]);
        assert_eq!(x.repeat(&[3, 0, 2]).unwrap().shape(), [3, 0, 4]);
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let (x, y) = (leaf(&[2, 3]), leaf(&[3, 2]));
        let cases = [
            (Tensor::cat(&[], 0), "cat: no tensors"),
            (Tensor::cat(&[&x, &y], 0), "cat: tensor 1 of shape [3, 2] does not join [2, 3] along axis 0"),
            (
                Tensor::cat(&[&x, &ints(&[0; 6], &[2, 3])], 0),
                "cat: dtypes f64 and i32 differ; cast one of them",
            ),
            (Tensor::stack(&[&x, &y], 0), "stack: shapes [2, 3] and [3, 2] differ"),
            (x.repeat(&[2]), "repeat: [2] has fewer numbers than [2, 3] axes"),
            (x.repeat(&[usize::MAX, 2]), "repeat: [18446744073709551615, 2] times [2, 3] overflows"),
            (x.repeat(&[1 << 61, 1]), "repeat: shape [4611686018427387904, 3] is too large"),
            (x.split(0, 0).map(|mut all| all.remove(0)), "split: pieces of size 0"),
            (
                x.split_with_sizes(&[1], 0).map(|mut all| all.remove(0)),
                "split_with_sizes: [1] do not add up to 2 of axis 0",
            ),
            (x.roll(&[1], &[0, 1]), "roll: shifts [1] for axes [0, 1]"),
        ];
        for (result, message) in cases {
            assert_eq!(result.unwrap_err().to_string(), message);
        }
    }
}
