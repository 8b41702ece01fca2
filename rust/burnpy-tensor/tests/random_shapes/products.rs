//! Products of matrices and vectors, and sums of products with an index for each axis.

use burnpy_tensor::kernels::gemm::Activation;
use burnpy_tensor::ops::einsum;
use burnpy_tensor::{DType, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

use crate::array::{Array, each_index, exactly, rounded};
use crate::cases::{Case, FLOATS, INTS, case_of, config, hash, joint, wrap};

/// Sizes about the lanes and blocks of a product's kernels.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![2 => Just(0usize), 4 => Just(1), 14 => 2usize..10, 4 => 10usize..70, 1 => 70usize..150]
}

/// Two cases of matrices with joint inner sizes, whose batches broadcast.
fn matrices(dtypes: &'static [DType]) -> impl Strategy<Value = (Case, Case)> {
    let batch = prop::collection::vec((prop_oneof![1 => Just(0usize), 9 => 1usize..4], 0u8..6), 0..3);
    (batch, (size(), size(), size()), select(dtypes), 0usize..3).prop_flat_map(
        |(batch, (m, k, n), dtype, drop)| {
            let sizes = |one: u8| batch.iter().map(move |&(size, kind)| if kind == one { 1 } else { size });
            let a: Vec<usize> = sizes(0).chain([m, k]).collect();
            let b: Vec<usize> =
                sizes(1).skip(if drop == 0 { batch.len() } else { 0 }).chain([k, n]).collect();
            (case_of(a, dtype), case_of(b, dtype))
        },
    )
}

fn product<N: Copy>(
    a: &Array<N>,
    b: &Array<N>,
    f: impl Fn(&mut dyn Iterator<Item = (N, N)>) -> N,
) -> Array<N> {
    let (ra, rb) = (a.shape.len(), b.shape.len());
    let (m, k, n) = (a.shape[ra - 2], a.shape[ra - 1], b.shape[rb - 1]);
    let batch = joint(&a.shape[..ra - 2], &b.shape[..rb - 2]);
    Array::from_fn(&[&batch[..], &[m, n]].concat(), |index| {
        let (lead, at) = index.split_at(batch.len());
        let at_a = |i| a.spread(&[lead, &[at[0], i]].concat());
        let at_b = |i| b.spread(&[lead, &[i, at[1]]].concat());
        f(&mut (0..k).map(|i| (at_a(i), at_b(i))))
    })
}

fn of_floats(dtype: DType) -> impl Fn(&mut dyn Iterator<Item = (f64, f64)>) -> f64 {
    move |pairs| rounded(pairs.map(|(a, b)| a * b).sum::<f64>(), dtype)
}

fn of_integers(dtype: DType) -> impl Fn(&mut dyn Iterator<Item = (i128, i128)>) -> i128 {
    move |pairs| wrap(pairs.fold(0i128, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(b))), dtype)
}

/// An equation's terms as letters, its result, and the size of each letter.
#[derive(Debug, Clone)]
struct Equation {
    terms: Vec<Vec<usize>>,
    result: Vec<usize>,
    sizes: Vec<usize>,
}

fn equation() -> impl Strategy<Value = Equation> {
    let terms = prop::collection::vec(prop::collection::vec(0usize..5, 0..4), 1..4);
    let sizes = prop::collection::vec(prop_oneof![1 => Just(0usize), 3 => Just(1), 12 => 2usize..5], 5);
    (terms, sizes, any::<u8>(), Just((0usize..5).collect::<Vec<_>>()).prop_shuffle()).prop_map(
        |(terms, sizes, bits, order)| {
            let used = |letter: &usize| terms.iter().any(|term| term.contains(letter));
            let result = order.into_iter().filter(|letter| bits >> letter & 1 == 1 && used(letter)).collect();
            Equation { terms, result, sizes }
        },
    )
}

impl Equation {
    fn text(&self) -> String {
        let letters =
            |term: &Vec<usize>| term.iter().map(|&letter| (b'a' + letter as u8) as char).collect::<String>();
        let terms: Vec<String> = self.terms.iter().map(letters).collect();
        format!("{}->{}", terms.join(","), letters(&self.result))
    }

    fn shape(&self, term: &[usize]) -> Vec<usize> {
        term.iter().map(|&letter| self.sizes[letter]).collect()
    }

