//! Update rules: what an optimizer does to the elements of a parameter, in one pass over parameter, gradient and state.
//!
//! Every line of a rule is an elementary operation with its own rounding, in the order in which Burn applies them, so
//! that the results agree to the bit: nothing is contracted to fused operations. Scalars are computed as Burn does, in
//! f32 or f64, and rounded once to the element type.

mod adagrad;
mod adam;
mod adamw;
mod adan;
mod lion;
mod number;
mod rmsprop;
mod sgd;
mod step;
#[cfg(test)]
mod tests;

pub use adagrad::AdaGrad;
pub use adam::Adam;
pub use adamw::AdamW;
pub use adan::Adan;
pub use lion::Lion;
pub use rmsprop::RmsProp;
pub use sgd::{Momentum, Sgd};
pub use step::{MAX_STATES, Rule, Slot, step};
