//! Element types that are stored but not computed with: half precision and flex32 are computed in f32 and stored
//! again, quantized floats are dequantized.

use burnpy_buffer::DType;

use crate::element::Kind;
use crate::error::Result;
use crate::tensor::Tensor;

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
    let mut plain = dtypes.into_iter().filter(|&dtype| is_plain_float(dtype));
    let dtype = plain.next().unwrap_or(DType::F32);
    if plain.any(|other| other != dtype) || !dtypes.into_iter().any(is_half) {
        return run(inputs);
    }
    let mut wide: [Option<Tensor>; N] = [const { None }; N];
    for (wide, input) in wide.iter_mut().zip(inputs) {
        if is_half(input.dtype()) {
            *wide = Some(input.cast(DType::F32)?);
        }
    }
    let mut i = 0;
    let output = run(inputs.map(|input| {
        i += 1;
        wide[i - 1].as_ref().unwrap_or(input)
    }))?;
    if output.dtype() == DType::F32 { output.cast(dtype) } else { Ok(output) }
}

fn is_plain_float(dtype: DType) -> bool {
    Kind::of(dtype) == Kind::Float && !matches!(dtype, DType::QFloat(_))
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
