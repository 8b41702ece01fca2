//! Lion (Chen et al. 2023).

use super::number::Number;
use super::step::{MAX_STATES, Part};

/// u = sign(m·β₁ + g·(1 − β₁)); m ← m·β₂ + g·(1 − β₂); θ ← θ·(1 − lr·λ) − lr·u.
///
/// State: m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lion {
    /// β₁.
    pub beta_1: f32,
    /// β₂.
    pub beta_2: f32,
    /// λ.
    pub weight_decay: f32,
}

impl Lion {
    #[inline(always)]
    pub(super) fn apply<T: Number>(&self, lr: f64, fresh: [bool; MAX_STATES], part: Part<'_, T>) {
        let scalar = |x: f32| T::scalar(f64::from(x));
        let [(b1, r1), (b2, r2)] = [self.beta_1, self.beta_2].map(|beta| (scalar(beta), scalar(1.0 - beta)));
        let kept = 1.0 - lr * f64::from(self.weight_decay);
        let (decays, kept, lr) = (kept != 1.0, T::scalar(kept), T::scalar(lr));
        let Part { theta, gradient, states: [momentum, ..] } = part;
        for ((theta, &g), m) in theta.iter_mut().zip(gradient).zip(momentum) {
            let direction = if fresh[0] { g * r1 } else { *m * b1 + g * r1 };
            *m = if fresh[0] { g * r2 } else { *m * b2 + g * r2 };
            let base = if decays { *theta * kept } else { *theta };
            *theta = base - direction.sign() * lr;
        }
    }
}
