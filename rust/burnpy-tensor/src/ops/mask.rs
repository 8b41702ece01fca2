//! Elements replaced where a mask is true.

use burnpy_buffer::DType;

use super::broadcast::{broadcast_shape, same_dtype, sum_to};
use super::half::dequantized;
use super::scalar::Scalar;
use crate::autodiff::record;
use crate::element::BOOL;
use crate::error::{Error, Result};
use crate::kernels::select::{choose, fill_where};
use crate::kernels::strided::copy_strided;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{dispatch_bits, dispatch_stored};

impl Tensor {
    /// `value` where the mask is true, `self` elsewhere; all three are broadcast.
    ///
    /// # Errors
    /// `Shape` if the shapes do not broadcast, `DType` if the mask is not of booleans or the dtypes differ.
    pub fn mask_where(&self, mask: &Self, value: &Self) -> Result<Self> {
        dequantized([self, value], |[x, value]| x.where_masked(mask, value))
    }

    fn where_masked(&self, mask: &Self, value: &Self) -> Result<Self> {
        let flags = mask_of("mask_where", mask)?;
        let chosen = choose_values("mask_where", flags, value.value(), self.value())?;
        let mask = spread("mask_where", flags, chosen.shape())?;
        // d self = dy where the mask is false, d value = dy where it is true; 0 elsewhere
        Ok(record("mask_where", [self, value], chosen, |needs| {
            let shapes = [self, value].map(|input| input.shape().to_vec());
            move |gradient: Value| {
                let share = |gradient: Value, i: usize| {
                    sum_to(fill_value("backward", gradient, &mask, i == 0, Scalar::Int(0))?, &shapes[i])
                };
                let dx = needs[0].then(|| share(gradient.clone(), 0)).transpose()?;
                let dy = needs[1].then(|| share(gradient, 1)).transpose()?;
                Ok([dx, dy])
            }
        }))
    }

    /// A number where the mask is true, `self` elsewhere; both are broadcast.
    ///
    /// # Errors
    /// `Shape` if the shapes do not broadcast, `DType` if the mask is not of booleans, or the number does not go with
    /// the dtype.
    pub fn mask_fill(&self, mask: &Self, number: Scalar) -> Result<Self> {
        dequantized([self], |[x]| x.filled(mask, number))
    }

    fn filled(&self, mask: &Self, number: Scalar) -> Result<Self> {
        let flags = mask_of("mask_fill", mask)?;
        let shape = broadcast_shape("mask_fill", self.shape(), flags.shape())?;
        let mask = spread("mask_fill", flags, &shape)?;
        let x = self.value().broadcast_to(&shape).expect("the joint shape");
        let filled = fill_value("mask_fill", x, &mask, true, number)?;
        // dx = dy where the mask is false, 0 elsewhere
        Ok(record("mask_fill", [self], filled, |_| {
            let shape = self.shape().to_vec();
            move |gradient: Value| {
                let gradient = fill_value("backward", gradient, &mask, true, Scalar::Int(0))?;
                Ok([Some(sum_to(gradient, &shape)?)])
            }
        }))
    }
}

fn mask_of<'a>(operation: &'static str, mask: &'a Tensor) -> Result<&'a Value> {
    if mask.dtype() == BOOL {
        return Ok(mask.value());
    }
    Err(Error::dtype(operation, format_args!("a mask is of booleans, got {}", mask.dtype().name())))
}

/// A value of the shape, in order.
fn spread(operation: &'static str, value: &Value, shape: &[usize]) -> Result<Value> {
    let view = value.broadcast_to(shape).ok_or_else(|| {
        let found = value.shape();
        Error::shape(operation, format_args!("shape {found:?} does not broadcast to {shape:?}"))
    })?;
    Ok(view.contiguous())
}

