//! Tensors from nothing: constants, ranges, masks of triangles, classes as rows.

use burnpy_buffer::DType;

use super::axis::{INT, axis};
use super::cast::cast_value;
use super::scalar::Scalar;
use crate::dispatch_stored;
use crate::element::{BOOL, Element, Kind};
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::value::Value;

impl Tensor {
    /// All elements 0, or false.
    ///
    /// # Errors
    /// `Shape` if there are more elements than memory can hold, `DType` for a quantized dtype.
    pub fn zeros(shape: &[usize], dtype: DType) -> Result<Self> {
        filled("zeros", shape, Scalar::Int(0), dtype)
    }

    /// All elements 1, or true.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub fn ones(shape: &[usize], dtype: DType) -> Result<Self> {
        filled("ones", shape, Scalar::Int(1), dtype)
    }

    /// All elements a number.
    ///
    /// # Errors
    /// As [`Tensor::zeros`], and `DType` if the number does not go with the dtype.
    pub fn full(shape: &[usize], number: Scalar, dtype: DType) -> Result<Self> {
        filled("full", shape, number, dtype)
    }

    /// Elements that will be overwritten. They are 0, so that no run differs from another.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub fn empty(shape: &[usize], dtype: DType) -> Result<Self> {
        filled("empty", shape, Scalar::Int(0), dtype)
    }

    /// [`Tensor::zeros`] with the shape, dtype and device of this tensor.
    ///
    /// # Errors
    /// `DType` if it is quantized.
    pub fn zeros_like(&self) -> Result<Self> {
        self.like(Self::zeros(self.shape(), self.dtype()))
    }

    /// [`Tensor::ones`] with the shape, dtype and device of this tensor.
    ///
    /// # Errors
    /// As [`Tensor::zeros_like`].
    pub fn ones_like(&self) -> Result<Self> {
        self.like(Self::ones(self.shape(), self.dtype()))
    }

    /// [`Tensor::full`] with the shape, dtype and device of this tensor.
    ///
    /// # Errors
    /// As [`Tensor::zeros_like`], and `DType` if the number does not go with the dtype.
    pub fn full_like(&self, number: Scalar) -> Result<Self> {
        self.like(Self::full(self.shape(), number, self.dtype()))
    }

    /// [`Tensor::empty`] with the shape, dtype and device of this tensor.
    ///
    /// # Errors
    /// As [`Tensor::zeros_like`].
    pub fn empty_like(&self) -> Result<Self> {
        self.like(Self::empty(self.shape(), self.dtype()))
    }

    fn like(&self, made: Result<Self>) -> Result<Self> {
        Ok(Self::from_parts(made?.into_value(), None, self.is_autodiff()))
    }

    /// Integers from `start` on, in steps, below `end`.
    ///
    /// # Errors
    /// `Argument` if the step is not positive, `DType` if the dtype is not of integers or has no place for them.
    pub fn arange(start: i64, end: i64, step: i64, dtype: DType) -> Result<Self> {
        if step <= 0 {
            return Err(Error::argument("arange", format_args!("the step must be positive, got {step}")));
        }
        if Kind::of(dtype) != Kind::Int {
            return Err(Error::dtype("arange", format_args!("a range is of integers, not {}", dtype.name())));
        }
        let span = if end > start { end.abs_diff(start) } else { 0 };
        let count = usize::try_from(span.div_ceil(step.unsigned_abs())).unwrap_or(usize::MAX);
        if count > 0 {
            let last = start.wrapping_add(((count - 1) as i64).wrapping_mul(step));
            check_fits("arange", dtype, [start, last])?;
        }
        let wide = Value::build(&[count], |out: &mut [i64]| {
            out.iter_mut()
                .enumerate()
                .for_each(|(i, x)| *x = start.wrapping_add((i as i64).wrapping_mul(step)));
        })?;
        Ok(cast_value(&wide, dtype)?.into())
    }

    /// The identity matrix.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub fn eye(size: usize, dtype: DType) -> Result<Self> {
        let value = dispatch_stored!(dtype, T => Value::build_as(dtype, &[size, size], |out: &mut [T]| {
            out.fill(T::ZERO);
            out.iter_mut().step_by(size + 1).for_each(|x| *x = T::ONE);
        }), else => Err(not_quantized("eye", dtype)))?;
        Ok(value.into())
    }

    /// Classes as rows of a new last axis: 1 at the class, else 0, in the dtype of this tensor.
    ///
    /// # Errors
    /// `Argument` for fewer than two classes, `Index` for a class that is not in `0..num_classes`, `DType` for booleans.
    pub fn one_hot(&self, num_classes: usize) -> Result<Self> {
        let classes = self.classes("one_hot", num_classes)?;
        if let Some(class) = classes.iter().find(|&&class| class < 0 || class as u64 >= num_classes as u64) {
            return Err(Error::index("one_hot", format_args!("class {class} is not one of {num_classes}")));
        }
        self.class_rows("one_hot", &classes, num_classes, (Scalar::Int(1), Scalar::Int(0)), self.rank())
    }

    /// Classes as rows of a new axis: `on` at the class, else `off`, in the dtype of this tensor. Negative classes count
    /// from the end; a class that does not exist gives a row of `off`.
    ///
    /// # Errors
    /// `Argument` for fewer than two classes, `Shape` if the axis is outside of the result, `DType` for booleans or
    /// numbers that do not go with the dtype.
    pub fn one_hot_fill(&self, num_classes: usize, on: Scalar, off: Scalar, dim: isize) -> Result<Self> {
        let axis = axis("one_hot_fill", dim, self.rank() + 1)?;
        let mut classes = self.classes("one_hot_fill", num_classes)?;
        for class in classes.iter_mut().filter(|class| **class < 0) {
            *class = class.saturating_add_unsigned(num_classes as u64);
        }
        self.class_rows("one_hot_fill", &classes, num_classes, (on, off), axis)
    }

    fn classes(&self, operation: &'static str, num_classes: usize) -> Result<Vec<i64>> {
        if num_classes < 2 {
            return Err(Error::argument(
                operation,
                format_args!("there must be two classes at least, got {num_classes}"),
            ));
        }
        if self.kind() == Kind::Bool || matches!(self.dtype(), DType::QFloat(_)) {
            return Err(Error::dtype(
                operation,
                format_args!("classes are numbers, not {}", self.dtype().name()),
            ));
        }
        let wide = cast_value(self.value(), DType::I64)?.contiguous();
        Ok(wide.as_slice::<i64>().expect("contiguous").to_vec())
    }

    fn class_rows(
        &self,
        operation: &'static str,
        classes: &[i64],
        num_classes: usize,
        (on, off): (Scalar, Scalar),
        axis: usize,
    ) -> Result<Self> {
        let (dtype, mut shape) = (self.dtype(), self.shape().to_vec());
        let inner: usize = shape[axis..].iter().product();
        shape.insert(axis, num_classes);
        let value = dispatch_stored!(dtype, T => {
            let (on, off) = (on.to::<T>(operation)?, off.to::<T>(operation)?);
            Value::build_as(dtype, &shape, |out: &mut [T]| {
                out.fill(off);
                for (i, &class) in classes.iter().enumerate() {
                    let class = usize::try_from(class).unwrap_or(usize::MAX);
                    if class < num_classes {
                        out[(i / inner * num_classes + class) * inner + i % inner] = on;
                    }
                }
            })
        }, else => Err(not_quantized(operation, dtype)))?;
        Ok(Self::from_parts(value, None, self.is_autodiff()))
    }

    /// Of the matrices in the last two axes, true above diagonal number `offset`: what `tril` sets to 0.
    ///
    /// # Errors
    /// `Shape` if there are fewer than two axes, or more elements than memory can hold.
    pub fn tril_mask(shape: &[usize], offset: i64) -> Result<Self> {
        matrix_mask("tril_mask", shape, |from_diagonal| from_diagonal > offset)
    }

    /// Of the matrices in the last two axes, true below diagonal number `offset`: what `triu` sets to 0.
    ///
    /// # Errors
    /// As [`Tensor::tril_mask`].
    pub fn triu_mask(shape: &[usize], offset: i64) -> Result<Self> {
        matrix_mask("triu_mask", shape, |from_diagonal| from_diagonal < offset)
    }

    /// Of the matrices in the last two axes, true everywhere but on diagonal number `offset`.
    ///
    /// # Errors
    /// As [`Tensor::tril_mask`].
    pub fn diag_mask(shape: &[usize], offset: i64) -> Result<Self> {
        matrix_mask("diag_mask", shape, |from_diagonal| from_diagonal != offset)
    }

    /// The indices of all elements of a shape: the result has one axis more, of the size of its rank.
    ///
    /// # Errors
    /// `Shape` if there are more elements than memory can hold.
    pub fn cartesian_grid(shape: &[usize]) -> Result<Self> {
        let mut grid = shape.to_vec();
        grid.push(shape.len());
        let value = Value::build_as(INT, &grid, |out: &mut [i32]| {
            let mut index = vec![0; shape.len()];
            for out in out.chunks_exact_mut(shape.len().max(1)) {
                out.copy_from_slice(&index);
                for (i, &size) in index.iter_mut().zip(shape).rev() {
                    *i += 1;
                    if (*i as usize) < size {
                        break;
                    }
                    *i = 0;
                }
            }
        })?;
        Ok(value.into())
    }
}

