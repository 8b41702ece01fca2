//! Operations under test: values against a formula, gradients against central differences in doubles.

use burnpy_buffer::DType;

use crate::element::Kind;
use crate::error::Result;
use crate::tensor::Tensor;
use crate::value::Value;

/// A tensor of doubles.
pub(crate) fn float(data: &[f64], shape: &[usize]) -> Tensor {
    Value::from_slice(data, shape).unwrap().into()
}

/// The elements in row-major order.
pub(crate) fn floats(tensor: &Tensor) -> Vec<f64> {
    let wide = tensor.cast(DType::F64).unwrap();
    wide.value().contiguous().as_slice::<f64>().unwrap().to_vec()
}

/// Whether two numbers are the same within a tolerance; NaN equals NaN.
pub(crate) fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * (1.0 + b.abs())
}

type Run<'a> = &'a dyn Fn(&[Tensor]) -> Result<Tensor>;

/// Holds an element-wise operation to a formula of its inputs' elements, in single and double precision and in
/// bfloat16, for strided inputs too; and its gradients to differences. All inputs have one shape.
pub(crate) fn check(
    name: &str,
    run: impl Fn(&[Tensor]) -> Result<Tensor>,
    formula: impl Fn(&[f64]) -> f64,
    inputs: &[(&[f64], &[usize])],
) {
    let expected: Vec<f64> = (0..inputs[0].0.len())
        .map(|i| formula(&inputs.iter().map(|(data, _)| data[i]).collect::<Vec<_>>()))
        .collect();
    let tensors: Vec<Tensor> = inputs.iter().map(|(data, shape)| float(data, shape)).collect();
    for (dtype, tolerance) in [(DType::F64, 1e-12), (DType::F32, 3e-6), (DType::BF16, 0.1)] {
        let narrow: Vec<Tensor> = tensors.iter().map(|input| input.cast(dtype).unwrap()).collect();
        for inputs in [narrow.clone(), narrow.iter().map(column_major).collect()] {
            let output = run(&inputs).unwrap();
            assert_eq!((output.dtype(), output.shape()), (dtype, tensors[0].shape()), "{name}");
            for (&found, &expected) in floats(&output).iter().zip(&expected) {
                assert!(close(found, expected, tolerance), "{name} {dtype:?}: {found} for {expected}");
            }
        }
    }
    check_gradients(name, &run, &tensors);
    let strided: Vec<Tensor> = tensors.iter().map(column_major).collect();
    check_gradients(name, &run, &strided);
    let empty: Vec<Tensor> = inputs.iter().map(|_| float(&[], &[2, 0])).collect();
    if inputs[0].1.len() == 2 {
        assert_eq!(run(&empty).unwrap().shape(), [2, 0], "{name}");
    }
}

/// The same tensor with its axes in the opposite order in memory.
pub(crate) fn column_major(tensor: &Tensor) -> Tensor {
    let back: Vec<usize> = (0..tensor.rank()).rev().collect();
    let turned = Tensor::from(tensor.value().permuted(&back).contiguous().permuted(&back));
    assert_eq!(floats(&turned).len(), tensor.num_elements());
    turned
}

/// Holds the gradients of a weighted sum of the output to central differences, for every float input.
pub(crate) fn check_gradients(name: &str, run: Run<'_>, inputs: &[Tensor]) {
    let leaves: Vec<Tensor> = inputs
        .iter()
        .map(|input| {
            if input.kind() == Kind::Float { input.autodiff().require_grad().unwrap() } else { input.clone() }
        })
        .collect();
    let output = run(&leaves).unwrap();
    let weights: Vec<f64> = (0..output.num_elements()).map(|i| 0.3 + 0.7 * ((i * 37 % 11) as f64)).collect();
    let weights = float(&weights, output.shape());
    let grads = output.mul(&weights).unwrap().backward().unwrap();
    let loss = |inputs: &[Tensor]| -> f64 {
        floats(&run(inputs).unwrap()).iter().zip(floats(&weights)).map(|(y, w)| y * w).sum()
    };
    for (i, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| leaf.is_tracked()) {
        let Some(found) = leaf.grad(&grads) else { panic!("{name}: no gradient for input {i}") };
        assert_eq!(found.shape(), leaf.shape(), "{name}: gradient of input {i}");
        let found = floats(&found.clone().into());
        for (element, &found) in found.iter().enumerate() {
            let at = |step: f64| {
                let mut moved = inputs.to_vec();
                let mut data = floats(&inputs[i]);
                data[element] += step;
                moved[i] = float(&data, inputs[i].shape());
                loss(&moved)
            };
            let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!(
                close(found, expected, 1e-6),
                "{name}: gradient {found} of element {element} of input {i}, differences say {expected}"
            );
        }
    }
}
