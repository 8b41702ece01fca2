//! Scaled dot-product attention.

use burnpy_buffer::{DType, Layout};

use super::broadcast::{Shape, same_dtype, sum_to, typed};
use super::half::via_f32;
use super::matmul::matrix;
use crate::autodiff::record_many;
use crate::dispatch_float;
use crate::element::{BOOL, Element};
use crate::error::{Error, Result};
use crate::kernels::attention::{AttentionElement, Gradients, Head, RowStats, Scoring, Sizes};
use crate::kernels::gemm::MatRef;
use crate::parallel;
use crate::tensor::Tensor;
use crate::value::Value;

/// How attention scores are made.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AttentionOptions {
    /// The factor of the products of queries and keys; 1/√width if none.
    pub scale: Option<f64>,
    /// `c`: scores become `c tanh(s / c)`, before bias and mask.
    pub softcap: Option<f64>,
    /// Whether query `i` sees keys up to `i + keys − queries` only.
    pub is_causal: bool,
}

impl Tensor {
    /// `softmax(scale · Q·Kᵀ + bias) · V`, with `self` the queries `[batch, heads, queries, width]`, keys
    /// `[batch, heads, keys, width]` and values `[batch, heads, keys, size]`. Scores are never kept as a whole.
    ///
    /// `mask` (true hides a key) and `bias` broadcast to `[batch, heads, queries, keys]`. A query from which all keys
    /// are hidden gets 0. In memory the result is `[batch, queries, heads, size]`, so that heads join without a copy.
    ///
    /// # Errors
    /// `Shape` if they do not fit, `DType` if the mask is no bool or the others are not floats of one dtype,
    /// `Argument` if the cap is not above 0.
    pub fn attention(
        &self,
        key: &Self,
        value: &Self,
        mask: Option<&Self>,
        bias: Option<&Self>,
        options: &AttentionOptions,
    ) -> Result<Self> {
        via_f32([self, key, value, bias.unwrap_or(self)], |[query, key, value, last]| {
            let bias = bias.map(|_| last);
            dispatch_float!(query.dtype(), T => attend::<T>([query, key, value], mask, bias, options), else => {
                let name = query.dtype().name();
                Err(Error::dtype("attention", format_args!("needs floats, got {name}")))
            })
        })
    }
}

/// The operands of all heads.
struct Problem {
    query: Value,
    key: Value,
    value: Value,
    mask: Option<Value>,
    bias: Option<Value>,
    batch: usize,
    heads: usize,
    sizes: Sizes,
    scoring: Scoring,
}

fn fail(message: std::fmt::Arguments<'_>) -> Error {
    Error::shape("attention", message)
}

impl Problem {
    fn new(
        operands: [&Tensor; 3],
        mask: Option<&Tensor>,
        bias: Option<&Tensor>,
        options: &AttentionOptions,
    ) -> Result<Self> {
        let [query, key, value] = operands.map(Tensor::value);
        same_dtype("attention", query, key)?;
        same_dtype("attention", query, value)?;
        let shapes = (query.shape(), key.shape(), value.shape());
        let (&[batch, heads, queries, width], &[_, _, keys, _], &[_, _, _, values]) = shapes else {
            return Err(fail(format_args!("needs 4 axes each, got shapes {shapes:?}")));
        };
        if *key.shape() != [batch, heads, keys, width] || *value.shape() != [batch, heads, keys, values] {
            return Err(fail(format_args!("shapes {shapes:?} of queries, keys and values do not fit")));
        }
        if let Some(cap) = options.softcap.filter(|&cap| cap.is_nan() || cap <= 0.0) {
            return Err(Error::argument("attention", format_args!("softcap must be above 0, got {cap}")));
        }
        let full = [batch, heads, queries, keys];
        let spread = |of: Option<&Tensor>, dtype: DType| {
            let spread = |of: &Tensor| {
                if of.dtype() != dtype {
                    let (wanted, found) = (dtype.name(), of.dtype().name());
                    return Err(Error::dtype("attention", format_args!("needs {wanted}, got {found}")));
                }
                let spread = of.value().broadcast_to(&full);
                spread.ok_or_else(|| {
                    fail(format_args!("shape {:?} does not broadcast to {full:?}", of.shape()))
                })
            };
            of.map(spread).transpose()
        };
        let scale = options.scale.unwrap_or(1.0 / (width as f64).sqrt());
        Ok(Self {
            mask: spread(mask, BOOL)?,
            bias: spread(bias, query.dtype())?,
            query: query.clone(),
            key: key.clone(),
            value: value.clone(),
            batch,
            heads,
            sizes: Sizes { queries, keys, width, values },
            scoring: Scoring { scale, softcap: options.softcap, causal: options.is_causal },
        })
    }

