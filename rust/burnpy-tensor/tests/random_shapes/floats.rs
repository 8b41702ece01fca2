//! Functions of floats, element by element and broadcast, of any number that a dtype holds.

use burnpy_tensor::kernels::gemm::Activation;
use burnpy_tensor::ops::{AttentionOptions, Scalar, einsum};
use burnpy_tensor::{BOOL, DType, Result, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

use crate::array::{Array, Tested, exactly, nearly, rounded};
use crate::cases::{FLOATS, case, case_of, config, hash, joint, pair, shape};

type Unary = (&'static str, fn(&Tensor) -> Result<Tensor>, fn(f64) -> f64);
type Pairwise = fn(&Tensor, &Tensor) -> Result<Tensor>;
type Binary = (&'static str, fn(&Tensor, &Tensor) -> Result<Tensor>, fn(f64, f64) -> f64);

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// What is rounded once: not a bit may differ.
const EXACT: [Unary; 14] = [
    ("abs", Tensor::abs, f64::abs),
    ("neg", Tensor::neg, |x| -x),
    ("square", Tensor::square, |x| x * x),
    ("sqrt", Tensor::sqrt, f64::sqrt),
    ("recip", Tensor::recip, f64::recip),
    ("round", Tensor::round, f64::round_ties_even),
    ("floor", Tensor::floor, f64::floor),
    ("ceil", Tensor::ceil, f64::ceil),
    ("trunc", Tensor::trunc, f64::trunc),
    ("sign", Tensor::sign, |x| {
        if x > 0.0 {
            1.0
        } else if x < 0.0 {
            -1.0
        } else {
            0.0
        }
    }),
    ("relu", Tensor::relu, |x| if x < 0.0 { 0.0 } else { x }),
    ("relu6", Tensor::relu6, |x| x.clamp(0.0, 6.0)),
    ("powi_scalar 0", |x| x.powi_scalar(0), |_| 1.0),
    ("powi_scalar 1", |x| x.powi_scalar(1), |x| x),
];

/// What is rounded several times.
const NEAR: [Unary; 27] = [
    ("exp", Tensor::exp, f64::exp),
    ("log", Tensor::log, f64::ln),
    ("log1p", Tensor::log1p, f64::ln_1p),
    ("sin", Tensor::sin, f64::sin),
    ("cos", Tensor::cos, f64::cos),
    ("tan", Tensor::tan, f64::tan),
    ("sinh", Tensor::sinh, f64::sinh),
    ("cosh", Tensor::cosh, f64::cosh),
    ("tanh", Tensor::tanh, f64::tanh),
    ("asin", Tensor::asin, f64::asin),
    ("acos", Tensor::acos, f64::acos),
    ("atan", Tensor::atan, f64::atan),
    ("asinh", Tensor::asinh, f64::asinh),
    // std's lose the digits of what is near 1 and −1.
    ("acosh", Tensor::acosh, |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }),
    ("atanh", Tensor::atanh, libm::atanh),
    ("erf", Tensor::erf, libm::erf),
    ("sigmoid", Tensor::sigmoid, sigmoid),
    ("log_sigmoid", Tensor::log_sigmoid, |x| if x < 0.0 { x - x.exp().ln_1p() } else { -(-x).exp().ln_1p() }),
    ("softplus", |x| x.softplus(1.0, 20.0), |x| if x > 20.0 { x } else { x.exp().ln_1p() }),
    ("elu", |x| x.elu(1.5), |x| if x > 0.0 { x } else { 1.5 * x.exp_m1() }),
    ("hard_sigmoid", |x| x.hard_sigmoid(0.25, 0.5), |x| (0.25 * x + 0.5).clamp(0.0, 1.0)),
    ("leaky_relu", |x| x.leaky_relu(0.25), |x| if x < 0.0 { 0.25 * x } else { x }),
    ("powi_scalar 3", |x| x.powi_scalar(3), |x| x * x * x),
    ("powi_scalar -2", |x| x.powi_scalar(-2), |x| 1.0 / (x * x)),
    ("powf_scalar 0.5", |x| x.powf_scalar(0.5), f64::sqrt),
    ("powf_scalar -0.5", |x| x.powf_scalar(-0.5), |x| 1.0 / x.sqrt()),
    ("powf_scalar 2.5", |x| x.powf_scalar(2.5), |x| x.powf(2.5)),
];

const PAIRS: [Binary; 9] = [
    ("add", Tensor::add, |a, b| a + b),
    ("sub", Tensor::sub, |a, b| a - b),
    ("mul", Tensor::mul, |a, b| a * b),
    ("div", Tensor::div, |a, b| a / b),
    ("fmod", Tensor::fmod, |a, b| a % b),
    ("remainder", Tensor::remainder, python_rest),
    ("max_pair", Tensor::max_pair, largest),
    ("min_pair", Tensor::min_pair, |a, b| -largest(-a, -b)),
    ("hypot", Tensor::hypot, f64::hypot),
];

fn python_rest(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
}

pub(crate) fn largest(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// Half precision is computed in single precision.
fn twice_rounded(x: f64, dtype: DType) -> f64 {
    let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    rounded(rounded(x, wide), dtype)
}

fn zipped<N>(a: &Array<f64>, b: &Array<f64>, joint: &[usize], f: impl Fn(f64, f64) -> N) -> Array<N>
where
    N: Copy,
{
    Array::from_fn(joint, |index| f(a.spread(index), b.spread(index)))
}

fn flags(array: Array<bool>) -> Array<i128> {
    array.map(i128::from)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn functions_of_one_are_their_formulas(case in case(select(&FLOATS[..]))) {
        let a = case.wild();
        let (x, dtype) = (case.tensor(&a), case.dtype);
        for (name, run, formula) in EXACT {
            exactly(name, &run(&x).unwrap(), dtype, &a.map(|x| twice_rounded(formula(x), dtype)))?;
        }
        for (name, run, formula) in NEAR {
            nearly(name, &run(&x).unwrap(), dtype, &a.map(formula), 16.0)?;
        }
    }

    #[test]
    fn tests_of_one_are_their_formulas(case in case(select(&FLOATS[..]))) {
        let a = case.wild();
        let x = case.tensor(&a);
        exactly("is_nan", &x.is_nan().unwrap(), BOOL, &flags(a.map(f64::is_nan)))?;
        exactly("is_inf", &x.is_inf().unwrap(), BOOL, &flags(a.map(f64::is_infinite)))?;
        exactly("is_finite", &x.is_finite().unwrap(), BOOL, &flags(a.map(f64::is_finite)))?;
        let any = i128::from(a.data.iter().any(|x| x.is_nan()));
        exactly(
            "contains_nan",
            &x.contains_nan().unwrap(),
            BOOL,
            &Array { shape: vec![1], data: vec![any] },
        )?;
    }

    #[test]
    fn functions_of_two_broadcast((a_case, b_case, joint) in pair(select(&FLOATS[..]))) {
        let (a, b, dtype) = (a_case.wild(), b_case.wild(), a_case.dtype);
        let (x, y) = (a_case.tensor(&a), b_case.tensor(&b));
        for (name, run, formula) in PAIRS {
            let expected = zipped(&a, &b, &joint, |a, b| twice_rounded(formula(a, b), dtype));
            if name == "hypot" {
                nearly(name, &run(&x, &y).unwrap(), dtype, &expected, 2.0)?;
            } else {
                exactly(name, &run(&x, &y).unwrap(), dtype, &expected)?;
            }
        }
        nearly("atan2", &x.atan2(&y).unwrap(), dtype, &zipped(&a, &b, &joint, f64::atan2), 4.0)?;
        nearly("powf", &x.powf(&y).unwrap(), dtype, &zipped(&a, &b, &joint, f64::powf), 16.0)?;
    }

    #[test]
    fn comparisons_broadcast((a_case, b_case, joint) in pair(select(&FLOATS[..]))) {
        let (a, b) = (a_case.wild(), b_case.wild());
        let (x, y) = (a_case.tensor(&a), b_case.tensor(&b));
        let flags = |f: fn(&f64, &f64) -> bool| zipped(&a, &b, &joint, |a, b| i128::from(f(&a, &b)));
        exactly("equal", &x.equal(&y).unwrap(), BOOL, &flags(f64::eq))?;
        exactly("not_equal", &x.not_equal(&y).unwrap(), BOOL, &flags(f64::ne))?;
        exactly("greater", &x.greater(&y).unwrap(), BOOL, &flags(f64::gt))?;
        exactly("greater_equal", &x.greater_equal(&y).unwrap(), BOOL, &flags(f64::ge))?;
        exactly("lower", &x.lower(&y).unwrap(), BOOL, &flags(f64::lt))?;
        exactly("lower_equal", &x.lower_equal(&y).unwrap(), BOOL, &flags(f64::le))?;
        let close = |a: f64, b: f64| a == b || (a - b).abs() <= 0.5 + 0.25 * b.abs() && (a - b).is_finite();
        let expected = zipped(&a, &b, &joint, |a, b| i128::from(close(a, b)));
        exactly("is_close", &x.is_close(&y, 0.25, 0.5).unwrap(), BOOL, &expected)?;
        prop_assert_eq!(x.all_close(&y, 0.25, 0.5).unwrap(), !expected.data.contains(&0));
    }

    #[test]
    fn numbers_beside_a_tensor_are_of_its_dtype(case in case(select(&FLOATS[..])), number in numbers()) {
        let (a, dtype) = (case.wild(), case.dtype);
        let (x, scalar, n) = (case.tensor(&a), Scalar::Float(number), rounded(number, case.dtype));
        let check = |name: &str, found: Result<Tensor>, formula: &dyn Fn(f64) -> f64| -> Tested {
            exactly(name, &found.unwrap(), dtype, &a.map(|x| twice_rounded(formula(x), dtype)))
        };
        check("add_scalar", x.add_scalar(scalar), &|x| x + n)?;
        check("sub_scalar", x.sub_scalar(scalar), &|x| x - n)?;
        check("rsub_scalar", x.rsub_scalar(scalar), &|x| n - x)?;
        check("mul_scalar", x.mul_scalar(scalar), &|x| x * n)?;
        check("div_scalar", x.div_scalar(scalar), &|x| x / n)?;
        check("rdiv_scalar", x.rdiv_scalar(scalar), &|x| n / x)?;
        check("remainder_scalar", x.remainder_scalar(scalar), &|x| python_rest(x, n))?;
        check("fmod_scalar", x.fmod_scalar(scalar), &|x| x % n)?;
        check("clamp_min", x.clamp_min(scalar), &|x| largest(x, n))?;
        check("clamp_max", x.clamp_max(scalar), &|x| -largest(-x, -n))?;
        check("clamp", x.clamp(Scalar::Float(-1.5), scalar), &|x| -largest(-largest(x, -1.5), -n))?;
        let test = |name: &str, found: Result<Tensor>, formula: &dyn Fn(f64) -> bool| -> Tested {
            exactly(name, &found.unwrap(), BOOL, &flags(a.map(formula)))
        };
        test("equal_scalar", x.equal_scalar(scalar), &|x| x == n)?;
        test("not_equal_scalar", x.not_equal_scalar(scalar), &|x| x != n)?;
        test("greater_scalar", x.greater_scalar(scalar), &|x| x > n)?;
        test("greater_equal_scalar", x.greater_equal_scalar(scalar), &|x| x >= n)?;
        test("lower_scalar", x.lower_scalar(scalar), &|x| x < n)?;
        test("lower_equal_scalar", x.lower_equal_scalar(scalar), &|x| x <= n)?;
    }

    #[test]
    fn gates_and_slopes_go_along_their_axes(
        (case, slopes) in sloped(),
        axis in any::<prop::sample::Index>(),
    ) {
        let (a, alpha, dtype) = (case.finite(), slopes.finite(), case.dtype);
        let (x, slope) = (case.tensor(&a), slopes.tensor(&alpha));
        let of = |index: &[usize]| if alpha.data.len() == 1 { alpha.data[0] } else { alpha.data[index[1]] };
        let expected = Array::from_fn(&a.shape, |index| {
            let x = a.at(index);
            if x < 0.0 { rounded(x * of(index), dtype) } else { x }
        });
        exactly("prelu", &x.prelu(&slope).unwrap(), dtype, &expected)?;
        let (axis, rank) = (axis.index(a.shape.len()), a.shape.len());
        let found = x.glu(axis as isize - rank as isize);
        if a.shape[axis] % 2 == 1 {
            prop_assert!(found.is_err());
            return Ok(());
        }
        let half = a.shape[axis] / 2;
        let expected =
            a.with_rows(axis, half, |row| (0..half).map(|i| row[i] * sigmoid(row[half + i])).collect());
        nearly("glu", &found.unwrap(), dtype, &expected, 8.0)?;
    }

    #[test]
    fn two_dtypes_do_not_mix(shape in shape(), seed in any::<u64>()) {
        let dtypes = [FLOATS.as_slice(), &crate::cases::INTS, &[BOOL]].concat();
        let pick = |i: usize| dtypes[hash(seed, i) as usize % dtypes.len()];
        prop_assume!(pick(0) != pick(1));
        let (x, y) = (Tensor::ones(&shape, pick(0)).unwrap(), Tensor::ones(&shape, pick(1)).unwrap());
        let operations: [(&str, Pairwise); 14] = [
            ("equal", Tensor::equal),
            ("lower", Tensor::lower),
            ("matmul", Tensor::matmul),
            ("dot", Tensor::dot),
            ("outer", Tensor::outer),
            ("cat", |x, y| Tensor::cat(&[x, y], 0)),
            ("prelu", |x, y| x.prelu(&y.flatten(0, -1)?)),
            ("is_close", |x, y| x.is_close(y, 0.0, 0.0)),
            ("powf", Tensor::powf),
            ("atan2", Tensor::atan2),
            ("leaky_relu_with", Tensor::leaky_relu_with),
            ("stack", |x, y| Tensor::stack(&[x, y], 0)),
            ("mask_where", |x, y| x.mask_where(&x.cast(BOOL)?, y)),
            ("cosine_similarity", |x, y| x.cosine_similarity(y, 0, 1e-8)),
        ];
        for (name, run) in operations.into_iter().chain(PAIRS.map(|(name, run, _)| (name, run))) {
            prop_assert!(run(&x, &y).is_err(), "{} of {:?} and {:?}", name, pick(0), pick(1));
        }
    }

    #[test]
    fn operations_of_several_tensors_take_one_dtype(a in select(&FLOATS[..]), b in select(&FLOATS[..])) {
        let of = |shape: &[usize], dtype| Tensor::ones(shape, dtype).unwrap();
        let (image, row) = (of(&[1, 2, 3, 3], a), of(&[2], a));
        let other = |shape: &[usize]| of(shape, b);
        let attention = AttentionOptions::default();
        let found = [
            ("conv2d", image.conv2d(&other(&[1, 2, 2, 2]), None, &Default::default())),
            ("conv2d bias", image.conv2d(&of(&[2, 2, 2, 2], a), Some(&other(&[2])), &Default::default())),
            ("conv_transpose2d", image.conv_transpose2d(&other(&[2, 1, 2, 2]), None, &Default::default())),
            (
                "deform_conv2d",
                image.deform_conv2d(
                    &other(&[1, 8, 2, 2]),
                    &of(&[1, 2, 2, 2], a),
                    None,
                    None,
                    &Default::default(),
                ),
            ),
            ("grid_sample_2d", image.grid_sample_2d(&other(&[1, 2, 2, 2]), &Default::default())),
            ("linear", image.linear(&other(&[3, 2]), None, Activation::None)),
            ("linear bias", image.linear(&of(&[3, 2], a), Some(&other(&[2])), Activation::None)),
            ("batch_norm", image.batch_norm(&row, &row, &row, &other(&[2]), 1e-5)),
            ("batch_norm_train", image.batch_norm_train(&row, &other(&[2]), 1e-5).map(|(y, _, _)| y)),
            ("layer_norm", image.layer_norm(&of(&[3], a), Some(&other(&[3])), 1e-5)),
            ("rms_norm", image.rms_norm(&other(&[3]), 1e-5)),
            ("attention", image.attention(&image, &other(&[1, 2, 3, 3]), None, None, &attention)),
            (
                "attention bias",
                image.attention(&image, &image, None, Some(&other(&[1, 2, 3, 3])), &attention),
            ),
            ("einsum", einsum("abij,abjk->abik", &[&image, &other(&[1, 2, 3, 3])])),
            ("cov", image.flatten(0, -2).unwrap().cov(1, 1).and_then(|x| x.matmul(&other(&[6, 1])))),
        ];
        for (name, found) in found {
            prop_assert_eq!(found.is_ok(), a == b, "{} of {:?} and {:?}: {:?}", name, a, b, found);
        }
    }

    #[test]
    fn shapes_that_do_not_broadcast_are_errors((a, b) in (shape(), shape())) {
        let fits = a.iter().rev().zip(b.iter().rev()).all(|(&a, &b)| a == b || a == 1 || b == 1);
        prop_assume!(!fits || joint(&a, &b).iter().product::<usize>() < 100_000);
        let (x, y) = (Tensor::ones(&a, DType::F32).unwrap(), Tensor::ones(&b, DType::F32).unwrap());
        for (name, run, _) in PAIRS {
            prop_assert_eq!(run(&x, &y).is_ok(), fits, "{}", name);
        }
    }
}

/// Numbers beside tensors, of which few are exact in half precision.
fn numbers() -> impl Strategy<Value = f64> {
    let special =
        select(&[0.0, 1.0, -1.0, 0.1, -2.5, 1e-3, 1e5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN][..]);
    prop_oneof![special, -10.0..10.0f64]
}

fn sloped() -> impl Strategy<Value = (crate::cases::Case, crate::cases::Case)> {
    let shape = shape().prop_filter("has axes", |shape| !shape.is_empty());
    (shape, select(&FLOATS[..]), any::<bool>()).prop_flat_map(|(shape, dtype, single)| {
        let channels = if shape.len() > 1 && !single { shape[1] } else { 1 };
        (case_of(shape, dtype), case_of(vec![channels], dtype))
    })
}
