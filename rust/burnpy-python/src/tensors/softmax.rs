//! Functions of `burnpy.tensor.activation` along an axis.

use super::methods::along;

along! {
    /// ``e^x / Σ e^x`` along an axis.
    softmax;
    /// ``x − ln Σ e^x`` along an axis.
    log_softmax;
    /// The softmax of ``−x`` along an axis.
    softmin;
    /// ``e^x / (1 + Σ e^x)`` along an axis, which can be 0 for all elements.
    quiet_softmax;
}
