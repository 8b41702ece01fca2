//! Sums of products, written with an index for each axis (Einstein's convention).

use burnpy_buffer::Layout;

use super::axis::axis;
use super::views::movable;
use crate::autodiff::record;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use crate::value::Value;

/// `einsum("ij,jk->ik", [a, b])`: single letters (case matters), `...` for axes that broadcast from the right, a
/// letter twice in one operand for its diagonal. Without `->` the result has the ellipsis, then the letters that
/// occur once, A–Z before a–z. Contracted from left to right; a result without axes has shape [1].
///
/// # Errors
/// `Argument` for an equation that makes no sense, `Shape` for sizes that do not fit, `DType` as for products.
///
/// ```
/// use burnpy_tensor::{Tensor, Value, ops::einsum};
/// let a = Tensor::from(Value::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?);
/// let b = Tensor::from(Value::from_slice(&[5.0f32, 6.0, 7.0, 8.0], &[2, 2])?);
/// let c = einsum("ij,jk->ik", &[&a, &b])?.value().contiguous();
/// assert_eq!(c.as_slice::<f32>(), Some(&[19.0, 22.0, 43.0, 50.0][..]));
/// # Ok::<(), burnpy_tensor::Error>(())
/// ```
pub fn einsum(equation: &str, operands: &[&Tensor]) -> Result<Tensor> {
    let equation = Equation::parse(equation, operands)?;
    let mut terms = operands.iter().zip(&equation.inputs).map(|(operand, labels)| Term::new(operand, labels));
    let mut left = terms.next().expect("parsed equations have an operand")?;
    for (i, right) in terms.enumerate() {
        let later = &equation.inputs[i + 2..];
        let wanted =
            |label: &Label| equation.output.contains(label) || later.iter().any(|term| term.contains(label));
        left = left.contract(right?, wanted)?;
    }
    let result = left.arranged(&equation.output)?;
    if result.rank() == 0 { result.reshape(&[1]) } else { Ok(result) }
}

/// An axis: of the ellipsis, counted from its right end, or named by a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Ellipsis(usize),
    Letter(char),
}

struct Equation {
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
}

impl Equation {
    fn parse(text: &str, operands: &[&Tensor]) -> Result<Self> {
        let bad =
            |message: std::fmt::Arguments<'_>| Error::argument("einsum", format_args!("{text:?}: {message}"));
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (left, right) = match compact.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (&compact[..], None),
        };
        let terms: Vec<&str> = left.split(',').collect();
        if operands.is_empty() || terms.len() != operands.len() {
            return Err(bad(format_args!("{} terms for {} operands", terms.len(), operands.len())));
        }
        let mut inputs = Vec::new();
        for (term, operand) in terms.iter().zip(operands) {
            let letters = term.chars().filter(|&c| c != '.').count();
            let covered = operand.rank().checked_sub(letters);
            match covered {
                Some(covered) if covered == 0 || term.contains("...") => inputs.push(labels(term, covered)),
                _ => {
                    return Err(bad(format_args!(
                        "term {term:?} does not name the axes of shape {:?}",
                        operand.shape()
                    )));
                }
            }
        }
        let inputs = inputs
            .into_iter()
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| bad(format_args!("a term is not letters and one ellipsis")))?;
        let dots =
            |term: &Vec<Label>| term.iter().filter(|label| matches!(label, Label::Ellipsis(_))).count();
        let ellipsis = inputs.iter().map(dots).max().unwrap_or(0);
        let output = match right {
            Some(right) => {
                // Without an ellipsis in the result, its axes are summed away.
                labels(right, ellipsis)
                    .ok_or_else(|| bad(format_args!("the result is not letters and one ellipsis")))?
            }
            None => implicit(&inputs, ellipsis),
        };
        for (i, label) in output.iter().enumerate() {
            let known = inputs.iter().any(|term| term.contains(label));
            if output[..i].contains(label) || !known {
                return Err(bad(format_args!("axis {label:?} of the result comes twice or from nowhere")));
            }
        }
        Ok(Self { inputs, output })
    }
}

