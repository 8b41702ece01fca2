//! Tensors: values with a place in the graph.

use std::sync::Arc;

use burnpy_buffer::DType;

use crate::autodiff::{Gradients, Node};
use crate::element::Kind;
use crate::error::{Error, Result};
use crate::value::Value;

/// An immutable value, and the graph that leads to it if gradients are wanted.
///
/// ```
/// use burnpy_tensor::{Tensor, Value};
/// let x = Tensor::from(Value::from_slice(&[3.0f32], &[1]).unwrap()).autodiff().require_grad().unwrap();
/// let y = x.mul(&x).unwrap();
/// let grads = y.backward().unwrap();
/// assert_eq!(x.grad(&grads).unwrap().as_slice::<f32>(), Some(&[6.0][..]));
/// assert!(y.backward().is_err()); // the graph is consumed
/// ```
#[derive(Clone, Debug)]
pub struct Tensor {
    value: Value,
    node: Option<Arc<Node>>,
    autodiff: bool,
}

/// A tensor without its elements: its place in the graph, and whether its device does autodiff.
#[derive(Debug)]
pub struct Place {
    node: Option<Arc<Node>>,
    autodiff: bool,
}

impl Place {
    /// The tensor of these elements at this place.
    #[must_use]
    pub fn with(self, value: Value) -> Tensor {
        Tensor { value, node: self.node, autodiff: self.autodiff }
    }
}

impl From<Value> for Tensor {
    /// A plain tensor: no part of any graph.
    fn from(value: Value) -> Self {
        Self { value, node: None, autodiff: false }
    }
}

impl Tensor {
    pub(crate) fn from_parts(value: Value, node: Option<Arc<Node>>, autodiff: bool) -> Self {
        Self { value, node, autodiff }
    }

    /// The elements.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The elements, without the graph.
    pub fn into_value(self) -> Value {
        self.value
    }

    /// The elements, and what makes this tensor of them again.
    pub fn into_parts(self) -> (Value, Place) {
        (self.value, Place { node: self.node, autodiff: self.autodiff })
    }

    /// The place in the graph, if it is tracked.
    pub fn node(&self) -> Option<&Arc<Node>> {
        self.node.as_ref()
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        self.value.shape()
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.value.rank()
    }

    /// Number of elements.
    pub fn num_elements(&self) -> usize {
        self.value.num_elements()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.value.dtype()
    }

    /// Float, int or bool.
    pub fn kind(&self) -> Kind {
        Kind::of(self.dtype())
    }

    /// Whether it takes part in a graph.
    pub fn is_tracked(&self) -> bool {
        self.node.is_some()
    }

    /// Whether its device does autodiff.
    pub fn is_autodiff(&self) -> bool {
        self.autodiff
    }

    /// Whether it is a leaf that asks for its gradient.
    pub fn is_require_grad(&self) -> bool {
        self.node.as_ref().is_some_and(|node| node.is_leaf())
    }

    /// The same tensor on a device that does autodiff. It is no leaf by that.
    #[must_use]
    pub fn autodiff(&self) -> Self {
        Self { autodiff: true, ..self.clone() }
    }

    /// The same values on a device without autodiff.
    #[must_use]
    pub fn inner(&self) -> Self {
        self.value.clone().into()
    }

    /// The same values cut off the graph, on the same device; a leaf stays one.
    #[must_use]
    pub fn detach(&self) -> Self {
        let node = self.is_require_grad().then(Node::leaf);
        Self { value: self.value.clone(), node, autodiff: self.autodiff }
    }

    /// A leaf with these values, that asks for its gradient.
    ///
    /// # Errors
    /// `Graph` if the device does not do autodiff or this is the result of a recorded operation, `DType` if it is not
    /// of floats.
    pub fn require_grad(&self) -> Result<Self> {
        let fail = |message: &str| Err(Error::graph("require_grad", message));
        match &self.node {
            _ if !self.autodiff => fail("the tensor is on a device without autodiff; call autodiff() first"),
            Some(node) if !node.is_leaf() => {
                fail("the tensor is the result of a recorded operation; call detach() first")
            }
            _ if self.kind() != Kind::Float => {
                let name = self.dtype().name();
                Err(Error::dtype(
                    "require_grad",
                    format_args!("only float tensors have gradients, not {name}"),
                ))
            }
            Some(_) => Ok(self.clone()),
            None => Ok(Self { node: Some(Node::leaf()), ..self.clone() }),
        }
    }

    /// [`Tensor::require_grad`], or its contrary: the same values, untracked.
    ///
    /// # Errors
    /// As [`Tensor::require_grad`].
    pub fn set_require_grad(&self, wanted: bool) -> Result<Self> {
        if wanted {
            return self.require_grad();
        }
        Ok(Self { node: None, ..self.clone() })
    }

    /// Gradients of the sum of all elements with respect to the leaves behind it. Consumes the graph.
    ///
    /// # Errors
    /// `Graph` if the tensor is not tracked, or its graph is already consumed.
    pub fn backward(&self) -> Result<Gradients> {
        let node = self.node.as_ref().ok_or_else(|| {
            Error::graph(
                "backward",
                "the tensor is not tracked: no input of what it came from requires a gradient",
            )
        })?;
        let seed = Value::full(self.shape(), 1.0, self.dtype())?;
        crate::autodiff::walk_back(node, seed)
    }

    /// The gradient of this leaf; `None` if it is none, or none was computed.
    pub fn grad<'a>(&self, gradients: &'a Gradients) -> Option<&'a Value> {
        gradients.get(self.node.as_deref()?)
    }
}
