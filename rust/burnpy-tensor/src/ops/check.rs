//! What tests of operations share: values, and gradients against central differences.

use crate::error::Result;
use crate::tensor::Tensor;
use crate::value::Value;

/// Doubles of a shape, irregular and without ties.
pub(crate) fn numbers(shape: &[usize], seed: usize) -> Value {
    let count = shape.iter().product();
    let data: Vec<f64> =
        (0..count).map(|i| (1.7 * i as f64 + seed as f64 * 0.93 + 0.3).sin() * 1.3).collect();
    Value::from_slice(&data, shape).expect("a shape of a test")
}

/// A plain tensor of floats.
pub(crate) fn tensor<T: crate::Element>(data: &[T], shape: &[usize]) -> Tensor {
    Value::from_slice(data, shape).expect("a shape of a test").into()
}

/// All elements, as doubles.
pub(crate) fn doubles(value: &Value) -> Vec<f64> {
    let wide = super::cast::cast_value(value, crate::DType::F64).expect("numbers").contiguous();
    wide.as_slice::<f64>().expect("contiguous").to_vec()
}

/// Asserts that two lists agree within a relative and absolute error; equal infinities and NaNs do.
#[track_caller]
pub(crate) fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?} against {expected:?}");
    for (i, (&a, &b)) in found.iter().zip(expected).enumerate() {
        let close = a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * (1.0 + b.abs());
        assert!(close, "element {i}: {a} against {b}\n{found:?}\n{expected:?}");
    }
}

/// Asserts that the gradients of `run`, with an irregular weight for each output, are its central differences.
#[track_caller]
pub(crate) fn check_gradients(inputs: &[Value], run: impl Fn(&[Tensor]) -> Result<Tensor>) {
    let weighted = |inputs: &[Tensor]| {
        let output = run(inputs).expect("the operation");
        output.mul(&numbers(output.shape(), 5).into()).expect("the same shape")
    };
    let leaf = |value: &Value| Tensor::from(value.clone()).autodiff().require_grad().expect("floats");
    let leaves: Vec<Tensor> = inputs.iter().map(leaf).collect();
    let gradients = weighted(&leaves).backward().expect("tracked");
    for (i, input) in inputs.iter().enumerate() {
        let at = doubles(input);
        let loss = |k: usize, step: f64| {
            let mut moved = at.clone();
            moved[k] += step;
            let mut inputs: Vec<Tensor> = inputs.iter().map(|value| value.clone().into()).collect();
            inputs[i] = tensor(&moved, input.shape());
            doubles(weighted(&inputs).value()).iter().sum::<f64>()
        };
        let step = 1e-5;
        let expected: Vec<f64> =
            (0..at.len()).map(|k| (loss(k, step) - loss(k, -step)) / (2.0 * step)).collect();
        let found = leaves[i].grad(&gradients).expect("a gradient");
        assert_eq!(found.shape(), input.shape(), "shape of the gradient of input {i}");
        assert_close(&doubles(found), &expected, 1e-7);
    }
}
