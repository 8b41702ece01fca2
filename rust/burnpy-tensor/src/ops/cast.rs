//! One element type to another.

use std::hint::select_unpredictable;

use burnpy_buffer::{DType, Pod};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::quantized::dequantize;
use crate::autodiff::record;
use crate::dispatch_stored;
use crate::element::{BOOL, Element, Kind};
use crate::error::{Error, Result};
use crate::kernels::simd::Plain;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};
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
    // Booleans are bytes of 0 and 1.
    let from = if value.dtype() == BOOL { DType::U8 } else { value.dtype() };
    macro_rules! pairs {
        ($($from:ident $T:ty => $to:ident $R:ty: $f:expr;)*) => {
            match (from, dtype) {
                $((DType::$from, DType::$to) => {
                    let x = value.as_slice::<$T>().expect("contiguous");
                    Some(Value::build_as(dtype, value.shape(), |out: &mut [$R]| convert(x, out, $f)))
                })*
                _ => None,
            }
        };
    }
    pairs! {
        F16 f16 => F32 f32: HalfFloatSliceExt::convert_to_f32_slice;
        F32 f32 => F16 f16: |x, out| out.convert_from_f32_slice(x);
        BF16 bf16 => F32 f32: |x, out| dispatch(Each { x, out, f: bf16::to_f32 });
        F32 f32 => BF16 bf16: |x, out| dispatch(Each { x, out, f: to_bf16 });
        F64 f64 => F32 f32: each(|x| x as f32);
        F32 f32 => F64 f64: each(f64::from);
        U8 u8 => F32 f32: each(f32::from);
        I32 i32 => F32 f32: each(|x| x as f32);
        I64 i64 => F32 f32: each(|x| x as f32);
        F32 f32 => I32 i32: each(|x| x as i32);
        I64 i64 => I32 i32: each(|x| x as i32);
        I32 i32 => I64 i64: each(i64::from);
        U8 u8 => I32 i32: each(i32::from);
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

fn each<T: Plain, R: Plain>(
    f: impl Fn(T) -> R + Copy + Send + Sync,
) -> impl Fn(&[T], &mut [R]) + Copy + Send + Sync {
    move |x, out| out.iter_mut().zip(x).for_each(|(out, &x)| *out = f(x))
}

/// [`each`] with the instructions at hand.
struct Each<'a, T, R, F> {
    x: &'a [T],
    out: &'a mut [R],
    f: F,
}

impl<T: Plain, R: Plain, F: Fn(T) -> R> Kernel for Each<'_, T, R, F> {
    type Output = ();
    const COPIES: Copies = Copies::Two;

    #[inline(always)]
    fn run<A: Arch>(self) {
        for (out, &x) in self.out.iter_mut().zip(self.x) {
            *out = (self.f)(x);
        }
    }
}

/// [`bf16::from_f32`] without branches: to nearest, ties to even; NaN stays one.
#[inline(always)]
fn to_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
    bf16::from_bits(select_unpredictable(x.is_nan(), bits >> 16 | 0x40, rounded) as u16)
}

fn convert<T: Plain, R: Plain>(x: &[T], out: &mut [R], f: impl Fn(&[T], &mut [R]) + Copy + Send + Sync) {
    parallel::chunks_mut(out, CHUNK, |i, out| f(&x[i * CHUNK..][..out.len()], out));
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
    fn short_forms_are_those_of_the_crate() {
        let special =
            [0, 1, 0x7FFF, 0x8000, 0x8001, 0x1_8000, 0x3F80_8000, 0x3F81_8000, 0x7F7F_FFFF, 0x7F80_0000];
        let nans = [0x7F80_0001, 0x7FC0_0000, 0x7FFF_FFFF];
        let bits = special.into_iter().chain(nans).chain((0..1 << 12).map(|i| i * 0x000F_F1FD));
        let x: Vec<f32> = bits.flat_map(|bits: u32| [bits, bits | 1 << 31]).map(f32::from_bits).collect();
        let value = Value::from_slice(&x, &[x.len()]).unwrap();
        let (f, b) = (cast_value(&value, DType::F16).unwrap(), cast_value(&value, DType::BF16).unwrap());
        let (f, b) = (f.as_slice::<f16>().unwrap(), b.as_slice::<bf16>().unwrap());
        for (i, &x) in x.iter().enumerate() {
            assert_eq!(b[i].to_bits(), bf16::from_f32(x).to_bits(), "{:08x}", x.to_bits());
            assert_eq!(f[i].to_bits(), f16::from_f32(x).to_bits(), "{:08x}", x.to_bits());
        }
        for dtype in [DType::F16, DType::BF16] {
            let half = cast_value(&value, dtype).unwrap();
            let wide = cast_value(&half, DType::F32).unwrap();
            assert_eq!(cast_value(&wide, dtype).unwrap().as_slice::<u16>(), half.as_slice::<u16>());
        }
    }

    #[test]
    fn floats_truncate_and_saturate_and_anything_but_zero_is_true() {
        let x = Value::from_slice(&[-1.9f32, 1.9, 3e9, f32::NAN, -0.0], &[5]).unwrap();
        assert_eq!(cast_value(&x, DType::I32).unwrap().as_slice::<i32>(), Some(&[-1, 1, i32::MAX, 0, 0][..]));
        assert_eq!(cast_value(&x, BOOL).unwrap().as_slice::<u8>(), Some(&[1, 1, 1, 1, 0][..]));
    }
}