    fn head<T: AttentionElement + Element>(&self, batch: usize, head: usize) -> Result<Head<'_, T>> {
        let at = |value: &Value| {
            let strides = value.layout().strides();
            batch as isize * strides[0] + head as isize * strides[1]
        };
        let of = |value| -> Result<MatRef<'_, T>> { Ok(moved(matrix("attention", value)?, at(value))) };
        let mask = self.mask.as_ref().map(|mask| {
            let strides = mask.layout().strides();
            let flags = typed::<u8>("attention", mask)?;
            Ok(moved(MatRef::new(flags, mask.layout().offset(), strides[2], strides[3]), at(mask)))
        });
        Ok(Head {
            query: of(&self.query)?,
            key: of(&self.key)?,
            value: of(&self.value)?,
            mask: mask.transpose()?,
            bias: self.bias.as_ref().map(of).transpose()?,
            sizes: self.sizes,
            scoring: self.scoring,
        })
    }

    fn all_heads<T: AttentionElement + Element>(&self) -> Result<Vec<Head<'_, T>>> {
        (0..self.batch * self.heads).map(|i| self.head(i / self.heads, i % self.heads)).collect()
    }

    /// `[batch, rows, heads, columns]` in memory, seen as `[batch, heads, rows, columns]`.
    fn by_heads(&self, value: &Value) -> Value {
        value.permuted(&[0, 2, 1, 3])
    }

    /// O, and what the gradient needs of each row.
    fn forward<T: AttentionElement + Element>(&self, dtype: DType) -> Result<(Value, Vec<RowStats<T>>)> {
        let (heads, Sizes { queries, values, .. }) = (self.heads, self.sizes);
        let all = self.all_heads::<T>()?;
        let mut stats = vec![[<T as Element>::ZERO; 2]; self.batch * queries * heads];
        let rows = self.sizes.block_rows::<T>();
        let row = heads * values;
        let value = Value::build_as(dtype, &[self.batch, queries, heads, values], |out: &mut [T]| {
            if out.is_empty() {
                return;
            }
            parallel::chunks_mut2(
                (out, queries * row),
                (&mut stats, queries * heads),
                |batch, out, stats| {
                    parallel::chunks_mut2((out, rows * row), (stats, rows * heads), |block, out, stats| {
                        for head in 0..heads {
                            let (out, stats) = (&mut out[head * values..], &mut stats[head..]);
                            all[batch * heads + head].forward(block * rows, (out, row), (stats, heads));
                        }
                    });
                },
            );
        })?;
        Ok((self.by_heads(&value), stats))
    }

    /// dQ, dK, dV, and dbias in the shape of the scores if wanted.
    fn backward<T: AttentionElement + Element>(
        &self,
        gradient: &Value,
        stats: &[RowStats<T>],
        wants_bias: bool,
    ) -> Result<[Value; 4]> {
        let (batch, heads, Sizes { queries, keys, width, values }) = (self.batch, self.heads, self.sizes);
        let all = self.all_heads::<T>()?;
        let scores = if wants_bias { queries * keys } else { 0 };
        let parts = [queries * width, keys * width, keys * values, scores].map(|part| part * heads);
        let each: usize = parts.iter().sum();
        let strides = gradient.layout().strides().to_vec();
        let dy = matrix::<T>("attention", gradient)?;
        // One block for all gradients of an element of the batch: it is a task's own.
        let block = Value::build_as(gradient.dtype(), &[batch, each], |out: &mut [T]| {
            if out.is_empty() {
                return;
            }
            parallel::chunks_mut(out, each, |i, out| {
                out.fill(<T as Element>::ZERO);
                for head in 0..heads {
                    let at = i as isize * strides[0] + head as isize * strides[1];
                    let stats = &stats[i * queries * heads..];
                    self.head_backward(
                        &all[i * heads + head],
                        moved(dy, at),
                        stats,
                        head,
                        (&mut *out, parts),
                    );
                }
            });
        })?;
        let starts = [0, parts[0], parts[0] + parts[1], each - parts[3]];
        let view = |i: usize, shape: [usize; 4], strides: [usize; 3]| {
            let strides: Vec<isize> =
                [each, strides[0], strides[1], strides[2]].map(|stride| stride as isize).to_vec();
            let layout = Layout::from_parts(shape, strides, starts[i]);
            layout.map(|layout| block.with_layout(layout)).map_err(|error| Error::shape("attention", error))
        };
        let by_heads =
            |i, rows, columns| view(i, [batch, heads, rows, columns], [columns, heads * columns, 1]);
        Ok([
            by_heads(0, queries, width)?,
            by_heads(1, keys, width)?,
            by_heads(2, keys, values)?,
            view(3, [batch, heads, queries, if wants_bias { keys } else { 0 }], [queries * keys, keys, 1])?,
        ])
    }

    fn head_backward<T: AttentionElement + Element>(
        &self,
        operands: &Head<'_, T>,
        dy: MatRef<'_, T>,
        stats: &[RowStats<T>],
        head: usize,
        (out, parts): (&mut [T], [usize; 4]),
    ) {
        let (heads, Sizes { queries, keys, width, values }) = (self.heads, self.sizes);
        let (query, rest) = out.split_at_mut(parts[0]);
        let (key, rest) = rest.split_at_mut(parts[1]);
        let (value, bias) = rest.split_at_mut(parts[2]);
        if queries == 0 || keys == 0 || width == 0 || values == 0 {
            return;
        }
        let mut into = Gradients {
            query: &mut query[head * width..],
            query_stride: heads * width,
            key: &mut key[head * width..],
            key_stride: heads * width,
            value: &mut value[head * values..],
            value_stride: heads * values,
            bias: (parts[3] > 0).then(|| &mut bias[head * queries * keys..][..queries * keys]),
        };
        let rows = self.sizes.block_rows::<T>();
        for first in (0..queries).step_by(rows) {
            let rows = rows.min(queries - first);
            let stats = (first..first + rows).map(|row| stats[row * heads + head]);
            operands.backward((first, rows), dy, stats, &mut into);
        }
    }
}

