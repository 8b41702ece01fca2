//! How an operation leaves its step behind.

use std::sync::Arc;

use super::backward::Flow;
use super::node::{Backward, Inputs, Node, Step};
use super::scope::{Recording, note_probe, recording};
use crate::error::Result;
use crate::tensor::Tensor;
use crate::value::Value;

/// The tensor of an operation's value. If an input is tracked, `save` is called with which of them are, keeps what
/// the way back needs, and returns the way back: from the gradient of the output to those of the inputs.
pub(crate) fn record<const N: usize, B>(
    operation: &'static str,
    inputs: [&Tensor; N],
    value: Value,
    save: impl FnOnce([bool; N]) -> B,
) -> Tensor
where
    B: FnOnce(Value) -> Result<[Option<Value>; N]> + Send + 'static,
{
    record_with(operation, &inputs, value, || {
        let backward = save(inputs.map(|input| input.node().is_some()));
        Box::new(move |gradient, flow| {
            for (i, gradient) in backward(gradient)?.into_iter().enumerate() {
                gradient.map_or(Ok(()), |gradient| flow.give(i, gradient))?;
            }
            Ok(())
        })
    })
}

/// The tensor of an operation's value, of any number of inputs. If one is tracked, `save` keeps what the way back
/// needs, and returns the way back, which takes the gradient of the output and gives those of the inputs to the flow.
pub fn record_many<B>(
    operation: &'static str,
    inputs: &[&Tensor],
    value: Value,
    save: impl FnOnce() -> B,
) -> Tensor
where
    B: FnOnce(Value, &mut Flow<'_>) -> Result<()> + Send + 'static,
{
    record_with(operation, inputs, value, || Box::new(save()))
}

fn record_with(
    operation: &'static str,
    inputs: &[&Tensor],
    value: Value,
    save: impl FnOnce() -> Backward,
) -> Tensor {
    let autodiff = inputs.iter().any(|input| input.is_autodiff());
    let tracked = inputs.iter().any(|input| input.node().is_some());
    let node = match recording() {
        Recording::On if tracked => Some(step(operation, inputs, save())),
        Recording::Probe if tracked => {
            note_probe();
            // Only whether there is a node matters: what comes of this tensor would be recorded too.
            Some(Node::leaf())
        }
        _ => None,
    };
    Tensor::from_parts(value, node, autodiff)
}

fn step(operation: &'static str, inputs: &[&Tensor], backward: Backward) -> Arc<Node> {
    let inputs: Inputs = inputs.iter().map(|input| input.node().cloned()).collect();
    Node::step(operation, Step { inputs, backward })
}
