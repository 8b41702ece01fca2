//! One element type to another.

use burnpy_buffer::{DType, Pod};

use super::quantized::dequantize;
use crate::autodiff::record;
use crate::element::{BOOL, Element, Kind};
use crate::error::{Error, Result};
use crate::parallel;
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{dispatch_stored, element};

/// Elements that a task converts.
const CHUNK: usize = 64 << 10;

impl Tensor {
    /// The same numbers as another dtype: floats round to nearest, float to int truncates toward zero and saturates,
    /// int to int wraps, anything to bool is `!= 0`. Gradients come back in the dtype of the input.
    ///
    /// # Errors
    /// `DType` for a quantized target.
    pub fn cast(&self, dtype: DType) -> Result<Self> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        let (value, from) = (cast_value(self.value(), dtype)?, self.dtype());
        if Kind::of(dtype) != Kind::Float {
            return Ok(Self::from_parts(value, None, self.is_autodiff()));
        }
        Ok(record("cast", [self], value, |_| move |gradient: Value| Ok([Some(cast_value(&gradient, from)?)])))
    }
}

/// [`Tensor::cast`] of a value.
pub(crate) fn cast_value(value: &Value, dtype: DType) -> Result<Value> {
    let from = value.dtype();
    if from == dtype {
        return Ok(value.clone());
    }
    if matches!(from, DType::QFloat(_)) {
        return cast_value(&dequantize(value)?, dtype);
    }
    if matches!((from, dtype), (DType::F32, DType::Flex32) | (DType::Flex32, DType::F32)) {
        return Ok(value.relabelled(dtype));
    }
    let value = value.contiguous();
    let unknown =
        |dtype: DType| Error::dtype("cast", format_args!("cannot cast to or from {}", dtype.name()));
    dispatch_stored!(from, T => {
        let x = value.as_slice::<T>().expect("contiguous");
        dispatch_stored!(dtype, R => {
            Value::build_as(dtype, value.shape(), |out: &mut [R]| {
                if dtype == BOOL {
                    convert(x, out, |x: T| R::from_i64(i64::from(x != T::ZERO)));
                } else if element::Kind::of(from) == Kind::Float {
                    convert(x, out, |x: T| R::from_f64(x.to_f64()));
                } else if from == DType::U64 {
                    // Above 2^63, `to_i64` wraps to what would be a negative float.
                    convert(x, out, |x: T| R::from_u64(x.to_i64() as u64));
                } else {
                    convert(x, out, |x: T| R::from_i64(x.to_i64()));
                }
            })
        }, else => Err(unknown(dtype)))
    }, else => Err(unknown(from)))
}

fn convert<T: Pod, R: Pod>(x: &[T], out: &mut [R], f: impl Fn(T) -> R + Copy + Send + Sync) {
    parallel::chunks_mut(out, CHUNK, |i, part| {
        part.iter_mut().zip(&x[i * CHUNK..]).for_each(|(out, &x)| *out = f(x));
    });
}

#[cfg(test)]
mod tests {
    use half::bf16;

    use super::*;

    #[test]
    fn large_integers_keep_their_sign_and_round_once() {
        let cast = |x: &[u64], dtype| cast_value(&Value::from_slice(x, &[x.len()]).unwrap(), dtype).unwrap();
        let large = [u64::MAX, 1 << 63, 5];
        assert_eq!(
            cast(&large, DType::F32).as_slice::<f32>(),
            Some(&[2f32.powi(64), 2f32.powi(63), 5.0][..])
        );
        assert_eq!(cast(&large, DType::I64).as_slice::<i64>(), Some(&[-1, i64::MIN, 5][..]));
        // A double has no place for the last bit, without which this is a tie.
        let above_tie = [(1 << 60) + (1 << 52) + 1];
        let expected = bf16::from_f64(2f64.powi(60) + 2f64.powi(53));
        assert_eq!(cast(&above_tie, DType::BF16).as_slice::<bf16>(), Some(&[expected][..]));
        let signed = Value::from_slice(&[-above_tie.map(|x| x as i64)[0]], &[1]).unwrap();
        assert_eq!(cast_value(&signed, DType::BF16).unwrap().as_slice::<bf16>(), Some(&[-expected][..]));
    }

    #[test]
    fn floats_truncate_and_saturate_and_anything_but_zero_is_true() {
        let x = Value::from_slice(&[-1.9f32, 1.9, 3e9, f32::NAN, -0.0], &[5]).unwrap();
        assert_eq!(cast_value(&x, DType::I32).unwrap().as_slice::<i32>(), Some(&[-1, 1, i32::MAX, 0, 0][..]));
        assert_eq!(cast_value(&x, BOOL).unwrap().as_slice::<u8>(), Some(&[1, 1, 1, 1, 0][..]));
    }
}
