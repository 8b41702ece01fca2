//! Gradient checkpointing: less memory for more work.

use super::backward::Flow;
use super::record::record_many;
use super::scope::{Recording, probe, with_recording};
use crate::error::Result;
use crate::random;
use crate::tensor::Tensor;
use crate::value::Value;
use burnpy_buffer::DType;

/// `run(inputs)`, of which only the inputs are kept: the way back runs it again to get at what lies between
/// (Chen et al. 2016). Random draws are the same both times. Tensors that `run` captures get their gradients too.
///
/// # Errors
/// Those of `run`.
pub fn checkpoint<F>(inputs: &[&Tensor], run: F) -> Result<Tensor>
where
    F: Fn(&[Tensor]) -> Result<Tensor> + Send + 'static,
{
    let owned: Vec<Tensor> = inputs.iter().map(|&input| input.clone()).collect();
    let draws = random::state();
    let (output, tracked) = probe(|| run(&owned));
    let output = output?.into_value();
    if !tracked {
        return Ok(output.into());
    }
    // What `run` captures may be tracked even where no input is: a leaf that nobody asks for stands in.
    let stand_in = Tensor::from(Value::zeros(&[], DType::F32)?).autodiff().require_grad()?;
    let mut all = inputs.to_vec();
    all.push(&stand_in);
    let values: Vec<Value> = inputs.iter().map(|input| input.value().clone()).collect();
    Ok(record_many("checkpoint", &all, output, || {
        move |gradient: Value, flow: &mut Flow<'_>| {
            let input = |(i, value)| Tensor::from_parts(value, flow.input(i).cloned(), true);
            let inputs: Vec<Tensor> = values.into_iter().enumerate().map(input).collect();
            let again = random::replay(draws, || with_recording(Recording::On, || run(&inputs)))?;
            again.node().map_or(Ok(()), |node| flow.give_node(node, gradient))
        }
    }))
}
