//! The walk back.

use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::node::{Inputs, Node};
use super::scope::{Recording, with_recording};
use crate::error::{Error, Result};
use crate::kernels::region::Span;
use crate::ops::accumulate::{accumulate, accumulate_part};
use crate::value::Value;

/// Node numbers are spread well enough by one multiplication.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }
    fn write_u64(&mut self, id: u64) {
        self.0 = (self.0 ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

type ById<T> = HashMap<u64, T, BuildHasherDefault<IdHasher>>;

/// Gradients of the leaves, by node.
///
/// ```
/// use burnpy_tensor::{Tensor, Value};
/// let x = Tensor::from(Value::from_slice(&[1.0f32, -2.0], &[2])?).autodiff().require_grad()?;
/// let grads = x.detach().mul(&x)?.backward()?;
/// assert_eq!(x.grad(&grads).unwrap().as_slice::<f32>(), Some(&[1.0, -2.0][..]));
/// # Ok::<(), burnpy_tensor::Error>(())
/// ```
#[derive(Debug, Default, Clone)]
pub struct Gradients {
    leaves: ById<Value>,
}

impl Gradients {
    /// The gradient of a node, if there is one.
    pub fn get(&self, node: &Node) -> Option<&Value> {
        self.leaves.get(&node.id())
    }

    /// Takes the gradient of a node out.
    pub fn remove(&mut self, node: &Node) -> Option<Value> {
        self.leaves.remove(&node.id())
    }

    /// Puts another gradient in its place.
    pub fn replace(&mut self, node: &Node, gradient: Value) {
        self.leaves.insert(node.id(), gradient);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.leaves.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }
}

/// Where a step puts the gradients of its inputs.
pub struct Flow<'a> {
    inputs: &'a Inputs,
    pending: &'a mut Pending,
}

impl Flow<'_> {
    /// Whether anybody waits for the gradient of input `i`.
    pub fn needs(&self, i: usize) -> bool {
        self.inputs[i].is_some()
    }

    /// The gradient of input `i`, added to what it has. Lost if nobody waits for it.
    ///
    /// # Errors
    /// If it does not have the shape of the others.
    pub fn give(&mut self, i: usize, gradient: Value) -> Result<()> {
        match &self.inputs[i] {
            Some(node) => self.pending.add(node, gradient),
            None => Ok(()),
        }
    }

    /// [`Flow::give`] of a gradient that is 0 outside of a part of an input of this shape.
    pub(crate) fn give_part(
        &mut self,
        i: usize,
        shape: &[usize],
        spans: &[Span],
        gradient: Value,
    ) -> Result<()> {
        match &self.inputs[i] {
            Some(node) => self.pending.add_part(node, shape, spans, gradient),
            None => Ok(()),
        }
    }

    pub(crate) fn input(&self, i: usize) -> Option<&Arc<Node>> {
        self.inputs[i].as_ref()
    }

    pub(crate) fn give_node(&mut self, node: &Arc<Node>, gradient: Value) -> Result<()> {
        self.pending.add(node, gradient)
    }
}

/// Gradients that are not complete yet, and the nodes to visit, highest number first.
#[derive(Default)]
struct Pending {
    gradients: ById<Value>,
    heap: BinaryHeap<ByNumber>,
}

impl Pending {
    fn add(&mut self, node: &Arc<Node>, gradient: Value) -> Result<()> {
        let sum = match self.gradients.remove(&node.id()) {
            Some(sum) => accumulate(sum, gradient)?,
            None => {
                self.heap.push(ByNumber(Arc::clone(node)));
                gradient
            }
        };
        self.gradients.insert(node.id(), sum);
        Ok(())
    }

    fn add_part(&mut self, node: &Arc<Node>, shape: &[usize], spans: &[Span], gradient: Value) -> Result<()> {
        let sum = self.gradients.remove(&node.id());
        if sum.is_none() {
            self.heap.push(ByNumber(Arc::clone(node)));
        }
        let sum = accumulate_part(sum, shape, spans, gradient)?;
        self.gradients.insert(node.id(), sum);
        Ok(())
    }

    fn pop(&mut self) -> Option<(Arc<Node>, Value)> {
        let ByNumber(node) = self.heap.pop()?;
        let gradient = self.gradients.remove(&node.id())?;
        Some((node, gradient))
    }
}

