//! AdamW (Loshchilov & Hutter 2019), with cautious weight decay.

use super::adam::Moments;
use super::number::{Number, power};
use super::step::{MAX_STATES, Part};

/// The moments of Adam; θ ← θ·(1 − lr·λ) − lr · m̂ / (√v̂ + ε).
///
/// State: as Adam.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamW {
    /// β₁.
    pub beta_1: f32,
    /// β₂.
    pub beta_2: f32,
    /// ε.
    pub epsilon: f32,
    /// λ.
    pub weight_decay: f32,
    /// Whether only elements are decayed whose sign is that of m (0 counts as positive).
    pub cautious_weight_decay: bool,
    /// Whether the largest v divides.
    pub amsgrad: bool,
}

impl AdamW {
    #[inline(always)]
    pub(super) fn apply<T: Number>(&self, lr: f64, time: u64, fresh: [bool; MAX_STATES], part: Part<'_, T>) {
        let moments = Moments::<T>::new(self.beta_1, self.beta_2, self.amsgrad, fresh);
        let correction_1 = T::scalar(f64::from(1.0 - power(self.beta_1, time)));
        let correction_2 = T::scalar(f64::from(1.0 - power(self.beta_2, time)));
        let epsilon = T::scalar(f64::from(self.epsilon));
        let decay = lr * f64::from(self.weight_decay);
        let lr = T::scalar(lr);
        let delta = |m: T, v: T| (m / correction_1) / ((v / correction_2).sqrt() + epsilon) * lr;
        let plain = |g: T, _: T| g;
        if decay == 0.0 {
            moments.each(part, plain, |theta, m, v| theta - delta(m, v));
        } else if self.cautious_weight_decay {
            let rho = T::scalar(decay);
            moments.each(part, plain, |theta, m, v| {
                let agrees = (theta >= T::ZERO) == (m >= T::ZERO);
                theta - if agrees { theta * rho } else { T::ZERO } - delta(m, v)
            });
        } else {
            let kept = T::scalar(1.0 - decay);
            moments.each(part, plain, |theta, m, v| theta * kept - delta(m, v));
        }
    }
}
