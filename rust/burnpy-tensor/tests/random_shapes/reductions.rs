//! Sums, products, means, variances and extrema, over all axes or some of them, and running ones along an axis.

use burnpy_tensor::ops::INT;
use burnpy_tensor::{BOOL, DType, Result, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

use crate::array::{Array, Tested, exactly, nearly, of_sum, rounded, total};
use crate::cases::{Case, FLOATS, INTS, all_dtypes, case, case_and_axis, config, wrap};
use crate::floats::largest;

/// A case and some of its axes, which may be none or all.
fn case_and_axes(dtypes: impl Strategy<Value = DType>) -> impl Strategy<Value = (Case, Vec<usize>)> {
    (case(dtypes), any::<u8>()).prop_map(|(case, bits)| {
        let axes = (0..case.shape.len()).filter(|axis| bits >> axis & 1 == 1).collect();
        (case, axes)
    })
}

fn signed(axes: &[usize]) -> Vec<isize> {
    axes.iter().map(|&axis| axis as isize).collect()
}

/// A reduction of all axes, its one result in the shape [1].
fn all<N: Copy, M: Copy>(a: &Array<N>, f: impl FnMut(&[N]) -> M) -> Array<M> {
    let axes: Vec<usize> = (0..a.shape.len()).collect();
    Array { shape: vec![1], data: a.rows(&axes, f).data }
}

fn sum(row: &[f64]) -> f64 {
    total(row.iter().copied())
}

/// Factors from 1/4 to 4 whose products in any order are doubles, neither 0 nor infinite.
const LONGEST: usize = 500;

/// Doubles are multiplied in another order, each product rounded by half a unit at most here and there; narrower floats
/// as doubles.
fn of_products(dtype: DType) -> f64 {
    if dtype == DType::F64 { LONGEST as f64 } else { 2.0 }
}

fn mean(row: &[f64]) -> f64 {
    sum(row) / row.len() as f64
}

/// NaN, as the mean, of nothing.
fn variance(row: &[f64], less: f64) -> f64 {
    let mean = mean(row);
    total(row.iter().map(|x| (x - mean) * (x - mean))) / (row.len() as f64 - less) + 0.0 * mean
}

fn maximum(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::NEG_INFINITY, largest)
}

fn minimum(row: &[f64]) -> f64 {
    -row.iter().map(|x| -x).fold(f64::NEG_INFINITY, largest)
}

/// The first NaN, or else the first of the greatest.
fn place(row: &[f64]) -> i128 {
    let best = maximum(row);
    row.iter().position(|&x| x == best || x.is_nan()).unwrap() as i128
}

/// The result, or an error if there was nothing to choose from.
fn chosen<N: crate::array::Cell>(
    name: &str,
    found: Result<Tensor>,
    dtype: DType,
    empty: bool,
    expected: impl FnOnce() -> Array<N>,
) -> Tested {
    if empty {
        prop_assert!(found.is_err(), "{} of nothing", name);
        return Ok(());
    }
    exactly(name, &found.unwrap(), dtype, &expected())
}

