//! Adam (Kingma & Ba 2015), with AMSGrad (Reddi et al. 2018).

use std::cmp::Ordering;

use super::number::{Number, power};
use super::sgd::decayed;
use super::step::{MAX_STATES, Part};

/// m ← m·β₁ + g·(1 − β₁); v ← v·β₂ + g²·(1 − β₂); θ ← θ − lr · m̂ / (√v̂ + ε).
///
/// State: m, v, and the largest v so far with AMSGrad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adam {
    /// λ of the L2 penalty: g ← θ·λ + g first.
    pub weight_decay: Option<f32>,
    /// β₁.
    pub beta_1: f32,
    /// β₂.
    pub beta_2: f32,
    /// ε.
    pub epsilon: f32,
    /// Whether the largest v divides.
    pub amsgrad: bool,
}

impl Adam {
    #[inline(always)]
    pub(super) fn apply<T: Number>(&self, lr: f64, time: u64, fresh: [bool; MAX_STATES], part: Part<'_, T>) {
        let moments = Moments::<T>::new(self.beta_1, self.beta_2, self.amsgrad, fresh);
        let penalty = self.weight_decay.map(|penalty| T::scalar(f64::from(penalty)));
        let root = (1.0 - power(self.beta_2, time)).sqrt();
        let factor = T::scalar(f64::from(root / (1.0 - power(self.beta_1, time))));
        let (epsilon, lr) = (T::scalar(f64::from(self.epsilon * root)), T::scalar(lr));
        moments.each(
            part,
            |g, theta| decayed(g, theta, penalty),
            |theta, m, v| theta - (m * factor) / (v.sqrt() + epsilon) * lr,
        );
    }
}

/// The first and second moments of a gradient.
pub(super) struct Moments<T> {
    beta_1: T,
    rest_1: T,
    beta_2: T,
    rest_2: T,
    amsgrad: bool,
    fresh: [bool; MAX_STATES],
}

impl<T: Number> Moments<T> {
    #[inline(always)]
    pub(super) fn new(beta_1: f32, beta_2: f32, amsgrad: bool, fresh: [bool; MAX_STATES]) -> Self {
        let [beta_1, rest_1, beta_2, rest_2] =
            [beta_1, 1.0 - beta_1, beta_2, 1.0 - beta_2].map(|x| T::scalar(f64::from(x)));
        Self { beta_1, rest_1, beta_2, rest_2, amsgrad, fresh }
    }

    /// Updates the moments of every element with its gradient, and then the element with its moments.
    #[inline(always)]
    pub(super) fn each(
        &self,
        part: Part<'_, T>,
        gradient_of: impl Fn(T, T) -> T,
        update: impl Fn(T, T, T) -> T,
    ) {
        let Part { theta, gradient, states: [first, second, largest, _] } = part;
        let n = theta.len();
        let (first, second) = (&mut first[..n], &mut second[..n]);
        if self.amsgrad {
            let largest = &mut largest[..n];
            for i in 0..n {
                let (m, v) = self.advance(gradient_of(gradient[i], theta[i]), first[i], second[i]);
                // NaN stays: a maximum that forgets it would hide a broken gradient.
                let keeps = !self.fresh[2] && v.partial_cmp(&largest[i]) == Some(Ordering::Less);
                let top = if keeps { largest[i] } else { v };
                (first[i], second[i], largest[i]) = (m, v, top);
                theta[i] = update(theta[i], m, top);
            }
            return;
        }
        for (((theta, &g), m), v) in theta.iter_mut().zip(gradient).zip(first).zip(second) {
            (*m, *v) = self.advance(gradient_of(g, *theta), *m, *v);
            *theta = update(*theta, *m, *v);
        }
    }

    #[inline(always)]
    fn advance(&self, g: T, m: T, v: T) -> (T, T) {
        let (new_m, new_v) = (g * self.rest_1, (g * g) * self.rest_2);
        if self.fresh[0] { (new_m, new_v) } else { (m * self.beta_1 + new_m, v * self.beta_2 + new_v) }
    }
}
