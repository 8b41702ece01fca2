//! Cross-entropy of logits `[rows, classes]` with class indices, softmax included.
//!
//! With `ℓ = log_softmax(x)`, target `t`, smoothing `α`, weights `w` and `s_c = (1 - α) [c = t] + α / classes`:
//! `loss = -Σ_c w_c s_c ℓ_c` for a row, 0 for an ignored one.

use super::lanes::{self, Term, Term2};
use super::number::Real;
use super::softmax::max_and_sum;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Elements of a task.
const BLOCK: usize = 16 * 1024;

/// What logits are compared with.
#[derive(Debug, Clone, Copy)]
pub struct Targets<'a, T> {
    /// The number of classes.
    pub classes: usize,
    /// The class of each row.
    pub indices: &'a [i64],
    /// Targets whose rows do not count.
    pub ignored: &'a [i64],
    /// The weight of each class; 1 if none.
    pub weights: Option<&'a [T]>,
    /// The share `α` of the target that is spread over all classes.
    pub smoothing: f64,
}

impl<T: Real> Targets<'_, T> {
    /// What the sum of the losses is divided by for their mean: the weights of the targets that count, or their number.
    pub fn total_weight(&self) -> f64 {
        let counted = self.indices.iter().filter_map(|&index| self.class(index));
        counted.map(|class| self.weights.map_or(1.0, |weights| weights[class].widen())).sum()
    }

    /// `None` for an ignored target.
    ///
    /// # Panics
    /// If it is no class.
    #[inline(always)]
    fn class(&self, index: i64) -> Option<usize> {
        if self.ignored.contains(&index) {
            return None;
        }
        let class = usize::try_from(index).ok().filter(|&class| class < self.classes);
        Some(class.unwrap_or_else(|| panic!("target {index} of {} classes", self.classes)))
    }

    /// `(1 - α) w_t`: the target's own share.
    #[inline(always)]
    fn own(&self, class: usize) -> f64 {
        (1.0 - self.smoothing) * self.weights.map_or(1.0, |weights| weights[class].widen())
    }

    /// `α / classes`: the share that all get.
    #[inline(always)]
    fn spread(&self) -> f64 {
        self.smoothing / self.classes as f64
    }

    /// `Σ_c w_c`.
    fn weight_sum(&self) -> f64 {
        self.weights.map_or(self.classes as f64, |weights| weights.iter().map(|weight| weight.widen()).sum())
    }

    fn check(&self, logits: &[T], rows: usize) {
        assert_eq!(self.indices.len(), rows, "{} targets for {rows} rows", self.indices.len());
        assert_eq!(
            logits.len(),
            rows * self.classes,
            "{} logits in {rows} rows of {}",
            logits.len(),
            self.classes
        );
        assert!(self.weights.is_none_or(|weights| weights.len() == self.classes), "a weight for each class");
    }
}

/// What the gradient needs of a row: its maximum `m`, and `ln Σ e^(x - m)`. Apart, or digits would be lost where
/// the logits are large.
pub type RowLog<T> = [T; 2];

/// The loss of each row, and what the gradient needs of it.
///
/// # Panics
/// If the lengths differ, or a target is neither a class nor ignored.
///
/// ```
/// use burnpy_tensor::kernels::cross_entropy::{Targets, cross_entropy};
/// let targets = Targets { classes: 2, indices: &[1, -1], ignored: &[-1], weights: None, smoothing: 0.0 };
/// let (mut losses, mut logs) = ([0.0; 2], [[0.0; 2]; 2]);
/// cross_entropy(&[0.0f32, 0.0, 5.0, 1.0], targets, &mut losses, &mut logs);
/// assert_eq!(losses, [2f32.ln(), 0.0]);
/// assert_eq!(targets.total_weight(), 1.0);
/// ```
pub fn cross_entropy<T: Real>(
    logits: &[T],
    targets: Targets<'_, T>,
    losses: &mut [T],
    logs: &mut [RowLog<T>],
) {
    targets.check(logits, losses.len());
    let rows = (BLOCK / targets.classes.max(1)).max(1);
    parallel::chunks_mut2((losses, rows), (logs, rows), |i, losses, logs| {
        dispatch(Forward { logits, targets, first: i * rows, losses, logs });
    });
}