struct ByNumber(Arc<Node>);

impl PartialEq for ByNumber {
    fn eq(&self, other: &Self) -> bool {
        self.0.id() == other.0.id()
    }
}
impl Eq for ByNumber {}
impl PartialOrd for ByNumber {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for ByNumber {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.id().cmp(&other.0.id())
    }
}

/// Gradients of all leaves behind a node, from the gradient of its own tensor. Frees the graph as it goes.
///
/// A node is visited once all that came from it have been: they have higher numbers. The order in which gradients of
/// one node are added is that of the numbers too, so that bits do not depend on anything else.
pub(crate) fn walk_back(root: &Arc<Node>, gradient: Value) -> Result<Gradients> {
    with_recording(Recording::Off, || {
        let (mut pending, mut gradients) = (Pending::default(), Gradients::default());
        pending.add(root, gradient)?;
        while let Some((node, gradient)) = pending.pop() {
            if node.is_leaf() {
                gradients.leaves.insert(node.id(), gradient);
                continue;
            }
            let step = node.take().ok_or_else(|| consumed(&node))?;
            (step.backward)(gradient, &mut Flow { inputs: &step.inputs, pending: &mut pending })?;
        }
        Ok(gradients)
    })
}

#[cold]
fn consumed(node: &Node) -> Error {
    let step = node.operation().unwrap_or("leaf");
    let message = format_args!("an earlier backward has consumed a step ({step}); compute the output again");
    Error::graph("backward", message)
}

#[cfg(test)]
mod tests {
    use crate::{Tensor, Value};

    fn leaf(values: &[f32]) -> Tensor {
        Tensor::from(Value::from_slice(values, &[values.len()]).unwrap()).autodiff().require_grad().unwrap()
    }

    #[test]
    fn a_chain_of_a_million_steps_goes_forward_back_and_away_on_a_small_stack() {
        let chain = || {
            let x = leaf(&[1.0]);
            let mut y = x.clone();
            for _ in 0..1_000_000 {
                y = y.add(&x).unwrap();
            }
            drop(y.clone());
            let mut z = y.clone();
            for _ in 0..1_000_000 {
                z = z.mul(&x).unwrap();
            }
            drop(z);
            let grads = y.backward().unwrap();
            assert_eq!(x.grad(&grads).unwrap().as_slice::<f32>(), Some(&[1_000_001.0][..]));
        };
        std::thread::Builder::new().stack_size(256 << 10).spawn(chain).unwrap().join().unwrap();
    }

    #[test]
    fn gradients_of_a_leaf_that_is_used_often_add_up() {
        let x = leaf(&[3.0, -1.0]);
        let y = x.mul(&x).unwrap().add(&x).unwrap();
        let grads = y.backward().unwrap();
        assert_eq!(x.grad(&grads).unwrap().as_slice::<f32>(), Some(&[7.0, -1.0][..]));
        assert_eq!(grads.len(), 1);
    }

    #[test]
    fn what_a_consumed_step_leads_to_cannot_be_had_again_but_fresh_branches_can() {
        let x = leaf(&[2.0]);
        let y = x.mul(&x).unwrap();
        y.backward().unwrap();
        assert!(y.backward().is_err());
        assert!(y.mul(&x).unwrap().backward().is_err());
        assert!(x.mul(&x).unwrap().backward().is_ok());
        assert!(x.detach().inner().backward().is_err());
    }

    #[test]
    fn checkpoints_give_the_same_gradients_also_of_what_they_capture() {
        let (x, w) = (leaf(&[2.0, 3.0]), leaf(&[5.0, 7.0]));
        let inner = w.clone();
        let run = move |inputs: &[Tensor]| inputs[0].mul(&inner)?.mul(&inputs[0]);
        let plain = run(std::slice::from_ref(&x)).unwrap().mul(&x).unwrap().backward().unwrap();
        let y = crate::autodiff::checkpoint(&[&x], run).unwrap();
        let grads = y.mul(&x).unwrap().backward().unwrap();
        for leaf in [&x, &w] {
            assert_eq!(
                leaf.grad(&grads).unwrap().as_slice::<f32>(),
                leaf.grad(&plain).unwrap().as_slice::<f32>()
            );
        }
    }
}
