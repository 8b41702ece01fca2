//! The softmax family and norms, along any axis.

use burnpy_tensor::{DType, Result, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

use crate::array::{Tested, nearly, nearly_beside, of_sum, total};
use crate::cases::{FLOATS, case_and_axis, case_of, config, shape};

/// What a row of numbers below its largest adds up to.
fn shares(row: &[f64], extra: f64) -> Vec<f64> {
    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let top = if extra > 0.0 { top.max(0.0) } else { top };
    let powers: Vec<f64> = row.iter().map(|x| (x - top).exp()).collect();
    let sum: f64 = total(powers.iter().copied()) + extra * (-top).exp();
    powers.iter().map(|power| power / sum).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn softmax_and_its_relatives((case, axis) in case_and_axis(select(&FLOATS[..])), sharp in any::<bool>()) {
        // Also where powers of e overflow, and now and then with a NaN or an infinity.
        let factor = if sharp { 64.0 } else { 1.0 };
        let a = case.quarters().map(|x| x * factor);
        let (x, dim, dtype, len) = (case.tensor(&a), axis as isize, case.dtype, case.shape[axis]);
        let check =
            |name: &str, found: Result<Tensor>, ulps: f64, f: &dyn Fn(&[f64]) -> Vec<f64>| -> Tested {
                nearly(name, &found.unwrap(), dtype, &a.with_rows(axis, len, f), ulps)
            };
        let negative = |row: &[f64]| row.iter().map(|x| -x).collect::<Vec<_>>();
        let ulps = of_sum(dtype, len) + 16.0;
        check("softmax", x.softmax(dim), ulps, &|row| shares(row, 0.0))?;
        check("softmin", x.softmin(dim), ulps, &|row| shares(&negative(row), 0.0))?;
        check("quiet_softmax", x.quiet_softmax(dim), ulps, &|row| shares(row, 1.0))?;
        let logarithms = a.with_rows(axis, len, |row| {
            let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum = total(row.iter().map(|x| (x - top).exp()));
            row.iter().map(|x| x - top - sum.ln()).collect()
        });
        // Near 0 what is left of a difference.
        nearly_beside("log_softmax", &x.log_softmax(dim).unwrap(), dtype, &logarithms, (ulps, 8.0 * factor))?;
    }

    #[test]
    fn norms_along_an_axis(
        (case, axis) in case_and_axis(select(&FLOATS[..])),
        p in select(&[0.0, 1.0, 2.0, 3.0, 0.5, f64::INFINITY, f64::NEG_INFINITY][..]),
    ) {
        prop_assume!(case.shape[axis] > 0);
        let a = case.finite();
        let (x, dim, dtype) = (case.tensor(&a), axis as isize, case.dtype);
        let norm = |row: &[f64]| {
            let sizes = row.iter().map(|x| x.abs());
            match p {
                0.0 => sizes.filter(|&x| x != 0.0).count() as f64,
                f64::INFINITY => sizes.fold(0.0, f64::max),
                f64::NEG_INFINITY => sizes.fold(f64::INFINITY, f64::min),
                _ => total(sizes.map(|x| x.powf(p))).powf(1.0 / p),
            }
        };
        let half = matches!(dtype, DType::F16 | DType::BF16);
        // The root has as many times the sum's error as its exponent says, 2 at most.
        let ulps = if half { 16.0 } else { 64.0 } + 2.0 * of_sum(dtype, case.shape[axis]);
        // In half precision the sum of powers is rounded, and may be too large, before the root is taken.
        let too_large =
            |row: &[f64]| dtype == DType::F16 && row.iter().map(|x| x.abs().powf(p)).sum::<f64>() > 60000.0;
        let mut large = false;
        let norms = a.rows(&[axis], |row| {
            large |= too_large(row);
            norm(row)
        });
        if !large {
            nearly("vector_norm", &x.vector_norm(p, dim).unwrap(), dtype, &norms, ulps)?;
        }
    }

    #[test]
    fn layer_norm_and_rms_norm_are_their_formulas((case, gamma, beta) in normed()) {
        let (a, g, b, dtype) = (case.finite(), gamma.finite(), beta.finite(), case.dtype);
        let (x, gamma, beta) = (case.tensor(&a), gamma.tensor(&g), beta.tensor(&b));
        let (axis, len) = (a.shape.len() - 1, g.data.len());
        // Numbers up to 64, four times the scale, that a root divides, which has half the error of the sum of squares.
        let ulps = 2.0 * of_sum(dtype, len) + 32.0;
        let scaled = |row: &[f64], mean: f64, b: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let square = total(row.iter().map(|x| (x - mean) * (x - mean))) / len as f64;
            row.iter()
                .enumerate()
                .map(|(i, x)| (x - mean) / (square + 0.5).sqrt() * g.data[i] + b(i))
                .collect()
        };
        let expected = a
            .with_rows(axis, len, |row| scaled(row, total(row.iter().copied()) / len as f64, &|i| b.data[i]));
        nearly_beside(
            "layer_norm",
            &x.layer_norm(&gamma, Some(&beta), 0.5).unwrap(),
            dtype,
            &expected,
            (ulps, 16.0),
        )?;
        let expected = a.with_rows(axis, len, |row| scaled(row, 0.0, &|_| 0.0));
        nearly("rms_norm", &x.rms_norm(&gamma, 0.5).unwrap(), dtype, &expected, ulps)?;
    }
}

fn normed() -> impl Strategy<Value = (crate::cases::Case, crate::cases::Case, crate::cases::Case)> {
    let shape = shape().prop_filter("has axes", |shape| shape.last().is_some_and(|&size| size > 0));
    (shape, select(&FLOATS[..])).prop_flat_map(|(shape, dtype)| {
        let last = vec![shape[shape.len() - 1]];
        (case_of(shape, dtype), case_of(last.clone(), dtype), case_of(last, dtype))
    })
}