    /// The sum over all letters that the result does not have.
    fn value(&self, operands: &[Array<f64>]) -> Array<f64> {
        let shape = self.shape(&self.result);
        let used = |letter: usize| self.terms.iter().any(|term| term.contains(&letter));
        let gone: Vec<usize> = (0..5)
            .map(|letter| if used(letter) && !self.result.contains(&letter) { self.sizes[letter] } else { 1 })
            .collect();
        let mut sums = Array::from_fn(&shape, |index| {
            let (mut at, mut sum) = (vec![0; 5], 0.0);
            each_index(&gone, |rest| {
                at.copy_from_slice(rest);
                self.result.iter().zip(index).for_each(|(&letter, &i)| at[letter] = i);
                let element = |(term, operand): (&Vec<usize>, &Array<f64>)| {
                    operand.at(&term.iter().map(|&letter| at[letter]).collect::<Vec<_>>())
                };
                sum += self.terms.iter().zip(operands).map(element).product::<f64>();
            });
            sum
        });
        if shape.is_empty() {
            sums.shape = vec![1];
        }
        sums
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn products_of_floats((a_case, b_case) in matrices(&FLOATS)) {
        let (a, b, dtype) = (a_case.quarters(), b_case.quarters(), a_case.dtype);
        let (x, y) = (a_case.tensor(&a), b_case.tensor(&b));
        let expected = product(&a, &b, of_floats(dtype));
        exactly("matmul", &x.matmul(&y).unwrap(), dtype, &expected)?;
        let turned = y.transpose().unwrap().contiguous().transpose().unwrap();
        exactly("matmul of a transpose", &x.matmul(&turned).unwrap(), dtype, &expected)?;
        if b.shape.len() == 2 && a.shape.len() > 1 {
            for activation in [Activation::None, Activation::Relu] {
                let bias = Case {
                    shape: vec![b.shape[1]],
                    way: crate::array::Way::plain(1),
                    dtype,
                    seed: a_case.seed ^ 1,
                };
                let c = bias.finite();
                let wide = product(&a, &b, of_floats(DType::F64));
                let expected = Array::from_fn(&wide.shape, |index| {
                    let y = wide.at(index) + c.data[index[index.len() - 1]];
                    rounded(if activation == Activation::Relu && y < 0.0 { 0.0 } else { y }, dtype)
                });
                exactly(
                    "linear",
                    &x.linear(&y, Some(&bias.tensor(&c)), activation).unwrap(),
                    dtype,
                    &expected,
                )?;
            }
            exactly("linear", &x.linear(&y, None, Activation::None).unwrap(), dtype, &expected)?;
        }
    }

    #[test]
    fn products_of_integers_wrap_around((a_case, b_case) in matrices(&INTS)) {
        let (a, b, dtype) = (a_case.integers(), b_case.integers(), a_case.dtype);
        let (x, y) = (a_case.tensor(&a), b_case.tensor(&b));
        exactly("matmul", &x.matmul(&y).unwrap(), dtype, &product(&a, &b, of_integers(dtype)))?;
    }

    #[test]
    fn products_with_vectors((a_case, b_case) in matrices(&FLOATS)) {
        let (a, b, dtype) = (a_case.quarters(), b_case.quarters(), a_case.dtype);
        let (x, y) = (a_case.tensor(&a), b_case.tensor(&b));
        let column = |array: &Array<f64>, last: usize| {
            let mut column = Array::from_fn(&array.shape[..last], |index| array.at(&[index, &[0]].concat()));
            column.shape.truncate(last);
            column
        };
        if *b.shape.last().unwrap() > 0 {
            let vector = column(&b, b.shape.len() - 1);
            let found = x.matvec(&y.select_dim(-1, 0).unwrap());
            let as_matrix = Array { shape: [&vector.shape[..], &[1]].concat(), data: vector.data.clone() };
            let expected = product(&a, &as_matrix, of_floats(dtype));
            let shape = expected.shape[..expected.shape.len() - 1].to_vec();
            exactly("matvec", &found.unwrap(), dtype, &Array { shape, data: expected.data })?;
        }
        let (row, other) = (x.flatten(0, -1).unwrap(), x.flatten(0, -1).unwrap().flip(&[0]).unwrap());
        let dot = rounded(a.data.iter().zip(a.data.iter().rev()).map(|(a, b)| a * b).sum(), dtype);
        exactly("dot", &row.dot(&other).unwrap(), dtype, &Array { shape: vec![1], data: vec![dot] })?;
        let (n, m) = (b.data.len().min(40), a.data.len().min(40));
        let (u, v) = (
            row.slice_dim(0, burnpy_tensor::ops::Slice::range(0, m as isize)).unwrap(),
            y.flatten(0, -1).unwrap().slice_dim(0, burnpy_tensor::ops::Slice::range(0, n as isize)).unwrap(),
        );
        let expected = Array::from_fn(&[m, n], |index| rounded(a.data[index[0]] * b.data[index[1]], dtype));
        exactly("outer", &u.outer(&v).unwrap(), dtype, &expected)?;
    }

    #[test]
    fn sums_of_products_by_letters(
        equation in equation(),
        dtype in select(&[DType::F64, DType::F32, DType::BF16, DType::I32, DType::U8][..]),
        seed in any::<u64>(),
    ) {
        let cases = equation.terms.iter().enumerate().map(|(i, term)| {
            let shape = equation.shape(term);
            Case { way: crate::array::Way::plain(shape.len()), shape, dtype, seed: hash(seed, i) }
        });
        let (mut tensors, mut arrays) = (Vec::new(), Vec::new());
        for case in cases {
            // Small whole numbers: their sums are below 256, which all of the dtypes hold.
            let a = case.labels().map(|x| (x % 2) as f64);
            tensors.push(case.tensor(&a));
            arrays.push(a);
        }
        let expected = equation.value(&arrays);
        prop_assume!(expected.data.iter().all(|&x| x < 256.0));
        let operands: Vec<&Tensor> = tensors.iter().collect();
        let text = equation.text();
        let found = einsum(&text, &operands);
        prop_assert!(found.is_ok(), "{}: {:?}", text, found.err());
        exactly(&text, &found.unwrap(), dtype, &expected)?;
    }

    #[test]
    fn inner_sizes_that_differ_are_errors((m, k, l, n) in (size(), size(), size(), size())) {
        let checked = |shape: &[usize]| Tensor::ones(shape, DType::F32).unwrap();
        let found = checked(&[m, k]).matmul(&checked(&[l, n]));
        prop_assert_eq!(found.is_ok(), k == l);
    }
}
