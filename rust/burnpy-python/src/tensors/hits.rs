//! How many rows a classifier got right, for the metrics of the training loop: one call, and no tensor for Python.

use burnpy_buffer::DType;
use burnpy_tensor::ops::{INT, Scalar};
use burnpy_tensor::{Error, Result, Tensor};
use pyo3::prelude::*;

use super::gate;
use super::number::Number;
use super::tensor::PyTensor;

/// Rows whose target is the best class (the first of equals), or among the ``k`` best, and the rows that count.
///
/// Args:
///     outputs: ``(batch, classes)``.
///     targets: int ``(batch,)``.
///     k: how many classes are looked at, as ``argtopk`` finds them; the one of ``argmax`` without.
///     pad_token: rows with this target do not count.
#[pyfunction]
#[pyo3(signature = (outputs, targets, *, k=None, pad_token=None))]
pub(crate) fn count_hits(
    py: Python<'_>,
    outputs: &Bound<'_, PyTensor>,
    targets: &Bound<'_, PyTensor>,
    k: Option<usize>,
    pad_token: Option<Number>,
) -> PyResult<(usize, usize)> {
    let (outputs, targets) = (&outputs.get().0, &targets.get().0);
    gate::run(py, outputs.num_elements(), || hits(outputs, targets, k, pad_token.map(|number| number.0)))
}

fn hits(outputs: &Tensor, targets: &Tensor, k: Option<usize>, pad: Option<Scalar>) -> Result<(usize, usize)> {
    let (found, given) = (outputs.shape(), targets.shape());
    if found.len() != 2 || given != &found[..1] {
        let message =
            format_args!("outputs {found:?} and targets {given:?} are not (batch, classes) and (batch,)");
        return Err(Error::shape("count_hits", message));
    }
    if k.is_none()
        && pad.is_none()
        && let Some(right) = plain_hits(outputs, targets)
    {
        return Ok((right, given[0]));
    }
    let best = match k {
        None => outputs.argmax(1)?,
        Some(k) => outputs.argtopk(k, 1)?,
    };
    let (best, wanted) = (best.value().contiguous(), targets.cast(INT)?.value().contiguous());
    let (best, wanted) =
        (best.as_slice::<i32>().expect("contiguous"), wanted.as_slice::<i32>().expect("contiguous"));
    let counted =
        pad.map(|pad| targets.not_equal_scalar(pad)).transpose()?.map(|mask| mask.value().contiguous());
    let counted = counted.as_ref().map(|mask| mask.as_slice::<u8>().expect("contiguous"));
    let counts = |row: usize| counted.is_none_or(|counted| counted[row] != 0);
    let rows = best.chunks_exact(k.unwrap_or(1).max(1)).zip(wanted).enumerate();
    let right = rows.filter(|&(row, (best, wanted))| counts(row) && best.contains(wanted)).count();
    Ok((right, (0..wanted.len()).filter(|&row| counts(row)).count()))
}

/// Hits of `f32` scores that lie in order, as mostly, without a tensor on the way.
fn plain_hits(outputs: &Tensor, targets: &Tensor) -> Option<usize> {
    let scores = outputs.value().as_slice().filter(|_| outputs.dtype() == DType::F32)?;
    match targets.dtype() {
        DType::I32 => hits_of(scores, targets.value().as_slice::<i32>()?),
        DType::I64 => hits_of(scores, targets.value().as_slice::<i64>()?),
        _ => None,
    }
}

fn hits_of<T: Copy + Into<i64>>(scores: &[f32], wanted: &[T]) -> Option<usize> {
    let classes = scores.len().checked_div(wanted.len()).filter(|&classes| classes > 0)?;
    let rows = scores.chunks_exact(classes).zip(wanted);
    Some(rows.filter(|&(row, &wanted)| first_best(row) as i64 == wanted.into()).count())
}

/// Where the first of the largest is, or the first NaN, which wins: as `argmax`.
fn first_best(row: &[f32]) -> usize {
    let mut best = 0;
    for (i, &x) in row.iter().enumerate() {
        if x > row[best] || (x.is_nan() && !row[best].is_nan()) {
            best = i;
        }
    }
    best
}
