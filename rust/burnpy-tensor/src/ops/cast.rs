//! One element type to another.

use burnpy_buffer::{DType, Pod};
use half::{bf16, f16};

use super::quantized::dequantize;
use crate::autodiff::record;
use crate::dispatch_stored;
use crate::element::{BOOL, Element, Kind};
use crate::error::{Error, Result};
use crate::parallel;
use crate::tensor::Tensor;
use crate::value::Value;

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
    if let Some(cast) = common(&value, dtype) {
        return cast;
    }
    let unknown = Error::dtype("cast", format_args!("cannot cast to or from {}", dtype.name()));
    let wide = dispatch_stored!(from, T => loader::<T>(&value, from), else => return Err(unknown));
    dispatch_stored!(dtype, R => {
        Value::build_as(dtype, value.shape(), |out: &mut [R]| match &wide {
            Wide::Float(load) if dtype == BOOL => through(out, load, |x| R::from_i64(i64::from(x != 0.0))),
            Wide::Float(load) => through(out, load, <R as Element>::from_f64),
            Wide::Int(load) if dtype == BOOL => through(out, load, |x| R::from_i64(i64::from(x != 0))),
            // Above 2^63 an `i64` is what would be a negative float.
            Wide::Int(load) if from == DType::U64 => through(out, load, |x| R::from_u64(x as u64)),
            Wide::Int(load) => through(out, load, R::from_i64),
        })
    }, else => Err(unknown))
}

/// The casts that training and data are full of, each in one loop. Any pair of its own would be two hundred loops.
fn common(value: &Value, dtype: DType) -> Option<Result<Value>> {
    macro_rules! pairs {
        ($($from:ident $T:ty => $to:ident $R:ty: $f:expr;)*) => {
            match (value.dtype(), dtype) {
                $((DType::$from, DType::$to) => {
                    let x = value.as_slice::<$T>().expect("contiguous");
                    Some(Value::build_as(dtype, value.shape(), |out: &mut [$R]| convert(x, out, $f)))
                })*
                _ => None,
            }
        };
    }
    pairs! {
        F16 f16 => F32 f32: f16::to_f32;
        F32 f32 => F16 f16: f16::from_f32;
        BF16 bf16 => F32 f32: bf16::to_f32;
        F32 f32 => BF16 bf16: bf16::from_f32;
        F64 f64 => F32 f32: |x| x as f32;
        F32 f32 => F64 f64: f64::from;
        U8 u8 => F32 f32: f32::from;
        I32 i32 => F32 f32: |x| x as f32;
        I64 i64 => F32 f32: |x| x as f32;
        I64 i64 => I32 i32: |x| x as i32;
        I32 i32 => I64 i64: i64::from;
        U8 u8 => I32 i32: i32::from;
    }
}

/// Writes elements from an index on as doubles or integers of 64 bits.
enum Wide<'a> {
    Float(Load<'a, f64>),
    Int(Load<'a, i64>),
}

type Load<'a, W> = Box<dyn Fn(usize, &mut [W]) + Sync + 'a>;

fn loader<T: Element>(value: &Value, from: DType) -> Wide<'_> {
    let x = value.as_slice::<T>().expect("contiguous");
    if Kind::of(from) == Kind::Float {
        return Wide::Float(Box::new(|at, out| {
            out.iter_mut().zip(&x[at..]).for_each(|(out, x)| *out = x.to_f64());
        }));
    }
    Wide::Int(Box::new(|at, out| out.iter_mut().zip(&x[at..]).for_each(|(out, x)| *out = x.to_i64())))
}

/// Elements that are converted at once, on their way through the first cache.
const BLOCK: usize = 512;

fn through<W: Copy + Default, R: Pod>(
    out: &mut [R],
    load: &(dyn Fn(usize, &mut [W]) + Sync),
    f: impl Fn(W) -> R + Copy + Send + Sync,
) {
    parallel::chunks_mut(out, CHUNK, |i, part| {
        let mut buffer = [W::default(); BLOCK];
        for (k, block) in part.chunks_mut(BLOCK).enumerate() {
            let wide = &mut buffer[..block.len()];
            load(i * CHUNK + k * BLOCK, wide);
            block.iter_mut().zip(wide.iter()).for_each(|(out, &x)| *out = f(x));
        }
    });
}

fn convert<T: Pod, R: Pod>(x: &[T], out: &mut [R], f: impl Fn(T) -> R + Copy + Send + Sync) {
    parallel::chunks_mut(out, CHUNK, |i, part| {
        part.iter_mut().zip(&x[i * CHUNK..]).for_each(|(out, &x)| *out = f(x));
    });
}

#[cfg(test)]
mod tests {
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
        let expected = <bf16 as Element>::from_f64(2f64.powi(60) + 2f64.powi(53));
        assert_eq!(cast(&above_tie, DType::BF16).as_slice::<bf16>(), Some(&[expected][..]));
        let signed = Value::from_slice(&[-above_tie.map(|x| x as i64)[0]], &[1]).unwrap();
        assert_eq!(cast_value(&signed, DType::BF16).unwrap().as_slice::<bf16>(), Some(&[-expected][..]));
    }

    #[test]
    fn doubles_beside_a_tie_round_once() {
        // Single precision takes both for the tie that they stand below.
        let (x, y) = (-(1559.5 - 2f64.powi(-30)) * 2f64.powi(-13), (129.5 - 2f64.powi(-40)) * 2f64.powi(-7));
        let doubles = Value::from_slice(&[x, y], &[2]).unwrap();
        let halves = cast_value(&doubles, DType::F16).unwrap();
        assert_eq!(halves.as_slice::<f16>().unwrap()[0].to_f64(), -1559.0 * 2f64.powi(-13));
        assert_eq!(
            Value::full(&[1], x, DType::F16).unwrap().as_slice(),
            Some(&halves.as_slice::<f16>().unwrap()[..1])
        );
        let brains = cast_value(&doubles, DType::BF16).unwrap();
        assert_eq!(brains.as_slice::<bf16>().unwrap()[1].to_f64(), 129.0 * 2f64.powi(-7));
        assert_eq!(
            Value::full(&[1], y, DType::BF16).unwrap().as_slice(),
            Some(&brains.as_slice::<bf16>().unwrap()[1..])
        );
    }

    #[test]
    fn floats_truncate_and_saturate_and_anything_but_zero_is_true() {
        let x = Value::from_slice(&[-1.9f32, 1.9, 3e9, f32::NAN, -0.0], &[5]).unwrap();
        assert_eq!(cast_value(&x, DType::I32).unwrap().as_slice::<i32>(), Some(&[-1, 1, i32::MAX, 0, 0][..]));
        assert_eq!(cast_value(&x, BOOL).unwrap().as_slice::<u8>(), Some(&[1, 1, 1, 1, 0][..]));
    }
}