/// Whether a result comes from no elements.
fn of_nothing(shape: &[usize], axes: &[usize]) -> bool {
    axes.iter().any(|&axis| shape[axis] == 0)
        && (0..shape.len()).all(|axis| axes.contains(&axis) || shape[axis] > 0)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn floats_along_axes((case, axes) in case_and_axes(select(&FLOATS[..]))) {
        let (a, dims, dtype) = (case.quarters(), signed(&axes), case.dtype);
        let (x, empty) = (case.tensor(&a), of_nothing(&case.shape, &axes));
        let sums = a.rows(&axes, |row| rounded(sum(row), dtype));
        exactly("sum_dims", &x.sum_dims(&dims).unwrap(), dtype, &sums)?;
        let kept: Vec<usize> =
            (0..a.shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| a.shape[axis]).collect();
        exactly(
            "sum_dims_squeeze",
            &x.sum_dims_squeeze(&dims).unwrap(),
            dtype,
            &Array { shape: kept, data: sums.data },
        )?;
        nearly("mean_dims", &x.mean_dims(&dims).unwrap(), dtype, &a.rows(&axes, mean), 1.0)?;
        let products = a.rows(&axes, |row| row.iter().product());
        if axes.iter().map(|&axis| a.shape[axis]).product::<usize>() <= LONGEST {
            nearly("prod_dims", &x.prod_dims(&dims).unwrap(), dtype, &products, of_products(dtype))?;
        }
        chosen("max_dims", x.max_dims(&dims), dtype, empty, || a.rows(&axes, maximum))?;
        chosen("min_dims", x.min_dims(&dims), dtype, empty, || a.rows(&axes, minimum))?;
        let sizes = a.map(f64::abs);
        chosen("max_abs_dims", x.max_abs_dims(&dims), dtype, empty, || sizes.rows(&axes, maximum))?;
    }

    #[test]
    fn floats_over_all((case, _) in case_and_axes(select(&FLOATS[..]))) {
        let (a, dtype) = (case.quarters(), case.dtype);
        let (x, empty) = (case.tensor(&a), case.shape.contains(&0));
        exactly("sum", &x.sum().unwrap(), dtype, &all(&a, |row| rounded(sum(row), dtype)))?;
        nearly("mean", &x.mean().unwrap(), dtype, &all(&a, mean), 1.0)?;
        if a.data.len() <= LONGEST {
            let product = all(&a, |row| row.iter().product());
            nearly("prod", &x.prod().unwrap(), dtype, &product, of_products(dtype))?;
        }
        chosen("max", x.max(), dtype, empty, || all(&a, maximum))?;
        chosen("min", x.min(), dtype, empty, || all(&a, minimum))?;
        chosen("max_abs", x.max_abs(), dtype, empty, || all(&a.map(f64::abs), maximum))?;
    }

    #[test]
    fn floats_along_an_axis((case, axis) in case_and_axis(select(&FLOATS[..]))) {
        let (a, dim, dtype) = (case.quarters(), axis as isize, case.dtype);
        let (x, empty) = (case.tensor(&a), of_nothing(&case.shape, &[axis]));
        let along = |f: &dyn Fn(&[f64]) -> f64| a.rows(&[axis], f);
        // Deviation, square and quotient are rounded besides; the sums that means are quotients of are exact.
        let ulps = of_sum(dtype, case.shape[axis]) + 4.0;
        nearly("var", &x.var(dim).unwrap(), dtype, &along(&|row| variance(row, 1.0)), ulps)?;
        nearly("var_bias", &x.var_bias(dim).unwrap(), dtype, &along(&|row| variance(row, 0.0)), ulps)?;
        nearly("var_mean", &x.var_mean(dim).unwrap().1, dtype, &along(&mean), 1.0)?;
        chosen("argmax", x.argmax(dim), INT, empty, || a.rows(&[axis], place))?;
        chosen("argmin", x.argmin(dim), INT, empty, || a.map(|x| -x).rows(&[axis], place))?;
        if !empty {
            let (values, places) = x.max_dim_with_indices(dim).unwrap();
            exactly("max_dim", &values, dtype, &a.rows(&[axis], maximum))?;
            exactly("max_dim", &places, INT, &a.rows(&[axis], place))?;
            exactly("min_dim", &x.min_dim_with_indices(dim).unwrap().0, dtype, &a.rows(&[axis], minimum))?;
        }
        prop_assert!(x.sum_dim(case.shape.len() as isize).is_err() && x.sum_dims(&[dim, dim]).is_err());
    }

    #[test]
    fn floats_run_along_an_axis((case, axis) in case_and_axis(select(&FLOATS[..]))) {
        let (a, dim, dtype) = (case.quarters(), axis as isize, case.dtype);
        let (x, len) = (case.tensor(&a), case.shape[axis]);
        let running = |start: f64, f: &dyn Fn(f64, f64) -> f64| {
            a.with_rows(axis, len, |row| {
                let mut held = start;
                row.iter()
                    .map(|&x| {
                        held = f(held, x);
                        held
                    })
                    .collect()
            })
        };
        exactly(
            "cumsum",
            &x.cumsum(dim).unwrap(),
            dtype,
            &running(0.0, &|a, b| a + b).map(|x| rounded(x, dtype)),
        )?;
        nearly("cumprod", &x.cumprod(dim).unwrap(), dtype, &running(1.0, &|a, b| a * b), 2.0)?;
        exactly("cummax", &x.cummax(dim).unwrap(), dtype, &running(f64::NEG_INFINITY, &largest))?;
        exactly("cummin", &x.cummin(dim).unwrap(), dtype, &running(f64::INFINITY, &|a, b| -largest(-a, -b)))?;
        let places = a.with_rows(axis, len, |row| {
            let mut held = 0;
            (0..row.len())
                .map(|i| {
                    held = if row[held].is_nan() || row[i] < row[held] { held } else { i };
                    held as i128
                })
                .collect()
        });
        exactly("cummax_with_indices", &x.cummax_with_indices(dim).unwrap().1, INT, &places)?;
    }

    #[test]
    fn integers_along_axes((case, axes) in case_and_axes(select(&INTS[..]))) {
        let (a, dims, dtype) = (case.integers(), signed(&axes), case.dtype);
        let (x, empty) = (case.tensor(&a), of_nothing(&case.shape, &axes));
        let along = |f: &dyn Fn(&[i128]) -> i128| a.rows(&axes, |row| wrap(f(row), dtype));
        let product = |row: &[i128]| row.iter().fold(1, |product: i128, &x| product.wrapping_mul(x));
        exactly("sum_dims", &x.sum_dims(&dims).unwrap(), dtype, &along(&|row| row.iter().sum()))?;
        exactly("prod_dims", &x.prod_dims(&dims).unwrap(), dtype, &along(&product))?;
        exactly("sum", &x.sum().unwrap(), dtype, &all(&a, |row| wrap(row.iter().sum(), dtype)))?;
        exactly("prod", &x.prod().unwrap(), dtype, &all(&a, |row| wrap(product(row), dtype)))?;
        let extreme = |row: &[i128]| *row.iter().max().unwrap();
        chosen("max_dims", x.max_dims(&dims), dtype, empty, || along(&extreme))?;
        chosen("min_dims", x.min_dims(&dims), dtype, empty, || along(&|row| *row.iter().min().unwrap()))?;
        chosen("max_abs_dims", x.max_abs_dims(&dims), dtype, empty, || {
            a.map(|x| wrap(x.abs(), dtype)).rows(&axes, extreme)
        })?;
        // In 64 bits, which sums of the widest leave.
        if dtype.size() < Some(8) {
            let quotient = |row: &[i128]| row.iter().sum::<i128>() / row.len() as i128;
            chosen("mean_dims", x.mean_dims(&dims), dtype, empty, || along(&quotient))?;
            chosen("mean", x.mean(), dtype, case.shape.contains(&0), || all(&a, quotient))?;
        }
    }

    #[test]
    fn integers_along_an_axis((case, axis) in case_and_axis(select(&INTS[..]))) {
        let (a, dim, dtype) = (case.integers(), axis as isize, case.dtype);
        let (x, empty, len) = (case.tensor(&a), of_nothing(&case.shape, &[axis]), case.shape[axis]);
        let first = |row: &[i128], best: i128| row.iter().position(|&x| x == best).unwrap() as i128;
        chosen("argmax", x.argmax(dim), INT, empty, || {
            a.rows(&[axis], |row| first(row, *row.iter().max().unwrap()))
        })?;
        chosen("argmin", x.argmin(dim), INT, empty, || {
            a.rows(&[axis], |row| first(row, *row.iter().min().unwrap()))
        })?;
        let running = |start: i128, f: &dyn Fn(i128, i128) -> i128| {
            a.with_rows(axis, len, |row| {
                let mut held = start;
                row.iter()
                    .map(|&x| {
                        held = f(held, x);
                        wrap(held, dtype)
                    })
                    .collect()
            })
        };
        exactly("cumsum", &x.cumsum(dim).unwrap(), dtype, &running(0, &|a, b| a + b))?;
        exactly("cumprod", &x.cumprod(dim).unwrap(), dtype, &running(1, &i128::wrapping_mul))?;
        exactly("cummax", &x.cummax(dim).unwrap(), dtype, &running(i128::MIN, &i128::max))?;
        exactly("cummin", &x.cummin(dim).unwrap(), dtype, &running(i128::MAX, &i128::min))?;
    }

    #[test]
    fn some_are_true_or_all((case, axes) in case_and_axes(all_dtypes())) {
        let a = case.labels().map(|x| if x < 60 { 0 } else { x });
        let a = if case.dtype == BOOL { case.labels() } else { a };
        let x = case.tensor(&a);
        let (any, each) = (
            |row: &[i128]| i128::from(row.iter().any(|&x| x != 0)),
            |row: &[i128]| i128::from(row.iter().all(|&x| x != 0)),
        );
        exactly("any", &x.any().unwrap(), BOOL, &all(&a, any))?;
        exactly("all", &x.all().unwrap(), BOOL, &all(&a, each))?;
        if let Some(&axis) = axes.first() {
            exactly("any_dim", &x.any_dim(axis as isize).unwrap(), BOOL, &a.rows(&[axis], any))?;
            exactly("all_dim", &x.all_dim(axis as isize).unwrap(), BOOL, &a.rows(&[axis], each))?;
        }
    }
}
