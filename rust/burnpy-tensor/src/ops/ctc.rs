//! The loss of unaligned label sequences.

use super::axis::indices;
use super::half::via_f32;
use crate::autodiff::record;
use crate::dispatch_float;
use crate::error::{Error, Result};
use crate::parallel;
use crate::tensor::Tensor;
use crate::value::Value;

/// Sizes and labels of a batch.
#[derive(Clone)]
struct Problem {
    classes: usize,
    batch: usize,
    blank: usize,
    labels: Vec<Vec<usize>>,
    steps: Vec<usize>,
}

impl Tensor {
    /// Connectionist temporal classification (Graves et al. 2006): for each sequence `−ln` of the summed probability
    /// of all alignments of `targets` to `self`, log-probabilities `[time, batch, classes]`. Shape `[batch]`.
    ///
    /// `targets` is `[batch, labels]`, of which `target_lengths` counts, as `input_lengths` does of the time steps.
    /// What cannot be aligned has loss ∞ and gradient 0; `zero_infinity` makes the loss 0 too.
    ///
    /// # Errors
    /// `Shape` if the sizes do not fit, `Index` for labels or lengths out of range, `Argument` if the blank is no
    /// class, `DType` if labels or lengths are no integers or the input no floats.
    pub fn ctc_loss(
        &self,
        targets: &Self,
        input_lengths: &Self,
        target_lengths: &Self,
        blank: usize,
        zero_infinity: bool,
    ) -> Result<Self> {
        via_f32([self], |[x]| {
            let problem = Problem::new(x.value(), targets.value(), [input_lengths, target_lengths], blank)?;
            dispatch_float!(x.dtype(), T => {
                let dense = x.value().contiguous();
                let value = losses::<T>(&dense, &problem, zero_infinity)?;
                // dx[t, c] = −g · Σ over states s of label c: α[t, s] β[t, s] / P, in logarithms
                Ok(record("ctc_loss", [x], value, |_| {
                    move |gradient: Value| Ok([Some(gradients::<T>(&dense, &problem, &gradient.contiguous())?)])
                }))
            }, else => Err(Error::dtype("ctc_loss", format_args!("needs floats, got {}", x.dtype().name()))))
        })
    }
}

impl Problem {
    fn new(x: &Value, targets: &Value, lengths: [&Tensor; 2], blank: usize) -> Result<Self> {
        let (&[time, batch, classes], &[rows, width]) = (x.shape(), targets.shape()) else {
            let (x, targets) = (x.shape(), targets.shape());
            let message =
                format_args!("needs [time, batch, classes] and [batch, labels], got {x:?} and {targets:?}");
            return Err(Error::shape("ctc_loss", message));
        };
        let counts = lengths.map(|length| length.num_elements());
        if [rows, counts[0], counts[1]] != [batch; 3] {
            let message = format_args!(
                "batch sizes differ: {batch} inputs, {rows} targets, {} and {} lengths",
                counts[0], counts[1]
            );
            return Err(Error::shape("ctc_loss", message));
        }
        if blank >= classes {
            return Err(Error::argument(
                "ctc_loss",
                format_args!("blank {blank} is none of {classes} classes"),
            ));
        }
        let steps = indices("ctc_loss", lengths[0].value(), time + 1)?;
        let used = indices("ctc_loss", lengths[1].value(), width + 1)?;
        let all = targets.contiguous();
        let row = |(n, &used): (usize, &usize)| {
            let row = all.with_layout(all.layout().sliced(0, n, 1, 1).sliced(1, 0, 1, used));
            indices("ctc_loss", &row, classes)
        };
        let labels = used.iter().enumerate().map(row).collect::<Result<_>>()?;
        Ok(Self { classes, batch, blank, labels, steps })
    }

    /// The class of a state: blanks around and between the labels.
    fn class(&self, n: usize, state: usize) -> usize {
        if state.is_multiple_of(2) { self.blank } else { self.labels[n][state / 2] }
    }

    fn states(&self, n: usize) -> usize {
        2 * self.labels[n].len() + 1
    }

    /// Whether a state can follow the one two before it: only a label, and only after another one.
    fn skips(&self, n: usize, state: usize) -> bool {
        state >= 2 && state % 2 == 1 && self.class(n, state) != self.class(n, state - 2)
    }

