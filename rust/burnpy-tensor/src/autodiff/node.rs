//! A place in the graph.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use super::backward::Flow;
use crate::error::Result;
use crate::value::Value;

/// What an operation was applied to: the nodes of its tracked inputs.
pub(crate) type Inputs = SmallVec<[Option<Arc<Node>>; 2]>;

/// Takes the gradient of an output and gives those of the inputs to the flow.
pub(crate) type Backward = Box<dyn FnOnce(Value, &mut Flow<'_>) -> Result<()> + Send>;

/// A tensor's place in the graph: a leaf that asks for its gradient, or a step that passes gradients on.
///
/// The graph is the outputs' alone: a node holds the nodes it came from, and values, never tensors.
pub struct Node {
    id: u64,
    /// `None` for a leaf.
    operation: Option<&'static str>,
    /// `None` for a leaf, and for a step that `backward` has been through.
    step: Mutex<Option<Step>>,
}

pub(crate) struct Step {
    pub(crate) inputs: Inputs,
    pub(crate) backward: Backward,
}

/// Numbers go up, so that a node's inputs have lower ones: the walk back needs no sorting of the graph.
fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Node {
    pub(crate) fn leaf() -> Arc<Self> {
        Arc::new(Self { id: next_id(), operation: None, step: Mutex::new(None) })
    }

    pub(crate) fn step(operation: &'static str, step: Step) -> Arc<Self> {
        Arc::new(Self { id: next_id(), operation: Some(operation), step: Mutex::new(Some(step)) })
    }

    /// A number that no other node of this process has, higher than those of the nodes before it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Whether it is a leaf.
    pub fn is_leaf(&self) -> bool {
        self.operation.is_none()
    }

    /// The operation that it is a step of.
    pub fn operation(&self) -> Option<&'static str> {
        self.operation
    }

    /// The step, which is gone from then on.
    pub(crate) fn take(&self) -> Option<Step> {
        self.step.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Node {
    /// Iterative on purpose: dropping a chain of 10^6 nodes recursively overflows the stack.
    fn drop(&mut self) {
        let Some(step) = self.step.get_mut().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let mut inputs: Vec<Arc<Self>> = step.inputs.into_iter().flatten().collect();
        while let Some(node) = inputs.pop() {
            if let Some(mut last) = Arc::into_inner(node)
                && let Some(step) = last.step.get_mut().unwrap_or_else(PoisonError::into_inner).take()
            {
                inputs.extend(step.inputs.into_iter().flatten());
            }
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node {} ({})", self.id, self.operation.unwrap_or("leaf"))
    }
}