/// `dx_c = scale (p_c Σ_k w_k s_k - w_c s_c)` with `p = softmax(x)`, 0 in ignored rows. `scale` is one for all rows, or
/// one for each.
///
/// # Panics
/// As [`cross_entropy`].
pub fn cross_entropy_backward<T: Real>(
    scale: &[T],
    logits: &[T],
    targets: Targets<'_, T>,
    logs: &[RowLog<T>],
    out: &mut [T],
) {
    targets.check(logits, logs.len());
    assert_eq!(out.len(), logits.len(), "{} logits for an output of {}", logits.len(), out.len());
    assert!(scale.len() == 1 || scale.len() == logs.len(), "{} scales for {} rows", scale.len(), logs.len());
    if out.is_empty() {
        return;
    }
    let weight_sum = targets.weight_sum();
    let rows = (BLOCK / targets.classes).max(1);
    parallel::chunks_mut(out, rows * targets.classes, |i, out| {
        dispatch(Backward { scale, logits, targets, weight_sum, logs, first: i * rows, out });
    });
}

/// `-ℓ = ln Σ e^(x - m) - (x - m)`, or `-w ℓ`.
#[derive(Clone, Copy)]
struct Surprise<T>(RowLog<T>);

impl<T: Real> Term<T> for Surprise<T> {
    #[inline(always)]
    fn of<A: Arch>(self, x: T) -> T {
        let [max, log] = self.0;
        log.minus(x.minus(max))
    }
}

impl<T: Real> Term2<T> for Surprise<T> {
    #[inline(always)]
    fn of<A: Arch>(self, x: T, weight: T) -> T {
        Term::of::<A>(self, x).times(weight)
    }
}

struct Forward<'a, T> {
    logits: &'a [T],
    targets: Targets<'a, T>,
    first: usize,
    losses: &'a mut [T],
    logs: &'a mut [RowLog<T>],
}

impl<T: Real> Kernel for Forward<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES;
    #[inline(always)]
    fn run<A: Arch>(self) {
        let targets = self.targets;
        let spread = T::from_f64(targets.spread());
        for (i, (loss, log)) in self.losses.iter_mut().zip(self.logs).enumerate() {
            let row = self.first + i;
            let x = &self.logits[row * targets.classes..][..targets.classes];
            let Some(class) = targets.class(targets.indices[row]) else {
                (*loss, *log) = (T::ZERO, [T::ZERO; 2]);
                continue;
            };
            let (max, sum) = max_and_sum::<A, T>(x);
            *log = [max, T::from_f64(sum.ln())];
            let surprise = Surprise(*log);
            let mut total = targets.own(class) * Term::of::<A>(surprise, x[class]).widen();
            if targets.smoothing != 0.0 {
                let all = match targets.weights {
                    Some(weights) => lanes::sum2::<A, T>(x, weights, surprise),
                    None => lanes::sum::<A, T>(x, surprise),
                };
                total += spread.widen() * all;
            }
            *loss = T::from_f64(total);
        }
    }
}

struct Backward<'a, T> {
    scale: &'a [T],
    logits: &'a [T],
    targets: Targets<'a, T>,
    weight_sum: f64,
    logs: &'a [RowLog<T>],
    first: usize,
    out: &'a mut [T],
}

impl<T: Real> Kernel for Backward<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES;
    #[inline(always)]
    fn run<A: Arch>(self) {
        let Self { scale, logits, targets, weight_sum, logs, first, out } = self;
        for (i, out) in out.chunks_exact_mut(targets.classes).enumerate() {
            let row = first + i;
            let x = &logits[row * targets.classes..][..targets.classes];
            let Some(class) = targets.class(targets.indices[row]) else {
                out.fill(T::ZERO);
                continue;
            };
            let scale = scale[if scale.len() == 1 { 0 } else { row }];
            let own = targets.own(class);
            let mass = scale.times(T::from_f64(own + targets.spread() * weight_sum));
            let spread = scale.times(T::from_f64(targets.spread()));
            let [max, log] = logs[row];
            for (dx, &x) in out.iter_mut().zip(x) {
                *dx = x.minus(max).minus(log).exp::<A>().times(mass);
            }
            match targets.weights {
                _ if targets.smoothing == 0.0 => {}
                Some(weights) => {
                    out.iter_mut()
                        .zip(weights)
                        .for_each(|(dx, &weight)| *dx = dx.minus(spread.times(weight)));
                }
                None => out.iter_mut().for_each(|dx| *dx = dx.minus(spread)),
            }
            out[class] = out[class].minus(scale.times(T::from_f64(own)));
        }
    }
}