fn moved<T>(matrix: MatRef<'_, T>, by: isize) -> MatRef<'_, T> {
    MatRef { offset: matrix.offset.wrapping_add_signed(by), ..matrix }
}

/// The formulas of the gradient are at [`Head::backward`].
fn attend<T: AttentionElement + Element>(
    operands: [&Tensor; 3],
    mask: Option<&Tensor>,
    bias: Option<&Tensor>,
    options: &AttentionOptions,
) -> Result<Tensor> {
    let problem = Problem::new(operands, mask, bias, options)?;
    let (value, stats) = problem.forward::<T>(operands[0].dtype())?;
    let inputs: Vec<&Tensor> = operands.into_iter().chain(bias).collect();
    Ok(record_many("attention", &inputs, value, || {
        let bias_shape: Option<Shape> = bias.filter(|bias| bias.is_tracked()).map(|bias| bias.shape().into());
        move |gradient: Value, flow| {
            let [query, key, value, scores] =
                problem.backward::<T>(&gradient, &stats, bias_shape.is_some())?;
            flow.give(0, query)?;
            flow.give(1, key)?;
            flow.give(2, value)?;
            bias_shape.map_or(Ok(()), |shape| flow.give(3, sum_to(scores, &shape)?))
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::check::{assert_close, check_gradients, doubles, numbers, tensor};

    /// One batch and head, by the formula.
    fn reference(
        x: [&Value; 3],
        bias: impl Fn(usize, usize) -> f64,
        scale: f64,
        cap: Option<f64>,
    ) -> Vec<f64> {
        let [q, k, v] = x.map(doubles);
        let (d, e) = (x[0].shape()[3], x[2].shape()[3]);
        let rows = q.chunks(d).enumerate().flat_map(|(i, q)| {
            let score = |(j, k): (usize, &[f64])| {
                let s = q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() * scale;
                cap.map_or(s, |cap| cap * (s / cap).tanh()) + bias(i, j)
            };
            let weights: Vec<f64> = k.chunks(d).enumerate().map(score).map(f64::exp).collect();
            let total = weights.iter().sum::<f64>();
            let out = |c: usize| weights.iter().zip(v.chunks(e)).map(|(w, v)| w * v[c]).sum::<f64>();
            (0..e).map(|c| if total == 0.0 { 0.0 } else { out(c) / total }).collect::<Vec<_>>()
        });
        rows.collect()
    }

    const PLAIN: AttentionOptions = AttentionOptions { scale: None, softcap: None, is_causal: false };

    fn hidden(data: &[u8], shape: &[usize]) -> Tensor {
        Value::build_bool(shape, |out| out.copy_from_slice(data)).unwrap().into()
    }

    #[test]
    fn it_is_the_formula() {
        let [q, k, v] = [numbers(&[1, 1, 3, 4], 0), numbers(&[1, 1, 5, 4], 1), numbers(&[1, 1, 5, 2], 2)];
        let [tq, tk, tv] = [&q, &k, &v].map(|x| Tensor::from(x.clone()));
        let low = f64::NEG_INFINITY;
        let causal = |i: usize, j: usize| if j > i + 2 { low } else { 0.0 };
        let bias = numbers(&[1, 1, 3, 5], 7);
        let (table, bias) = (doubles(&bias), Tensor::from(bias));
        let mask = hidden(&[1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0], &[1, 1, 3, 5]);
        let masked = |i: usize, j: usize| if i == 0 || (i == 1 && (j == 1 || j == 4)) { low } else { 0.0 };
        let run =
            |mask, bias, options| doubles(tq.attention(&tk, &tv, mask, bias, &options).unwrap().value());
        let x = [&q, &k, &v];
        assert_close(&run(None, None, PLAIN), &reference(x, |_, _| 0.0, 0.5, None), 1e-13);
        let options = AttentionOptions { scale: Some(0.3), softcap: Some(0.4), ..PLAIN };
        assert_close(&run(None, None, options), &reference(x, |_, _| 0.0, 0.3, Some(0.4)), 1e-13);
        let options = AttentionOptions { is_causal: true, ..PLAIN };
        assert_close(&run(None, None, options), &reference(x, causal, 0.5, None), 1e-13);
        assert_close(
            &run(None, Some(&bias), PLAIN),
            &reference(x, |i, j| table[i * 5 + j], 0.5, None),
            1e-13,
        );
        assert_close(&run(Some(&mask), None, PLAIN), &reference(x, masked, 0.5, None), 1e-13);
    }

    #[test]
    fn gradients_are_central_differences() {
        let inputs = [
            numbers(&[2, 3, 2, 4], 0).permuted(&[0, 2, 1, 3]),
            numbers(&[2, 2, 5, 4], 1),
            numbers(&[2, 2, 5, 3], 2),
            numbers(&[1, 2, 1, 5], 3),
        ];
        let mask = hidden(&[1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0], &[1, 1, 3, 5]);
        for is_causal in [false, true] {
            for softcap in [None, Some(0.7)] {
                let options = AttentionOptions { scale: None, softcap, is_causal };
                let (three, four) = (&inputs[..3], &inputs[..]);
                check_gradients(three, |x| x[0].attention(&x[1], &x[2], None, None, &options));
                check_gradients(four, |x| x[0].attention(&x[1], &x[2], Some(&mask), Some(&x[3]), &options));
            }
        }
    }

    #[test]
    fn blocks_of_queries_and_one_head_alone_agree() {
        let [q, k, v] =
            [numbers(&[1, 2, 300, 8], 0), numbers(&[1, 2, 400, 8], 1), numbers(&[1, 2, 400, 8], 2)];
        let whole = Tensor::from(q.clone())
            .attention(&k.clone().into(), &v.clone().into(), None, None, &PLAIN)
            .unwrap();
        let head = |x: &Value| x.with_layout(x.layout().sliced(1, 1, 1, 1));
        let second = reference([&head(&q), &head(&k), &head(&v)], |_, _| 0.0, 8f64.sqrt().recip(), None);
        assert_close(&doubles(&head(whole.value())), &second, 1e-12);
    }

    #[test]
    fn sizes_of_zero_and_what_does_not_fit() {
        let x = tensor(&[1.0f32; 4], &[1, 1, 2, 2]);
        let none = tensor::<f32>(&[], &[1, 1, 0, 2]);
        let y = x.attention(&none, &none, None, None, &PLAIN).unwrap();
        assert_eq!((y.shape(), doubles(y.value())), (&[1, 1, 2, 2][..], vec![0.0; 4]));
        assert_eq!(none.attention(&x, &x, None, None, &PLAIN).unwrap().shape(), [1, 1, 0, 2]);
        let leaf = none.autodiff().require_grad().unwrap();
        assert!(leaf.attention(&x, &x, None, None, &PLAIN).unwrap().backward().is_ok());
        let message = |result: Result<Tensor>| result.unwrap_err().to_string();
        let other = tensor(&[1.0f32; 6], &[1, 1, 2, 3]);
        assert!(message(x.attention(&other, &x, None, None, &PLAIN)).contains("[1, 1, 2, 3]"));
        assert_eq!(message(x.attention(&x, &x, Some(&x), None, &PLAIN)), "attention: needs bool, got f32");
        let options = AttentionOptions { softcap: Some(0.0), ..PLAIN };
        assert_eq!(
            message(x.attention(&x, &x, None, None, &options)),
            "attention: softcap must be above 0, got 0"
        );
    }
}
