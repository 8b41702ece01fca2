//! Element types that are stored but not computed with: half precision and flex32 are computed in f32 and stored
//! again, quantized floats are dequantized.

use burnpy_buffer::DType;

use crate::error::Result;
use crate::tensor::Tensor;

/// Whether operations compute a dtype in f32.
pub(crate) fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::QFloat(_))
}

/// `run` on f32 copies of the half-precision tensors, its result in their dtype again. Both casts are recorded.
pub(crate) fn via_f32<const N: usize>(
    inputs: [&Tensor; N],
    run: impl FnOnce([&Tensor; N]) -> Result<Tensor>,
) -> Result<Tensor> {
    let Some(dtype) = inputs.iter().map(|input| input.dtype()).find(|&dtype| is_half(dtype)) else {
        return run(inputs);
    };
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
    match dtype {
        DType::QFloat(_) => Ok(output),
        dtype if output.dtype() == DType::F32 => output.cast(dtype),
        _ => Ok(output),
    }
}
