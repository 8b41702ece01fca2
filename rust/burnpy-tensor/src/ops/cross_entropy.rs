//! Cross-entropy with class indices, softmax included.

use std::sync::Arc;

use burnpy_buffer::DType;

use super::cast::cast_value;
use super::half::via_f32;
use crate::autodiff::record;
use crate::dispatch_float;
use crate::element::{Element, Kind};
use crate::error::{Error, Result};
use crate::kernels::cross_entropy::{Targets, cross_entropy, cross_entropy_backward};
use crate::kernels::number::{Number, Real};
use crate::tensor::Tensor;
use crate::value::Value;

/// How a cross-entropy is made.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossEntropy {
    /// A weight for each class.
    pub weights: Option<Vec<f64>>,
    /// The share of the target that is spread evenly over all classes.
    pub smoothing: f64,
    /// Rows with these targets do not count.
    pub ignored: Vec<i64>,
    /// Whether the input is logits, else probabilities.
    pub logits: bool,
}

impl Default for CrossEntropy {
    /// Of logits, all rows and classes alike.
    fn default() -> Self {
        Self { weights: None, smoothing: 0.0, ignored: Vec::new(), logits: true }
    }
}

impl Tensor {
    /// Mean cross-entropy of rows `[…, classes]` and the classes `[…]` that they should have, of shape `[1]`.
    ///
    /// With ℓ the logarithm of the softmax of a row (of the row itself if it is probabilities, at least √(smallest
    /// normal number)), target t, smoothing α, weights w and s = (1 − α) [c = t] + α / classes, a row's loss is
    /// −Σ w s ℓ. The mean is over the rows that count: the sum of their losses over the sum of their targets' weights,
    /// NaN if none counts.
    ///
    /// # Errors
    /// `Shape` if targets or weights do not fit, `Index` for a target that is no class and not ignored, `DType` if
    /// the targets are no integers or the input no floats.
    pub fn cross_entropy(&self, targets: &Self, how: &CrossEntropy) -> Result<Self> {
        loss(self, targets, how, true)
    }

    /// [`Tensor::cross_entropy`] of each row, of the targets' shape; 0 for rows that do not count.
    ///
    /// # Errors
    /// As [`Tensor::cross_entropy`].
    pub fn cross_entropy_rows(&self, targets: &Self, how: &CrossEntropy) -> Result<Self> {
        loss(self, targets, how, false)
    }
}

/// What is compared with the rows.
struct Wanted<T> {
    classes: usize,
    indices: Vec<i64>,
    ignored: Vec<i64>,
    weights: Option<Vec<T>>,
    smoothing: f64,
}

impl<T: Real + Element> Wanted<T> {
    fn new(x: &Value, targets: &Value, how: &CrossEntropy) -> Result<Self> {
        let fail = |message: std::fmt::Arguments<'_>| Err(Error::shape("cross_entropy", message));
        let Some((&classes, rows)) = x.shape().split_last() else {
            return fail(format_args!("needs rows of classes, got a tensor of rank 0"));
        };
        if targets.shape() != rows {
            return fail(format_args!("targets of shape {:?} for rows of shape {rows:?}", targets.shape()));
        }
        if let Some(weights) = how.weights.as_ref().filter(|weights| weights.len() != classes) {
            return fail(format_args!("{} weights for {classes} classes", weights.len()));
        }
        if Kind::of(targets.dtype()) != Kind::Int {
            let found = targets.dtype().name();
            return Err(Error::dtype("cross_entropy", format_args!("targets must be integers, got {found}")));
        }
        let indices = cast_value(targets, DType::I64)?.contiguous();
        let indices = indices.as_slice::<i64>().expect("contiguous").to_vec();
        let is_class = |index: &i64| usize::try_from(*index).is_ok_and(|index| index < classes);
        if let Some(index) = indices.iter().find(|index| !is_class(index) && !how.ignored.contains(index)) {
            let message = format_args!("target {index} is none of {classes} classes");
            return Err(Error::index("cross_entropy", message));
        }
        let weights = how
            .weights
            .as_ref()
            .map(|weights| weights.iter().map(|&w| <T as Element>::from_f64(w)).collect());
        Ok(Self { classes, indices, ignored: how.ignored.clone(), weights, smoothing: how.smoothing })
    }

