//! Tensors for tests of what moves elements.

use super::check;
use crate::error::Result;
use crate::tensor::Tensor;
use crate::value::Value;

/// Numbers in an order without order: no ties, both signs, no 0.
pub(crate) fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7 + 3) % count.max(1)) as f64 * 0.5 - count as f64 * 0.2 + 0.13).collect()
}

/// A leaf of doubles.
pub(crate) fn leaf(shape: &[usize]) -> Tensor {
    leaf_of(&numbers(shape.iter().product()), shape)
}

/// A leaf of these doubles.
pub(crate) fn leaf_of(data: &[f64], shape: &[usize]) -> Tensor {
    check::tensor(data, shape).autodiff().require_grad().unwrap()
}

/// A tensor of integers.
pub(crate) fn ints(data: &[i32], shape: &[usize]) -> Tensor {
    check::tensor(data, shape)
}

/// The elements of a tensor in row-major order, as doubles.
pub(crate) fn elements(x: &Tensor) -> Vec<f64> {
    check::doubles(x.value())
}

/// [`check::check_gradients`] with respect to the elements of tensors.
#[track_caller]
pub(crate) fn check_gradients(inputs: &[Tensor], run: impl Fn(&[Tensor]) -> Result<Tensor>) {
    let values: Vec<Value> = inputs.iter().map(|input| input.value().clone()).collect();
    check::check_gradients(&values, run);
}
