//! What tests of operations share.

use crate::error::Result;
use crate::tensor::Tensor;
use crate::value::Value;

/// 0.5, 1.5, … in an order without order: no ties, both signs, no 0.
pub(crate) fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7 + 3) % count.max(1)) as f64 * 0.5 - count as f64 * 0.2 + 0.13).collect()
}

/// A leaf of doubles.
pub(crate) fn leaf(shape: &[usize]) -> Tensor {
    leaf_of(&numbers(shape.iter().product()), shape)
}

/// A leaf of these doubles.
pub(crate) fn leaf_of(data: &[f64], shape: &[usize]) -> Tensor {
    Tensor::from(Value::from_slice(data, shape).unwrap()).autodiff().require_grad().unwrap()
}

/// A tensor of integers.
pub(crate) fn ints(data: &[i32], shape: &[usize]) -> Tensor {
    Value::from_slice(data, shape).unwrap().into()
}

/// The elements of a tensor in row-major order, as doubles.
pub(crate) fn elements(x: &Tensor) -> Vec<f64> {
    let wide = super::cast::cast_value(x.value(), burnpy_buffer::DType::F64).unwrap().contiguous();
    wide.as_slice::<f64>().unwrap().to_vec()
}

/// Gradients of Σ w · run(inputs) against central differences, with weights w that all differ.
pub(crate) fn check_gradients(inputs: &[Tensor], run: impl Fn(&[Tensor]) -> Result<Tensor>) {
    let weights = |len: usize| (0..len).map(|i| 1.0 + (i as f64 * 0.7).sin()).collect::<Vec<f64>>();
    let output = run(inputs).unwrap();
    let w = Tensor::from(Value::from_slice(&weights(output.num_elements()), output.shape()).unwrap());
    let gradients = output.mul(&w).unwrap().backward().unwrap();
    let loss = |inputs: &[Tensor]| {
        let y = elements(&run(inputs).unwrap());
        y.iter().zip(weights(y.len())).map(|(y, w)| y * w).sum::<f64>()
    };
    for (i, input) in inputs.iter().enumerate().filter(|(_, input)| input.is_tracked()) {
        let found = input.grad(&gradients).expect("a gradient");
        assert_eq!((found.shape(), found.dtype()), (input.shape(), input.dtype()));
        let (found, data) = (elements(&found.clone().into()), elements(input));
        for at in 0..data.len() {
            let moved = |by: f64| {
                let mut data = data.clone();
                data[at] += by;
                let mut inputs = inputs.to_vec();
                inputs[i] = Tensor::from(Value::from_slice(&data, input.shape()).unwrap());
                loss(&inputs)
            };
            let step = 1e-5;
            let expected = (moved(step) - moved(-step)) / (2.0 * step);
            let close = (found[at] - expected).abs() <= 1e-6 * expected.abs().max(1.0);
            assert!(close, "gradient of input {i} at {at} is {}, not {expected}", found[at]);
        }
    }
}