/// The axes of a term, with an ellipsis of that many; `None` if it is none.
fn labels(term: &str, ellipsis: usize) -> Option<Vec<Label>> {
    let spread = (0..ellipsis).rev().map(Label::Ellipsis);
    let letters = |text: &str| {
        text.chars().map(|c| c.is_ascii_alphabetic().then_some(Label::Letter(c))).collect::<Option<Vec<_>>>()
    };
    match term.split_once("...") {
        Some((before, after)) => {
            Some(letters(before)?.into_iter().chain(spread).chain(letters(after)?).collect())
        }
        None => letters(term),
    }
}

/// The result's axes where none are named: the ellipsis, then the letters that occur once.
fn implicit(inputs: &[Vec<Label>], ellipsis: usize) -> Vec<Label> {
    let count = |label: Label| inputs.iter().flatten().filter(|&&other| other == label).count();
    let letters = ('A'..='Z').chain('a'..='z').map(Label::Letter).filter(|&label| count(label) == 1);
    (0..ellipsis).rev().map(Label::Ellipsis).chain(letters).collect()
}

/// A tensor and the names of its axes, each once.
struct Term {
    tensor: Tensor,
    labels: Vec<Label>,
}

impl Term {
    fn new(operand: &Tensor, labels: &[Label]) -> Result<Self> {
        let mut term = Self { tensor: operand.clone(), labels: labels.to_vec() };
        while let Some((first, second)) = term.repeated() {
            term.tensor = term.tensor.diagonal(first, second)?;
            let label = term.labels.remove(second);
            term.labels.remove(first);
            term.labels.push(label);
        }
        Ok(term)
    }

    fn repeated(&self) -> Option<(usize, usize)> {
        (0..self.labels.len()).find_map(|second| {
            let first = self.labels[..second].iter().position(|label| *label == self.labels[second])?;
            Some((first, second))
        })
    }

    fn size(&self, label: Label) -> Option<usize> {
        let at = self.labels.iter().position(|&other| other == label)?;
        Some(self.tensor.shape()[at])
    }

    /// The product with another term, summed over the axes that nobody wants: a batched matrix product.
    fn contract(self, other: Self, wanted: impl Fn(&Label) -> bool) -> Result<Self> {
        let left = self.without(|label| !wanted(label) && !other.labels.contains(label))?;
        let right = other.without(|label| !wanted(label) && !left.labels.contains(label))?;
        let only = |a: &Self, b: &Self| -> Vec<Label> {
            a.labels.iter().copied().filter(|label| !b.labels.contains(label)).collect()
        };
        let (rows, cols) = (only(&left, &right), only(&right, &left));
        let shared = left.labels.iter().copied().filter(|label| right.labels.contains(label));
        let (batch, summed): (Vec<Label>, Vec<Label>) = shared.partition(&wanted);
        let order = |parts: [&[Label]; 3]| parts.concat();
        let a = left.expanded(&right)?.arranged(&order([&batch, &rows, &summed]))?;
        let b = right.expanded(&left)?.arranged(&order([&batch, &summed, &cols]))?;
        let sizes = |shape: &[usize]| shape.iter().map(|&size| size as isize).collect::<Vec<_>>();
        let (head, tail) = (batch.len(), batch.len() + rows.len());
        let (batch_sizes, row_sizes) = (sizes(&a.shape()[..head]), sizes(&a.shape()[head..tail]));
        let col_sizes = sizes(&b.shape()[head + summed.len()..]);
        let product = |sizes: &[isize]| sizes.iter().product::<isize>();
        let (m, n) = (product(&row_sizes), product(&col_sizes));
        let (count, k) = (product(&batch_sizes), product(&sizes(&a.shape()[tail..])));
        let flat = a.reshape_literal(&[count, m, k])?.matmul(&b.reshape_literal(&[count, k, n])?)?;
        let shape = [batch_sizes, row_sizes, col_sizes].concat();
        Ok(Self { tensor: flat.reshape_literal(&shape)?, labels: order([&batch, &rows, &cols]) })
    }

