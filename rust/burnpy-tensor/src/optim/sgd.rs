//! Stochastic gradient descent.

use super::number::Number;
use super::step::{MAX_STATES, Part};

/// θ ← θ − lr · g, with L2 penalty and momentum if set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sgd {
    /// λ of the L2 penalty: g ← θ·λ + g first.
    pub weight_decay: Option<f32>,
    /// Momentum. State: the velocity.
    pub momentum: Option<Momentum>,
}

/// v ← g·(1 − δ) + v·μ, at first v = g; the step is v, or v·μ + g (Nesterov 1983).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Momentum {
    /// μ.
    pub momentum: f64,
    /// δ.
    pub dampening: f64,
    /// Whether the step looks ahead.
    pub nesterov: bool,
}

impl Sgd {
    #[inline(always)]
    pub(super) fn apply<T: Number>(&self, lr: f64, fresh: [bool; MAX_STATES], part: Part<'_, T>) {
        let (lr, penalty) = (T::scalar(lr), self.weight_decay.map(|penalty| T::scalar(f64::from(penalty))));
        let Part { theta, gradient, states: [velocity, ..] } = part;
        let Some(momentum) = self.momentum else {
            for (theta, &g) in theta.iter_mut().zip(gradient) {
                *theta = *theta - decayed(g, *theta, penalty) * lr;
            }
            return;
        };
        let mu = T::scalar(f64::from(momentum.momentum as f32));
        let rest = T::scalar(1.0 - momentum.dampening);
        for ((theta, &g), v) in theta.iter_mut().zip(gradient).zip(velocity) {
            let g = decayed(g, *theta, penalty);
            *v = if fresh[0] { g } else { g * rest + *v * mu };
            let direction = if momentum.nesterov { *v * mu + g } else { *v };
            *theta = *theta - direction * lr;
        }
    }
}

/// g + θ·λ, the gradient of the L2 penalty added.
#[inline(always)]
pub(super) fn decayed<T: Number>(gradient: T, theta: T, penalty: Option<T>) -> T {
    match penalty {
        Some(penalty) => theta * penalty + gradient,
        None => gradient,
    }
}
