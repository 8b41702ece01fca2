//! Adan (Xie et al. 2022).

use super::number::{Number, power};
use super::step::{MAX_STATES, Part};

/// Δ = g − g₋₁; m ← m·β₁ + g·(1 − β₁); d ← d·β₂ + Δ·(1 − β₂); n ← n·β₃ + (g + β₂Δ)²·(1 − β₃);
/// u = m̂/(√n̂ + ε) + β₂ d̂/(√n̂ + ε); θ ← (θ − lr·u)/(1 + lr·λ), or θ·(1 − lr·λ) − lr·u without the proximal form.
///
/// State: m, n, d, −g.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adan {
    /// β₁.
    pub beta_1: f32,
    /// β₂.
    pub beta_2: f32,
    /// β₃.
    pub beta_3: f32,
    /// ε.
    pub epsilon: f32,
    /// λ.
    pub weight_decay: f32,
    /// Whether the decay is AdamW's.
    pub no_prox: bool,
}

impl Adan {
    #[inline(always)]
    pub(super) fn apply<T: Number>(&self, lr: f64, time: u64, fresh: [bool; MAX_STATES], part: Part<'_, T>) {
        let scalar = |x: f32| T::scalar(f64::from(x));
        let [(b1, r1), (b2, r2), (b3, r3)] =
            [self.beta_1, self.beta_2, self.beta_3].map(|beta| (scalar(beta), scalar(1.0 - beta)));
        let [c1, c2] = [self.beta_1, self.beta_2].map(|beta| scalar(1.0 - power(beta, time)));
        let c3 = scalar((1.0 - power(self.beta_3, time)).sqrt());
        let (epsilon, decay) = (scalar(self.epsilon), lr * f64::from(self.weight_decay));
        let (rate, kept, shrunk) = (T::scalar(lr), T::scalar(1.0 - decay), T::scalar(1.0 + decay));
        let Part { theta, gradient, states: [mean, square, change, negated] } = part;
        for (i, theta) in theta.iter_mut().enumerate() {
            let g = gradient[i];
            if fresh[0] {
                (mean[i], square[i], change[i]) = (g * r1, (g * g) * r3, T::ZERO);
            } else {
                let delta = negated[i] + g;
                let ahead = delta * b2 + g;
                mean[i] = mean[i] * b1 + g * r1;
                change[i] = change[i] * b2 + delta * r2;
                square[i] = square[i] * b3 + (ahead * ahead) * r3;
            }
            negated[i] = -g;
            let below = square[i].sqrt() / c3 + epsilon;
            let u = (mean[i] / c1) / below + ((change[i] * b2) / c2) / below;
            *theta = match (decay == 0.0, self.no_prox) {
                (true, _) => *theta - u * rate,
                (false, true) => *theta * kept - u * rate,
                (false, false) => (*theta - u * rate) / shrunk,
            };
        }
    }
}
