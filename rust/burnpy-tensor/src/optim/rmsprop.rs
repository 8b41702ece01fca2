//! RMSProp (Hinton 2012), centred (Graves 2013) and with momentum.

use super::number::Number;
use super::sgd::decayed;
use super::step::{MAX_STATES, Part};

/// s ← s·α + g²·(1 − α); V = s, or s − a² with a the running mean of g; q = g / (√V + ε), with momentum
/// b ← b·μ + q; θ ← θ − lr · q or b.
///
/// State: s, V, then a (if centred) and b (with momentum).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RmsProp {
    /// λ of the L2 penalty: g ← θ·λ + g first.
    pub weight_decay: Option<f32>,
    /// α.
    pub alpha: f32,
    /// μ; no momentum at 0 or below.
    pub momentum: f32,
    /// ε.
    pub epsilon: f32,
    /// Whether the variance divides and not the second moment.
    pub centered: bool,
}

impl RmsProp {
    pub(super) fn has_momentum(&self) -> bool {
        self.momentum > 0.0
    }

    #[inline(always)]
    pub(super) fn apply<T: Number>(&self, lr: f64, fresh: [bool; MAX_STATES], part: Part<'_, T>) {
        let [alpha, rest, mu, epsilon] =
            [self.alpha, 1.0 - self.alpha, self.momentum, self.epsilon].map(|x| T::scalar(f64::from(x)));
        let penalty = self.weight_decay.map(|penalty| T::scalar(f64::from(penalty)));
        let lr = T::scalar(lr);
        let Part { theta, gradient, states: [square, variance, third, fourth] } = part;
        let (mean, buffer) = if self.centered { (third, fourth) } else { (fourth, third) };
        let buffer_fresh = fresh[if self.centered { 3 } else { 2 }];
        for (i, theta) in theta.iter_mut().enumerate() {
            let g = decayed(gradient[i], *theta, penalty);
            let new = (g * g) * rest;
            square[i] = if fresh[0] { new } else { square[i] * alpha + new };
            variance[i] = square[i];
            if self.centered {
                mean[i] = if fresh[2] { g * rest } else { mean[i] * alpha + g * rest };
                variance[i] = square[i] - mean[i] * mean[i];
            }
            let mut q = g / (variance[i].sqrt() + epsilon);
            if self.has_momentum() {
                buffer[i] = if buffer_fresh { q } else { buffer[i] * mu + q };
                q = buffer[i];
            }
            *theta = *theta - q * lr;
        }
    }
}