fn choose_values(operation: &'static str, mask: &Value, yes: &Value, no: &Value) -> Result<Value> {
    let dtype = same_dtype(operation, no, yes)?;
    let size = plain_size(operation, dtype)?;
    let shape = broadcast_shape(operation, no.shape(), yes.shape())?;
    let shape = broadcast_shape(operation, &shape, mask.shape())?;
    let (mask, yes, no) =
        (spread(operation, mask, &shape)?, spread(operation, yes, &shape)?, spread(operation, no, &shape)?);
    let mask = mask.as_slice::<u8>().expect("contiguous");
    dispatch_bits!(size, T => {
        let (yes, no) = (yes.as_slice::<T>().expect("contiguous"), no.as_slice::<T>().expect("contiguous"));
        Value::build_as(dtype, &shape, |out: &mut [T]| choose(mask, yes, no, out))
    })
}

fn plain_size(operation: &'static str, dtype: DType) -> Result<usize> {
    let name = dtype.name();
    dtype.size().ok_or_else(|| Error::dtype(operation, format_args!("not for {name} tensors; cast first")))
}

/// The value with a number where the mask, of its shape and in order, is `when`; in its memory if nobody else holds it.
fn fill_value(
    operation: &'static str,
    mut value: Value,
    mask: &Value,
    when: bool,
    number: Scalar,
) -> Result<Value> {
    let dtype = value.dtype();
    plain_size(operation, dtype)?;
    let number = if dtype == BOOL { Scalar::Int(number.to_bool(operation)?.into()) } else { number };
    let mask = mask.as_slice::<u8>().expect("in order");
    dispatch_stored!(dtype, T => {
        let number = number.to::<T>(operation)?;
        if let Some(elements) = value.try_mut::<T>() {
            fill_where(mask, when, number, elements);
            return Ok(value);
        }
        Value::build_as(dtype, value.shape(), |out: &mut [T]| {
            copy_strided(value.block::<T>().expect("of this dtype"), value.layout(), out);
            fill_where(mask, when, number, out);
        })
    }, else => Err(Error::dtype(operation, format_args!("not for {} tensors", dtype.name()))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::gradient_check::{check_gradients, column_major, float, floats};

    fn mask(data: &[u8], shape: &[usize]) -> Tensor {
        Value::build_bool(shape, |out| out.copy_from_slice(data)).unwrap().into()
    }

    #[test]
    fn a_mask_chooses_and_is_broadcast() {
        let (a, b) = (float(&[1.0, 2.0, 3.0, 4.0], &[2, 2]), float(&[9.0], &[1]));
        let row = mask(&[0, 1], &[2]);
        let expected = [1.0, 9.0, 3.0, 9.0];
        for a in [a.clone(), column_major(&a), a.cast(DType::F16).unwrap()] {
            let b = b.cast(a.dtype()).unwrap();
            assert_eq!(floats(&a.mask_where(&row, &b).unwrap()), expected);
            assert_eq!(floats(&a.mask_fill(&row, Scalar::Int(9)).unwrap()), expected);
        }
        let column = mask(&[1, 0], &[2, 1]);
        let grown = float(&[5.0, 6.0], &[2]).mask_fill(&column, Scalar::Float(0.5)).unwrap();
        assert_eq!((grown.shape(), floats(&grown)), (&[2, 2][..], vec![0.5, 0.5, 5.0, 6.0]));
        let ints: Tensor = Value::from_slice(&[1i32, 2], &[2]).unwrap().into();
        assert!(
            ints.mask_fill(&row, Scalar::Float(0.5)).is_err() && ints.mask_fill(&ints, 1i64.into()).is_err()
        );
        assert_eq!(float(&[], &[0]).mask_fill(&mask(&[], &[0]), 1i64.into()).unwrap().shape(), [0]);
    }

    #[test]
    fn gradients_go_where_the_elements_came_from() {
        let (a, b) = (float(&[1.0, 2.0, 3.0, 4.0], &[2, 2]), float(&[9.0, 8.0], &[2]));
        let row = mask(&[0, 1], &[2]);
        check_gradients("mask_where", &|x| x[0].mask_where(&row, &x[1]), &[a.clone(), b]);
        check_gradients("mask_fill", &|x| x[0].mask_fill(&row, Scalar::Float(7.0)), &[column_major(&a)]);
    }
}