    fn targets(&self) -> Targets<'_, T> {
        Targets {
            classes: self.classes,
            indices: &self.indices,
            ignored: &self.ignored,
            weights: self.weights.as_deref(),
            smoothing: self.smoothing,
        }
    }
}

fn loss(x: &Tensor, targets: &Tensor, how: &CrossEntropy, mean: bool) -> Result<Tensor> {
    via_f32([x], |[x]| {
        dispatch_float!(x.dtype(), T => rows_of::<T>(x, targets, how, mean), else =>
            Err(Error::dtype("cross_entropy", format_args!("needs floats, got {}", x.dtype().name()))))
    })
}

/// dx = g · (p Σ w s − w s) for logits, with p the softmax of the row; −g · w s / x for probabilities. g is a row's
/// own, or that of the mean over the sum of the targets' weights.
fn rows_of<T: Real + Element>(
    x: &Tensor,
    targets: &Tensor,
    how: &CrossEntropy,
    mean: bool,
) -> Result<Tensor> {
    let wanted = Arc::new(Wanted::<T>::new(x.value(), targets.value(), how)?);
    let dense = x.value().contiguous();
    let input = dense.as_slice::<T>().expect("contiguous");
    let mut logs = Vec::new();
    let losses = Value::build_as(x.dtype(), targets.shape(), |losses: &mut [T]| {
        if how.logits {
            logs = vec![[<T as Number>::ZERO; 2]; losses.len()];
            cross_entropy(input, wanted.targets(), losses, &mut logs);
        } else {
            of_probabilities(input, &wanted, losses);
        }
    })?;
    let total = if mean { wanted.targets().total_weight() } else { 1.0 };
    let value = if mean {
        let losses = losses.as_slice::<T>().expect("contiguous");
        let sum: f64 = crate::kernels::reduce::all_wide(crate::kernels::reduce::Sum, losses);
        Value::build_as(x.dtype(), &[1], |out: &mut [T]| out[0] = <T as Element>::from_f64(sum / total))?
    } else {
        losses
    };
    let logits = how.logits;
    Ok(record("cross_entropy", [x], value, |_| {
        move |gradient: Value| {
            let gradient = gradient.contiguous();
            let gradient = gradient.as_slice::<T>().expect("contiguous");
            let scale: Vec<T> =
                gradient.iter().map(|g| <T as Element>::from_f64(g.to_f64() / total)).collect();
            let input = dense.as_slice::<T>().expect("contiguous");
            let dx = Value::build_as(dense.dtype(), dense.shape(), |out: &mut [T]| {
                if logits {
                    cross_entropy_backward(&scale, input, wanted.targets(), &logs, out);
                } else {
                    probabilities_backward(&scale, input, &wanted, out);
                }
            })?;
            Ok([Some(dx)])
        }
    }))
}

/// For each row that counts, its number, and the classes' shares `w s`.
fn shares<T: Real + Element>(wanted: &Wanted<T>, row: usize) -> Option<impl Fn(usize) -> f64 + '_> {
    let target = wanted.indices[row];
    let counts = !wanted.ignored.contains(&target);
    counts.then_some(move |class: usize| {
        let weight = wanted.weights.as_ref().map_or(1.0, |weights| weights[class].to_f64());
        let own = if class as i64 == target { 1.0 - wanted.smoothing } else { 0.0 };
        weight * (own + wanted.smoothing / wanted.classes as f64)
    })
}

/// Below this, probabilities are taken for it: √(smallest normal number).
fn least<T: Element>() -> f64 {
    if T::DTYPE == DType::F64 { f64::MIN_POSITIVE.sqrt() } else { f64::from(f32::MIN_POSITIVE).sqrt() }
}

fn of_probabilities<T: Real + Element>(x: &[T], wanted: &Wanted<T>, losses: &mut [T]) {
    for (row, loss) in losses.iter_mut().enumerate() {
        let x = &x[row * wanted.classes..][..wanted.classes];
        let total = shares(wanted, row).map_or(0.0, |share| {
            let terms = x.iter().enumerate().map(|(class, x)| (share(class), x.to_f64()));
            terms.filter(|&(share, _)| share != 0.0).map(|(share, x)| -share * clamped::<T>(x).ln()).sum()
        });
        *loss = <T as Element>::from_f64(total);
    }
}

fn clamped<T: Element>(x: f64) -> f64 {
    if x < least::<T>() { least::<T>() } else { x }
}

