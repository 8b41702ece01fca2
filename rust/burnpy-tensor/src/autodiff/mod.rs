//! Gradients: the graph that operations leave behind, and the walk back through it.

mod backward;
mod checkpoint;
mod node;
mod record;
mod scope;

pub(crate) use backward::walk_back;
pub use backward::{Flow, Gradients};
pub use checkpoint::checkpoint;
pub use node::Node;
pub(crate) use record::record;
pub use record::record_many;
pub use scope::{Recording, no_grad, recording, set_recording};
