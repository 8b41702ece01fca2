//! AdaGrad (Duchi et al. 2011).

use super::number::Number;
use super::sgd::decayed;
use super::step::{MAX_STATES, Part};

/// s ← s + g²; θ ← θ − lr / (1 + (t − 1)·decay) · g / (√s + ε).
///
/// State: s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaGrad {
    /// λ of the L2 penalty: g ← θ·λ + g first.
    pub weight_decay: Option<f32>,
    /// By how much the learning rate falls with each step.
    pub lr_decay: f64,
    /// ε.
    pub epsilon: f32,
}

impl AdaGrad {
    #[inline(always)]
    pub(super) fn apply<T: Number>(&self, lr: f64, time: u64, fresh: [bool; MAX_STATES], part: Part<'_, T>) {
        let lr = T::scalar(lr / (1.0 + (time - 1) as f64 * self.lr_decay));
        let penalty = self.weight_decay.map(|penalty| T::scalar(f64::from(penalty)));
        let epsilon = T::scalar(f64::from(self.epsilon));
        let Part { theta, gradient, states: [sum, ..] } = part;
        for ((theta, &g), sum) in theta.iter_mut().zip(gradient).zip(sum) {
            let g = decayed(g, *theta, penalty);
            *sum = if fresh[0] { g * g } else { *sum + g * g };
            *theta = *theta - g / (sum.sqrt() + epsilon) * lr;
        }
    }
}
