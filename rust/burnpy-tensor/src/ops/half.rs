//! Element types that are stored but not computed with: half precision and flex32 are computed in f32 and stored
//! again, quantized floats are dequantized.

use burnpy_buffer::DType;

use super::cast::cast_value;
use crate::element::Kind;
use crate::error::Result;
use crate::tensor::Tensor;
use crate::value::Value;

/// Whether operations compute a dtype in f32.
pub(crate) fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::QFloat(_))
}

/// `run` on f32 copies of the half-precision tensors, its result in their dtype again. Both casts are recorded. Floats of
/// two dtypes stay what they are, which the operation refuses; quantized ones go with any.
pub(crate) fn via_f32<const N: usize>(
    inputs: [&Tensor; N],
    run: impl FnOnce([&Tensor; N]) -> Result<Tensor>,
) -> Result<Tensor> {
    let dtypes = inputs.map(Tensor::dtype);
    let has_half = dtypes.into_iter().any(is_half);
    let Some(dtype) = has_half.then(|| joint_float(&dtypes)).flatten() else {
        return run(inputs);
    };
    let wide = if is_half(dtype) { DType::F32 } else { dtype };
    let output = with_cast(inputs, is_half, wide, run)?;
    if output.dtype() == wide { output.cast(dtype) } else { Ok(output) }
}

/// `run` on the numbers of the quantized tensors, in the dtype of the other floats; in f32 if there are none.
pub(crate) fn dequantized<const N: usize>(
    inputs: [&Tensor; N],
    run: impl FnOnce([&Tensor; N]) -> Result<Tensor>,
) -> Result<Tensor> {
    let dtypes = inputs.map(Tensor::dtype);
    let has_quantized = dtypes.into_iter().any(is_quantized);
    match has_quantized.then(|| joint_float(&dtypes)).flatten() {
        Some(dtype) => with_cast(inputs, is_quantized, dtype, run),
        None => run(inputs),
    }
}

/// [`dequantized`] of any number of tensors, where some are quantized.
pub(crate) fn plain_all(tensors: &[&Tensor]) -> Result<Option<Vec<Tensor>>> {
    if !tensors.iter().any(|tensor| is_quantized(tensor.dtype())) {
        return Ok(None);
    }
    let dtypes: Vec<DType> = tensors.iter().map(|tensor| tensor.dtype()).collect();
    let dtype = joint_float(&dtypes).unwrap_or(DType::F32);
    let plain = |x: &&Tensor| if is_quantized(x.dtype()) { x.cast(dtype) } else { Ok((*x).clone()) };
    tensors.iter().map(plain).collect::<Result<_>>().map(Some)
}

/// [`dequantized`] of two values.
pub(crate) fn plain_pair(a: &Value, b: &Value) -> Result<(Value, Value)> {
    let dtype = joint_float(&[a.dtype(), b.dtype()]).unwrap_or(DType::F32);
    let plain = |x: &Value| if is_quantized(x.dtype()) { cast_value(x, dtype) } else { Ok(x.clone()) };
    Ok((plain(a)?, plain(b)?))
}

/// The dtype that the numbers of a dtype are in: f32 of quantized ones.
pub(crate) fn number_dtype(dtype: DType) -> DType {
    if is_quantized(dtype) { DType::F32 } else { dtype }
}

/// The one dtype of the floats that are not quantized, f32 if there are none.
fn joint_float(dtypes: &[DType]) -> Option<DType> {
    let is_plain = |&dtype: &DType| Kind::of(dtype) == Kind::Float && !is_quantized(dtype);
    let mut plain = dtypes.iter().copied().filter(is_plain);
    let dtype = plain.next().unwrap_or(DType::F32);
    plain.all(|other| other == dtype).then_some(dtype)
}

fn with_cast<const N: usize>(
    inputs: [&Tensor; N],
    chosen: fn(DType) -> bool,
    to: DType,
    run: impl FnOnce([&Tensor; N]) -> Result<Tensor>,
) -> Result<Tensor> {
    let mut casts: [Option<Tensor>; N] = [const { None }; N];
    for (cast, input) in casts.iter_mut().zip(inputs) {
        if chosen(input.dtype()) {
            *cast = Some(input.cast(to)?);
        }
    }
    let mut i = 0;
    run(inputs.map(|input| {
        i += 1;
        casts[i - 1].as_ref().unwrap_or(input)
    }))
}

pub(crate) fn is_quantized(dtype: DType) -> bool {
    matches!(dtype, DType::QFloat(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_widths_do_not_mix() {
        let of = |dtype| Tensor::ones(&[2, 2], dtype).unwrap();
        let error = of(DType::F16).add(&of(DType::F32)).unwrap_err();
        assert_eq!(error.to_string(), "add: dtypes f16 and f32 differ; cast one of them");
        assert!(of(DType::F16).matmul(&of(DType::BF16)).is_err());
        assert!(of(DType::F32).is_close(&of(DType::BF16), 0.0, 0.0).is_err());
        assert!(
            of(DType::F16)
                .linear(&of(DType::F16), Some(&Tensor::ones(&[2], DType::F32).unwrap()), Default::default())
                .is_err()
        );
    }
}