fn filled(operation: &'static str, shape: &[usize], number: Scalar, dtype: DType) -> Result<Tensor> {
    let number = if dtype == BOOL { Scalar::Int(number.to_bool(operation)?.into()) } else { number };
    let value = dispatch_stored!(dtype, T => {
        let number = number.to::<T>(operation)?;
        Value::build_as(dtype, shape, |out: &mut [T]| out.fill(number))
    }, else => Err(not_quantized(operation, dtype)))?;
    Ok(value.into())
}

fn check_fits(operation: &'static str, dtype: DType, numbers: [i64; 2]) -> Result<()> {
    for number in numbers {
        dispatch_stored!(dtype, T => { Scalar::Int(number).to::<T>(operation)?; }, else => {});
    }
    Ok(())
}

#[cold]
fn not_quantized(operation: &'static str, dtype: DType) -> Error {
    Error::dtype(operation, format_args!("not for {} tensors", dtype.name()))
}

/// True where the number of the diagonal, column - row, says so.
fn matrix_mask(operation: &'static str, shape: &[usize], outside: impl Fn(i64) -> bool) -> Result<Tensor> {
    let &[.., rows, columns] = shape else {
        return Err(Error::shape(
            operation,
            format_args!("a matrix has two axes, shape {shape:?} has fewer"),
        ));
    };
    let value = Value::build_bool(shape, |out| {
        for matrix in out.chunks_mut((rows * columns).max(1)) {
            for (i, row) in matrix.chunks_mut(columns.max(1)).enumerate() {
                row.iter_mut().enumerate().for_each(|(j, x)| *x = outside(j as i64 - i as i64).into());
            }
        }
    })?;
    Ok(value.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::gradient_check::{float, floats};

    fn ints(data: &[i32], shape: &[usize]) -> Tensor {
        Value::from_slice(data, shape).unwrap().into()
    }

    #[test]
    fn constants_are_checked_against_the_dtype() {
        assert_eq!(floats(&Tensor::full(&[2], 1.5.into(), DType::F16).unwrap()), [1.5, 1.5]);
        assert_eq!(Tensor::ones(&[2], BOOL).unwrap().value().as_slice::<u8>(), Some(&[1, 1][..]));
        let large = Tensor::full(&[], Scalar::UInt(u64::MAX), DType::U64).unwrap();
        assert_eq!(large.value().as_slice::<u64>(), Some(&[u64::MAX][..]));
        assert!(Tensor::full(&[2], 1.5.into(), DType::I32).is_err());
        assert!(Tensor::zeros(&[usize::MAX, 2], DType::F32).is_err());
        let x = ints(&[1, 2], &[2]).autodiff();
        let like = x.full_like(7.into()).unwrap();
        assert_eq!((like.value().as_slice::<i32>(), like.is_autodiff()), (Some(&[7, 7][..]), true));
        assert_eq!(Tensor::zeros(&[3, 0], DType::F32).unwrap().zeros_like().unwrap().shape(), [3, 0]);
    }

    #[test]
    fn ranges_end_before_the_end() {
        let range = |start, end, step| Tensor::arange(start, end, step, DType::I32).map(|x| floats(&x));
        assert_eq!(range(2, 13, 3).unwrap(), [2.0, 5.0, 8.0, 11.0]);
        assert_eq!(range(-1, 1, 1).unwrap(), [-1.0, 0.0]);
        assert!(range(5, 5, 1).unwrap().is_empty() && range(5, 2, 1).unwrap().is_empty());
        assert!(
            range(0, 5, 0).is_err() && range(0, 5, -1).is_err() && range(0, i64::MAX, i64::MAX / 2).is_err()
        );
        assert!(
            Tensor::arange(0, 3, 1, DType::F32).is_err() && Tensor::arange(0, 200, 1, DType::I8).is_err()
        );
        assert!(Tensor::arange(i64::MIN, i64::MAX, 1, DType::I64).is_err());
    }

    #[test]
    fn classes_become_rows() {
        let x = ints(&[0, 2, 1, -1], &[2, 2]);
        let rows = floats(&x.one_hot_fill(3, 5.into(), 0.into(), -1).unwrap());
        assert_eq!(rows, [5.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 5.0, 0.0, 0.0, 0.0, 5.0]);
        let columns = x.one_hot_fill(3, 1.into(), 0.into(), 0).unwrap();
        assert_eq!(columns.shape(), [3, 2, 2]);
        assert_eq!(floats(&columns)[..4], [1.0, 0.0, 0.0, 0.0]);
        assert!(x.one_hot(3).is_err());
        let hot = float(&[1.0, 0.0], &[2]).one_hot(2).unwrap();
        assert_eq!((hot.dtype(), floats(&hot)), (DType::F64, vec![0.0, 1.0, 1.0, 0.0]));
        assert_eq!(floats(&ints(&[7, -9], &[2]).one_hot_fill(2, 1.into(), 4.into(), 1).unwrap()), [4.0; 4]);
        assert!(x.one_hot_fill(1, 1.into(), 0.into(), 0).is_err());
        assert!(
            x.one_hot_fill(3, 0.5.into(), 0.into(), 0).is_err()
                && x.one_hot_fill(3, 1.into(), 0.into(), 3).is_err()
        );
        assert_eq!(ints(&[], &[0]).one_hot(2).unwrap().shape(), [0, 2]);
    }

    #[test]
    fn masks_are_true_outside_of_what_is_kept() {
        let mask = |x: Result<Tensor>| x.unwrap().value().as_slice::<u8>().unwrap().to_vec();
        assert_eq!(mask(Tensor::tril_mask(&[2, 3], 0)), [0, 1, 1, 0, 0, 1]);
        assert_eq!(mask(Tensor::triu_mask(&[2, 3], 1)), [1, 0, 0, 1, 1, 0]);
        assert_eq!(mask(Tensor::diag_mask(&[2, 2, 2], -1)), [1, 1, 0, 1, 1, 1, 0, 1]);
        assert!(Tensor::tril_mask(&[3], 0).is_err());
        assert_eq!(Tensor::tril_mask(&[3, 0], 0).unwrap().shape(), [3, 0]);
        assert_eq!(floats(&Tensor::eye(2, DType::F32).unwrap()), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(
            floats(&Tensor::cartesian_grid(&[2, 2]).unwrap()),
            [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
        );
        assert_eq!(Tensor::cartesian_grid(&[0, 2]).unwrap().shape(), [0, 2, 2]);
    }
}