fn probabilities_backward<T: Real + Element>(scale: &[T], x: &[T], wanted: &Wanted<T>, out: &mut [T]) {
    out.fill(<T as Number>::ZERO);
    for row in 0..wanted.indices.len() {
        let Some(share) = shares(wanted, row) else { continue };
        let scale = scale[if scale.len() == 1 { 0 } else { row }].to_f64();
        let from = row * wanted.classes;
        for (class, (out, x)) in out[from..].iter_mut().zip(&x[from..]).enumerate().take(wanted.classes) {
            let x = x.to_f64();
            if x >= least::<T>() {
                *out = <T as Element>::from_f64(-scale * share(class) / x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{assert_close, check_gradients, doubles, numbers, tensor};

    fn example() -> (Tensor, Tensor) {
        let rows = [
            [0.1f64, 0.2, 0.7, 0.0, 0.0],
            [0.7, 0.1, 0.1, 0.1, 0.0],
            [0.2, 0.2, 0.2, 0.2, 0.2],
            [0.0, 0.3, 0.3, 0.2, 0.2],
        ];
        (tensor(rows.as_flattened(), &[4, 5]), tensor(&[2i64, 0, 4, 1], &[4]))
    }

    fn value(x: &Tensor, targets: &Tensor, how: &CrossEntropy) -> f64 {
        doubles(x.cross_entropy(targets, how).unwrap().value())[0]
    }

    #[test]
    fn burns_vectors() {
        let (x, y) = example();
        let probabilities = CrossEntropy { logits: false, ..CrossEntropy::default() };
        let (single, y_small) = (x.cast(DType::F32).unwrap(), y.cast(DType::I32).unwrap());
        assert_close(&[value(&x, &y, &CrossEntropy::default())], &[1.354197], 1e-6);
        assert_close(&[value(&x, &y, &probabilities)], &[0.8816902], 1e-6);
        let smooth = CrossEntropy { smoothing: 0.1, ..probabilities };
        assert_close(&[value(&single, &y_small, &smooth)], &[1.7929223], 1e-6);
    }

    #[test]
    fn ignored_rows_have_gradient_zero() {
        let x = tensor(&[2.0f64, 0.0, -1.0, 0.0, 0.0, 0.0], &[2, 3]).autodiff().require_grad().unwrap();
        let how = CrossEntropy { ignored: vec![2], ..CrossEntropy::default() };
        let loss = x.cross_entropy(&tensor(&[0i64, 2], &[2]), &how).unwrap();
        let grads = loss.backward().unwrap();
        let expected = [-0.1562053, 0.1141952, 0.04201007, 0.0, 0.0, 0.0];
        assert_close(&doubles(x.grad(&grads).unwrap()), &expected, 1e-7);
        assert!(value(&x, &tensor(&[2i64, 2], &[2]), &how).is_nan());
    }

    #[test]
    fn gradients_are_central_differences() {
        let x = numbers(&[2, 3, 4], 1);
        let positive = Tensor::from(numbers(&[2, 3, 4], 2)).softmax(2).unwrap().into_value();
        let targets = tensor(&[0i64, 3, 1, 1, 2, 0], &[2, 3]);
        for weights in [None, Some(vec![0.5, 2.0, 1.0, 0.3])] {
            for (smoothing, ignored) in [(0.0, vec![]), (0.2, vec![1])] {
                for (logits, x) in [(true, [x.clone()]), (false, [positive.clone()])] {
                    let how = CrossEntropy {
                        weights: weights.clone(),
                        smoothing,
                        ignored: ignored.clone(),
                        logits,
                    };
                    check_gradients(&x, |x| x[0].cross_entropy(&targets, &how));
                    check_gradients(&x, |x| x[0].cross_entropy_rows(&targets, &how));
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error_with_the_numbers() {
        let (x, y) = example();
        let message = |y: &Tensor, how: &CrossEntropy| x.cross_entropy(y, how).unwrap_err().to_string();
        let how = CrossEntropy::default();
        assert_eq!(
            message(&tensor(&[0i64, 1, 5, 0], &[4]), &how),
            "cross_entropy: target 5 is none of 5 classes"
        );
        assert!(message(&tensor(&[0i64], &[1]), &how).contains("targets of shape [1] for rows of shape [4]"));
        let weighted = CrossEntropy { weights: Some(vec![1.0]), ..how };
        assert_eq!(message(&y, &weighted), "cross_entropy: 1 weights for 5 classes");
    }
}