    /// `ln α[t, s]`: the probability of all beginnings that are in state `s` at step `t`. Row-major.
    fn forward(&self, x: &dyn Fn(usize, usize) -> f64, n: usize) -> Vec<f64> {
        let (states, steps) = (self.states(n), self.steps[n]);
        let mut alpha = vec![f64::NEG_INFINITY; states * steps];
        for s in 0..states.min(2).min(alpha.len()) {
            alpha[s] = x(0, self.class(n, s));
        }
        for t in 1..steps {
            let (before, now) = alpha[(t - 1) * states..].split_at_mut(states);
            for (s, now) in now.iter_mut().enumerate().take(states) {
                let one = if s >= 1 { before[s - 1] } else { f64::NEG_INFINITY };
                let two = if self.skips(n, s) { before[s - 2] } else { f64::NEG_INFINITY };
                *now = log_sum([before[s], one, two]) + x(t, self.class(n, s));
            }
        }
        alpha
    }

    /// `ln β[t, s]`: the probability of all endings after being in state `s` at step `t`, without that step.
    fn backward(&self, x: &dyn Fn(usize, usize) -> f64, n: usize) -> Vec<f64> {
        let (states, steps) = (self.states(n), self.steps[n]);
        let mut beta = vec![f64::NEG_INFINITY; states * steps];
        if steps > 0 {
            let last = states * steps;
            beta[last - states.min(2)..].fill(0.0);
        }
        for t in (1..steps).rev() {
            let (now, after) = beta[(t - 1) * states..].split_at_mut(states);
            for (s, now) in now.iter_mut().enumerate().take(states) {
                let reach = |to: usize| after[to] + x(t, self.class(n, to));
                let one = if s + 1 < states { reach(s + 1) } else { f64::NEG_INFINITY };
                let two =
                    if s + 2 < states && self.skips(n, s + 2) { reach(s + 2) } else { f64::NEG_INFINITY };
                *now = log_sum([reach(s), one, two]);
            }
        }
        beta
    }

    /// `ln P` of a sequence; without time steps, only the empty target is possible.
    fn log_probability(&self, alpha: &[f64], n: usize) -> f64 {
        let states = self.states(n);
        if self.steps[n] == 0 {
            return if states == 1 { 0.0 } else { f64::NEG_INFINITY };
        }
        let last = &alpha[alpha.len() - states.min(2)..];
        log_sum([last[0], last.get(1).copied().unwrap_or(f64::NEG_INFINITY), f64::NEG_INFINITY])
    }
}

/// `ln Σ eˣ`, in doubles: sums of many small probabilities.
fn log_sum(terms: [f64; 3]) -> f64 {
    let most = terms.into_iter().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY || terms.iter().any(|term| term.is_nan()) {
        return terms.iter().sum();
    }
    most + terms.iter().map(|term| (term - most).exp()).sum::<f64>().ln()
}

fn losses<T: crate::element::Element>(
    dense: &Value,
    problem: &Problem,
    zero_infinity: bool,
) -> Result<Value> {
    let x = dense.as_slice::<T>().expect("contiguous");
    Value::build_as(dense.dtype(), &[problem.batch], |out: &mut [T]| {
        parallel::chunks_mut(out, 1, |n, out| {
            let alpha = problem.forward(&at(x, problem, n), n);
            let loss = -problem.log_probability(&alpha, n);
            out[0] = T::from_f64(if zero_infinity && loss.is_infinite() { 0.0 } else { loss });
        });
    })
}

/// The log-probability of class `c` at step `t` of a sequence.
fn at<'a, T: crate::element::Element>(
    x: &'a [T],
    problem: &Problem,
    n: usize,
) -> impl Fn(usize, usize) -> f64 + 'a {
    let (batch, classes) = (problem.batch, problem.classes);
    move |t, c| x[(t * batch + n) * classes + c].to_f64()
}

fn gradients<T: crate::element::Element>(
    dense: &Value,
    problem: &Problem,
    gradient: &Value,
) -> Result<Value> {
    let x = dense.as_slice::<T>().expect("contiguous");
    let weights = gradient.as_slice::<T>().expect("contiguous");
    let sequences: Vec<Vec<f64>> =
        parallel::map(problem.batch, |n| occupation(&at(x, problem, n), problem, n));
    let (batch, classes) = (problem.batch, problem.classes);
    Value::build_as(dense.dtype(), dense.shape(), |out: &mut [T]| {
        out.fill(T::ZERO);
        for (row, out) in out.chunks_mut(classes).enumerate() {
            let (t, n) = (row / batch, row % batch);
            let weight = -weights[n].to_f64();
            let shares = sequences[n].get(t * classes..(t + 1) * classes).unwrap_or(&[]);
            out.iter_mut().zip(shares).for_each(|(out, share)| *out = T::from_f64(weight * share));
        }
    })
}

