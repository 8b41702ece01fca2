//! Central differences of doubles beside gradients.

use burnpy_tensor::{DType, Result, Tensor};
use proptest::prelude::*;

use crate::array::{Array, Tested, Way, array, tensor};
use crate::cases::{Case, hash};

/// An operation of leaves.
pub(crate) type Run<'a> = &'a dyn Fn(&[Tensor]) -> Result<Tensor>;

/// Doubles without ties and away from 0 and from whole numbers, where functions have their corners.
pub(crate) fn smooth(case: &Case) -> Array<f64> {
    let count = case.shape.iter().product::<usize>().max(1);
    let (labels, own) = (
        case.labels(),
        Case { way: Way { repeats: vec![false; case.shape.len()], ..case.way.clone() }, ..case.clone() },
    );
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&i| hash(own.seed, i));
    let spread = |rank: usize| 0.21 + 1.5 * rank as f64 / count as f64;
    let mut data =
        order.iter().enumerate().map(|(i, &rank)| if i % 2 == 0 { spread(rank) } else { -spread(rank) });
    labels.map(|_| data.next().unwrap())
}

/// The tensor of the case, without axes that repeat: its elements are varied one by one.
fn leaf(case: &Case, a: &Array<f64>, dtype: DType) -> Tensor {
    let way = Way { repeats: vec![false; a.shape.len()], ..case.way.clone() };
    tensor(a, &way, dtype)
}

fn weights(shape: &[usize]) -> Array<f64> {
    let mut i = 0;
    Array::from_fn(shape, |_| {
        i += 1;
        0.5 + (hash(11, i) % 7) as f64 * 0.25
    })
}

fn gradients(cases: &[Case], arrays: &[Array<f64>], dtype: DType, run: Run<'_>) -> Result<Vec<Array<f64>>> {
    let leaves = cases.iter().zip(arrays).map(|(case, a)| leaf(case, a, dtype).autodiff().require_grad());
    let leaves = leaves.collect::<Result<Vec<_>>>()?;
    let output = run(&leaves)?;
    let weights = weights(output.shape());
    let weights = tensor(&weights, &Way::plain(weights.shape.len()), dtype);
    let grads = output.mul(&weights)?.backward()?;
    Ok(leaves
        .iter()
        .map(|leaf| {
            let found = Tensor::from(leaf.grad(&grads).expect("a gradient").clone());
            assert_eq!((found.dtype(), found.shape()), (dtype, leaf.shape()));
            array(&found)
        })
        .collect())
}

fn close(name: &str, found: &Array<f64>, expected: &Array<f64>, tolerance: f64) -> Tested {
    for (i, (a, b)) in found.data.iter().zip(&expected.data).enumerate() {
        prop_assert!(
            (a - b).abs() <= tolerance * (1.0 + b.abs()),
            "{}: gradient {} of element {}, expected {}",
            name,
            a,
            i,
            b
        );
    }
    Ok(())
}

/// Holds the gradients of a weighted sum of the output to differences, and those of narrow floats to those of doubles.
pub(crate) fn check(name: &str, cases: &[Case], arrays: &[Array<f64>], run: Run<'_>) -> Tested {
    let loss = |arrays: &[Array<f64>]| {
        let inputs: Vec<Tensor> =
            cases.iter().zip(arrays).map(|(case, a)| leaf(case, a, DType::F64)).collect();
        let output = array::<f64>(&run(&inputs).unwrap());
        output.data.iter().zip(&weights(&output.shape).data).map(|(y, w)| y * w).sum::<f64>()
    };
    let found = gradients(cases, arrays, DType::F64, run);
    prop_assert!(found.is_ok(), "{}: {:?}", name, found.err());
    let found = found.unwrap();
    for (i, found) in found.iter().enumerate() {
        let mut moved = arrays.to_vec();
        let mut expected = arrays[i].clone();
        for k in 0..expected.data.len() {
            let x = arrays[i].data[k];
            moved[i].data[k] = x + 1e-5;
            let above = loss(&moved);
            moved[i].data[k] = x - 1e-5;
            expected.data[k] = (above - loss(&moved)) / 2e-5;
            moved[i].data[k] = x;
        }
        close(name, found, &expected, 1e-5)?;
    }
    // The same in narrow floats, which round a few times.
    for (dtype, tolerance) in [(DType::F32, 1e-3), (DType::BF16, 0.1), (DType::F16, 0.02)] {
        let narrow: Vec<Array<f64>> =
            arrays.iter().map(|a| a.map(|x| crate::array::rounded(x, DType::BF16))).collect();
        let wide = gradients(cases, &narrow, DType::F64, run).unwrap();
        for (found, wide) in gradients(cases, &narrow, dtype, run).unwrap().iter().zip(&wide) {
            prop_assert_eq!(found.shape.as_slice(), wide.shape.as_slice());
            close(&format!("{name} {}", dtype.name()), found, wide, tolerance)?;
        }
    }
    Ok(())
}