    /// Axes of size 1 repeated to the size that the other term has there.
    fn expanded(&self, other: &Self) -> Result<Self> {
        let mut shape = self.tensor.shape().to_vec();
        for (size, &label) in shape.iter_mut().zip(&self.labels) {
            match other.size(label) {
                Some(wanted) if *size == 1 => *size = wanted,
                Some(wanted) if wanted != *size && wanted != 1 => {
                    let message = format_args!("axis {label:?} has sizes {size} and {wanted}");
                    return Err(Error::shape("einsum", message));
                }
                _ => {}
            }
        }
        let shape: Vec<isize> = shape.iter().map(|&size| size as isize).collect();
        Ok(Self { tensor: self.tensor.expand(&shape)?, labels: self.labels.clone() })
    }

    /// Summed over the axes of which `drop` says so.
    fn without(&self, drop: impl Fn(&Label) -> bool) -> Result<Self> {
        let dropped: Vec<isize> =
            (0..self.labels.len()).filter(|&i| drop(&self.labels[i])).map(|i| i as isize).collect();
        if dropped.is_empty() {
            return Ok(Self { tensor: self.tensor.clone(), labels: self.labels.clone() });
        }
        let sums = self.tensor.sum_dims(&dropped)?;
        let labels: Vec<Label> = self.labels.iter().copied().filter(|label| !drop(label)).collect();
        let kept = (0..self.labels.len()).filter(|i| !dropped.contains(&(*i as isize)));
        let shape: Vec<isize> = kept.map(|i| sums.shape()[i] as isize).collect();
        Ok(Self { tensor: sums.reshape_literal(&shape)?, labels })
    }

    /// The axes in another order, summed over those that are not in it.
    fn arranged(&self, order: &[Label]) -> Result<Tensor> {
        let term = self.without(|label| !order.contains(label))?;
        let position = |label: &Label| term.labels.iter().position(|other| other == label);
        let axes: Option<Vec<isize>> =
            order.iter().map(|label| position(label).map(|i| i as isize)).collect();
        term.tensor
            .permute(&axes.ok_or_else(|| Error::argument("einsum", "an axis of the result is missing"))?)
    }
}

impl Tensor {
    /// The diagonal over two axes, which go; it becomes the last axis. A view.
    ///
    /// # Errors
    /// `Shape` if an axis is not there or they are the same.
    pub(crate) fn diagonal(&self, first: usize, second: usize) -> Result<Self> {
        let (first, second) =
            (axis("diagonal", first as isize, self.rank())?, axis("diagonal", second as isize, self.rank())?);
        if first == second {
            return Err(Error::shape("diagonal", format_args!("axis {first} comes twice")));
        }
        let value = diagonal_view(movable("diagonal", self)?.as_ref(), first, second)?;
        let shape = self.shape().to_vec();
        // The gradient lies on the diagonal of zeros.
        Ok(record("diagonal", [self], value, |_| {
            move |gradient: Value| {
                let mut zeros = Value::zeros(&shape, gradient.dtype())?;
                let target = diagonal_view(&zeros, first, second)?.layout().clone();
                write_strided(&mut zeros, &target, &gradient.contiguous())?;
                Ok([Some(zeros)])
            }
        }))
    }
}

fn diagonal_view(value: &Value, first: usize, second: usize) -> Result<Value> {
    let layout = value.layout();
    let (mut shape, mut strides) = (layout.shape().to_vec(), layout.strides().to_vec());
    let size = shape[first].min(shape[second]);
    let stride = strides[first] + strides[second];
    for axis in [first.max(second), first.min(second)] {
        shape.remove(axis);
        strides.remove(axis);
    }
    shape.push(size);
    strides.push(stride);
    let layout = Layout::from_parts(&shape, &strides, layout.offset());
    Ok(value.with_layout(layout.map_err(|error| Error::shape("diagonal", error))?))
}