/// For each step and class, the probability that a random alignment of the target has the class there; none if there
/// is no alignment.
fn occupation(x: &dyn Fn(usize, usize) -> f64, problem: &Problem, n: usize) -> Vec<f64> {
    let states = problem.states(n);
    let alpha = problem.forward(x, n);
    let total = problem.log_probability(&alpha, n);
    if total == f64::NEG_INFINITY {
        return Vec::new();
    }
    let beta = problem.backward(x, n);
    let mut shares = vec![0.0; problem.steps[n] * problem.classes];
    for (i, (alpha, beta)) in alpha.iter().zip(&beta).enumerate() {
        let (t, s) = (i / states, i % states);
        shares[t * problem.classes + problem.class(n, s)] += (alpha + beta - total).exp();
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{assert_close, check_gradients, doubles, tensor};

    fn uniform(steps: usize, classes: usize) -> Tensor {
        tensor(&vec![-(classes as f64).ln(); steps * classes], &[steps, 1, classes])
    }

    fn loss(x: &Tensor, labels: &[i32], blank: usize, zero_infinity: bool) -> f64 {
        let lengths = [tensor(&[x.shape()[0] as i32], &[1]), tensor(&[labels.len() as i32], &[1])];
        let targets = tensor(labels, &[1, labels.len()]);
        let loss = x.ctc_loss(&targets, &lengths[0], &lengths[1], blank, zero_infinity).unwrap();
        doubles(loss.value())[0]
    }

    #[test]
    fn small_cases_have_their_probabilities() {
        assert_close(&[loss(&uniform(3, 2), &[1, 1], 0, false)], &[3.0 * 2f64.ln()], 1e-14);
        assert_close(&[loss(&uniform(3, 3), &[0, 1], 2, false)], &[-(5.0f64 / 27.0).ln()], 1e-14);
        assert_close(&[loss(&uniform(2, 2), &[1], 0, false)], &[-0.75f64.ln()], 1e-14);
        assert_eq!(loss(&uniform(2, 2), &[1, 1], 0, false), f64::INFINITY);
        assert_eq!(loss(&uniform(2, 2), &[1, 1], 0, true), 0.0);
        assert_close(&[loss(&uniform(2, 2), &[], 0, false)], &[2.0 * 2f64.ln()], 1e-14);
    }

    fn waves() -> Value {
        let rows = (0..15).flat_map(|row| {
            let (t, n) = ((row / 3) as f64, (row % 3) as f64);
            let row: Vec<f64> =
                (0..4).map(|c| (0.1 * (7.0 * t + 13.0 * n + 3.0 * f64::from(c))).sin()).collect();
            let total = row.iter().map(|x| x.exp()).sum::<f64>().ln();
            row.into_iter().map(move |x| x - total)
        });
        Value::from_slice(&rows.collect::<Vec<_>>(), &[5, 3, 4]).unwrap()
    }

    #[test]
    fn a_batch_has_burns_losses_and_gradients_of_central_differences() {
        let targets = tensor(&[1i64, 2, 0, 1, 0, 0, 3, 2, 1], &[3, 3]);
        let (steps, used) = (tensor(&[5i32, 5, 5], &[3]), tensor(&[2i32, 1, 3], &[3]));
        let loss = Tensor::from(waves()).ctc_loss(&targets, &steps, &used, 0, false).unwrap();
        assert_close(&doubles(loss.value()), &[3.5236571, 3.4953139, 4.2626772], 1e-7);
        let short = tensor(&[5i32, 3, 4], &[3]);
        check_gradients(&[waves()], |x| x[0].ctc_loss(&targets, &short, &used, 0, false));
    }

    #[test]
    fn what_cannot_be_aligned_has_gradient_zero() {
        let x = uniform(2, 2).autodiff().require_grad().unwrap();
        let (targets, two) = (tensor(&[1i32, 1], &[1, 2]), tensor(&[2i32], &[1]));
        for zero_infinity in [false, true] {
            let grads = x.ctc_loss(&targets, &two, &two, 0, zero_infinity).unwrap().backward().unwrap();
            assert_eq!(doubles(x.grad(&grads).unwrap()), [0.0; 4]);
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error_with_the_numbers() {
        let (x, two) = (uniform(2, 2), tensor(&[2i32], &[1]));
        let message =
            |targets: &Tensor, blank| x.ctc_loss(targets, &two, &two, blank, false).unwrap_err().to_string();
        assert_eq!(message(&tensor(&[1i32, 1], &[1, 2]), 2), "ctc_loss: blank 2 is none of 2 classes");
        assert_eq!(
            message(&tensor(&[1i32, 2], &[1, 2]), 0),
            "ctc_loss: index 2 is out of bounds for an axis of size 2"
        );
        assert!(message(&tensor(&[1i32; 4], &[2, 2]), 0).contains("batch sizes differ: 1 inputs, 2 targets"));
    }
}