/// Writes elements to the places of a layout in memory that nobody else holds.
fn write_strided(target: &mut Value, layout: &Layout, elements: &Value) -> Result<()> {
    use crate::kernels::strided::Odometer;
    let axes = layout.merged();
    crate::dispatch_bits!(elements.dtype().size().unwrap_or(1), T => {
        let source = elements.as_slice::<T>().expect("contiguous");
        let out = target.try_mut::<T>().expect("new memory");
        let mut place = Odometer::new(&axes, layout.offset(), 0);
        for &element in source {
            out[place.position()] = element;
            place.advance();
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(shape: &[usize]) -> Tensor {
        let data: Vec<f64> = (0..shape.iter().product()).map(|i: usize| i as f64).collect();
        Tensor::from(Value::from_slice(&data, shape).unwrap())
    }

    fn result(equation: &str, operands: &[&Tensor]) -> (Vec<usize>, Vec<f64>) {
        let result = einsum(equation, operands).unwrap();
        (result.shape().to_vec(), result.value().contiguous().as_slice::<f64>().unwrap().to_vec())
    }

    /// Equation, operands, shape and elements of the result.
    type Case<'a> = (&'a str, &'a [&'a Tensor], &'a [usize], &'a [f64]);

    #[test]
    fn an_equation_says_what_is_multiplied_and_summed() {
        let (a, b, c) = (counting(&[2, 2]), counting(&[2, 1]), counting(&[2, 2, 2]));
        let cases: [Case<'_>; 9] = [
            ("ij->ji", &[&a], &[2, 2], &[0.0, 2.0, 1.0, 3.0]),
            ("ii", &[&a], &[1], &[3.0]),
            ("ii->i", &[&a], &[2], &[0.0, 3.0]),
            ("ij->", &[&a], &[1], &[6.0]),
            ("ij,ij->ij", &[&a, &b], &[2, 2], &[0.0, 0.0, 2.0, 3.0]),
            ("ij,jk", &[&a, &a], &[2, 2], &[2.0, 3.0, 6.0, 11.0]),
            ("ba,Ba", &[&a, &a], &[2, 2], &[1.0, 3.0, 3.0, 13.0]),
            ("...j,j->...", &[&c, &counting(&[2])], &[2, 2], &[1.0, 3.0, 5.0, 7.0]),
            ("i j , j k , k -> i", &[&a, &a, &counting(&[2])], &[2], &[3.0, 11.0]),
        ];
        for (equation, operands, shape, data) in cases {
            assert_eq!(result(equation, operands), (shape.to_vec(), data.to_vec()), "{equation}");
        }
    }

    #[test]
    fn sizes_of_0_give_zeros_or_nothing() {
        let empty = counting(&[2, 0]);
        assert_eq!(result("ij,jk->ik", &[&empty, &counting(&[0, 3])]), (vec![2, 3], vec![0.0; 6]));
        assert_eq!(result("ij->j", &[&empty]), (vec![0], vec![]));
    }

    #[test]
    fn equations_that_make_no_sense_are_refused() {
        let a = counting(&[2, 3]);
        for equation in ["ij,jk", "ijk", "i", "i1->i", "ij->ijk", "ij->ii", "i...j...", "ij->i->j", ""] {
            assert!(einsum(equation, &[&a]).is_err(), "{equation:?}");
        }
        assert!(einsum("ij,ij->i", &[&a, &counting(&[2, 4])]).is_err());
        assert!(einsum("", &[]).is_err());
    }

    #[test]
    fn a_diagonal_gives_its_gradient_back_to_the_diagonal() {
        let x = counting(&[2, 2]).autodiff().require_grad().unwrap();
        let grads = einsum("ii->i", &[&x]).unwrap().mul(&counting(&[2])).unwrap().backward().unwrap();
        assert_eq!(x.grad(&grads).unwrap().contiguous().as_slice::<f64>(), Some(&[0.0, 0.0, 0.0, 1.0][..]));
    }
}
