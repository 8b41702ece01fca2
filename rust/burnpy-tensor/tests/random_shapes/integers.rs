//! Integers of any width wrap around, and booleans are true or not, also at their bounds and broadcast.

use burnpy_tensor::ops::Scalar;
use burnpy_tensor::{BOOL, DType, Result, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

use crate::array::{Array, Tested, exactly};
use crate::cases::{FLOATS, INTS, all_dtypes, case, case_of, config, pair, wrap};

type Binary = (&'static str, fn(&Tensor, &Tensor) -> Result<Tensor>, fn(i128, i128) -> i128);

const WRAPPING: [Binary; 8] = [
    ("add", Tensor::add, |a, b| a + b),
    ("sub", Tensor::sub, |a, b| a - b),
    ("mul", Tensor::mul, i128::wrapping_mul),
    ("max_pair", Tensor::max_pair, i128::max),
    ("min_pair", Tensor::min_pair, i128::min),
    ("bitwise_and", Tensor::bitwise_and, |a, b| a & b),
    ("bitwise_or", Tensor::bitwise_or, |a, b| a | b),
    ("bitwise_xor", Tensor::bitwise_xor, |a, b| a ^ b),
];

const DIVIDING: [Binary; 3] = [
    ("div", Tensor::div, |a, b| a / b),
    ("fmod", Tensor::fmod, |a, b| a % b),
    ("remainder", Tensor::remainder, floored_rest),
];

const COMPARING: [Binary; 6] = [
    ("equal", Tensor::equal, |a, b| i128::from(a == b)),
    ("not_equal", Tensor::not_equal, |a, b| i128::from(a != b)),
    ("greater", Tensor::greater, |a, b| i128::from(a > b)),
    ("greater_equal", Tensor::greater_equal, |a, b| i128::from(a >= b)),
    ("lower", Tensor::lower, |a, b| i128::from(a < b)),
    ("lower_equal", Tensor::lower_equal, |a, b| i128::from(a <= b)),
];

fn floored_rest(a: i128, b: i128) -> i128 {
    let rest = a % b;
    if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
}

/// Modulo 2^128, of which a dtype keeps the low bits; of a negative exponent what is left of the inverse.
fn power(base: i128, exponent: i128) -> i128 {
    if exponent < 0 {
        return if base.abs() != 1 {
            0
        } else if exponent % 2 == 0 {
            1
        } else {
            base
        };
    }
    let (mut power, mut square, mut left) = (1i128, base, exponent);
    while left > 0 {
        power = if left & 1 == 1 { power.wrapping_mul(square) } else { power };
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    power
}

fn shift(a: i128, by: i128, dtype: DType, left: bool) -> i128 {
    let by = by.rem_euclid(dtype.size().unwrap() as i128 * 8) as u32;
    if left { a << by } else { a >> by }
}

fn zipped(a: &Array<i128>, b: &Array<i128>, joint: &[usize], f: impl Fn(i128, i128) -> i128) -> Array<i128> {
    Array::from_fn(joint, |index| f(a.spread(index), b.spread(index)))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn functions_of_two_wrap_around((a_case, b_case, joint) in pair(select(&INTS[..]))) {
        let (a, b, dtype) = (a_case.integers(), b_case.integers(), a_case.dtype);
        let (x, y) = (a_case.tensor(&a), b_case.tensor(&b));
        for (name, run, formula) in WRAPPING {
            exactly(
                name,
                &run(&x, &y).unwrap(),
                dtype,
                &zipped(&a, &b, &joint, |a, b| wrap(formula(a, b), dtype)),
            )?;
        }
        for (name, run, formula) in COMPARING {
            exactly(name, &run(&x, &y).unwrap(), BOOL, &zipped(&a, &b, &joint, formula))?;
        }
        for (name, left) in [("bitwise_left_shift", true), ("bitwise_right_shift", false)] {
            let found = if left { x.bitwise_left_shift(&y) } else { x.bitwise_right_shift(&y) };
            let expected = zipped(&a, &b, &joint, |a, b| wrap(shift(a, b, dtype, left), dtype));
            exactly(name, &found.unwrap(), dtype, &expected)?;
        }
        let none = joint.contains(&0);
        let divides = !b.data.contains(&0);
        for (name, run, formula) in DIVIDING {
            let found = run(&x, &y);
            prop_assert_eq!(found.is_ok(), divides, "{}", name);
            if let Ok(found) = found {
                exactly(name, &found, dtype, &zipped(&a, &b, &joint, |a, b| wrap(formula(a, b), dtype)))?;
            }
        }
        let mut possible = true;
        zipped(&a, &b, &joint, |a, b| i128::from(a == 0 && b < 0))
            .data
            .iter()
            .for_each(|&bad| possible &= bad == 0);
        let found = x.powi(&y);
        prop_assert_eq!(found.is_ok(), possible || none);
        if let Ok(found) = found {
            exactly("powi", &found, dtype, &zipped(&a, &b, &joint, |a, b| wrap(power(a, b), dtype)))?;
        }
    }

    #[test]
    fn functions_of_one_and_a_number_wrap_around(case in case(select(&INTS[..])), n in number()) {
        let (a, dtype) = (case.integers(), case.dtype);
        let (x, scalar) = (case.tensor(&a), Scalar::Int(n));
        let n = i128::from(n);
        let check = |name: &str, found: Result<Tensor>, formula: &dyn Fn(i128) -> i128| -> Tested {
            exactly(name, &found.unwrap(), dtype, &a.map(|x| wrap(formula(x), dtype)))
        };
        check("neg", x.neg(), &|x| -x)?;
        check("abs", x.abs(), &i128::abs)?;
        check("sign", x.sign(), &i128::signum)?;
        check("square", x.square(), &|x| x.wrapping_mul(x))?;
        check("bitwise_not", x.bitwise_not(), &|x| !x)?;
        check("powi_scalar", x.powi_scalar(5), &|x| power(x, 5))?;
        prop_assert_eq!(x.powi_scalar(-3).is_ok(), !a.data.contains(&0));
        if wrap(n, dtype) != n {
            for refused in [
                x.add_scalar(scalar),
                x.clamp_min(scalar),
                x.greater_scalar(scalar),
                x.bitwise_or_scalar(scalar),
            ] {
                prop_assert!(refused.is_err());
            }
            return Ok(());
        }
        check("add_scalar", x.add_scalar(scalar), &|x| x + n)?;
        check("sub_scalar", x.sub_scalar(scalar), &|x| x - n)?;
        check("rsub_scalar", x.rsub_scalar(scalar), &|x| n - x)?;
        check("mul_scalar", x.mul_scalar(scalar), &|x| x.wrapping_mul(n))?;
        check("clamp_min", x.clamp_min(scalar), &|x| x.max(n))?;
        check("clamp_max", x.clamp_max(scalar), &|x| x.min(n))?;
        check("bitwise_xor_scalar", x.bitwise_xor_scalar(scalar), &|x| x ^ n)?;
        check("bitwise_left_shift_scalar", x.bitwise_left_shift_scalar(scalar), &|x| {
            shift(x, n, dtype, true)
        })?;
        check("bitwise_right_shift_scalar", x.bitwise_right_shift_scalar(scalar), &|x| {
            shift(x, n, dtype, false)
        })?;
        let test = |name: &str, found: Result<Tensor>, formula: &dyn Fn(i128) -> bool| -> Tested {
            exactly(name, &found.unwrap(), BOOL, &a.map(|x| i128::from(formula(x))))
        };
        test("equal_scalar", x.equal_scalar(scalar), &|x| x == n)?;
        test("lower_scalar", x.lower_scalar(scalar), &|x| x < n)?;
        test("greater_equal_scalar", x.greater_equal_scalar(scalar), &|x| x >= n)?;
        prop_assert_eq!(x.div_scalar(scalar).is_ok(), n != 0);
        prop_assert_eq!(x.rdiv_scalar(scalar).is_ok(), !a.data.contains(&0));
        if n != 0 {
            check("div_scalar", x.div_scalar(scalar), &|x| x / n)?;
            check("remainder_scalar", x.remainder_scalar(scalar), &|x| floored_rest(x, n))?;
            check("fmod_scalar", x.fmod_scalar(scalar), &|x| x % n)?;
        }
        if !a.data.contains(&0) {
            check("rdiv_scalar", x.rdiv_scalar(scalar), &|x| n / x)?;
        }
    }

    #[test]
    fn booleans_are_combined((a_case, b_case, joint) in pair(Just(BOOL))) {
        let (a, b) = (a_case.integers(), b_case.integers());
        let (x, y) = (a_case.tensor(&a), b_case.tensor(&b));
        let operations: [Binary; 5] = [
            ("bool_and", Tensor::bool_and, |a, b| a & b),
            ("bool_or", Tensor::bool_or, |a, b| a | b),
            ("bool_xor", Tensor::bool_xor, |a, b| a ^ b),
            ("equal", Tensor::equal, |a, b| i128::from(a == b)),
            ("not_equal", Tensor::not_equal, |a, b| i128::from(a != b)),
        ];
        for (name, run, formula) in operations {
            exactly(name, &run(&x, &y).unwrap(), BOOL, &zipped(&a, &b, &joint, formula))?;
        }
        exactly("bool_not", &x.bool_not().unwrap(), BOOL, &a.map(|x| 1 - x))?;
        exactly("equal_scalar", &x.equal_scalar(Scalar::Bool(true)).unwrap(), BOOL, &a)?;
        for refused in [x.add(&y), x.lower(&y), x.mul(&y), x.neg(), x.sum(), x.cumsum(0), x.max()] {
            prop_assert!(refused.is_err());
        }
    }

    #[test]
    fn masks_choose_between_elements(((mask, _, _), (a_case, b_case, _)) in masked()) {
        let (m, a, b) = (mask.integers(), a_case.labels(), b_case.labels());
        let (flags, x, y) = (mask.tensor(&m), a_case.tensor(&a), b_case.tensor(&b));
        let joint = crate::cases::joint(&crate::cases::joint(&m.shape, &a.shape), &b.shape);
        let expected =
            Array::from_fn(
                &joint,
                |index| if m.spread(index) == 1 { b.spread(index) } else { a.spread(index) },
            );
        exactly("mask_where", &x.mask_where(&flags, &y).unwrap(), a_case.dtype, &expected)?;
        let joint = crate::cases::joint(&m.shape, &a.shape);
        let expected = Array::from_fn(&joint, |index| if m.spread(index) == 1 { 1 } else { a.spread(index) });
        exactly("mask_fill", &x.mask_fill(&flags, Scalar::Int(1)).unwrap(), a_case.dtype, &expected)?;
        prop_assert!(x.mask_fill(&x.cast(DType::I32).unwrap(), Scalar::Int(1)).is_err());
    }

    #[test]
    fn floats_have_no_bits_and_integers_no_functions(
        float in case(select(&FLOATS[..])),
        int in case(select(&INTS[..])),
    ) {
        let (x, y) = (float.tensor(&float.finite()), int.tensor(&int.integers()));
        for refused in [
            x.bitwise_not(),
            x.bitwise_and(&x),
            x.bool_not(),
            y.exp(),
            y.relu(),
            y.softmax(-1),
            y.var(-1),
            y.is_nan(),
            y.powf_scalar(2.0),
            y.round(),
            y.bool_and(&y),
        ] {
            prop_assert!(refused.is_err());
        }
    }
}

fn number() -> impl Strategy<Value = i64> {
    prop_oneof![4 => -5i64..10, 1 => any::<i8>().prop_map(i64::from), 1 => any::<i64>(), 1 => select(&[i64::MIN, i64::MAX, 255, -128][..])]
}

type Pair = (crate::cases::Case, crate::cases::Case, Vec<usize>);

/// A mask, and two tensors, that all broadcast.
fn masked() -> impl Strategy<Value = (Pair, Pair)> {
    pair(all_dtypes()).prop_flat_map(|(a, b, joint)| {
        let wide = joint.clone();
        let narrow: Vec<usize> =
            joint.iter().enumerate().map(|(i, &size)| if i % 2 == 0 { 1 } else { size }).collect();
        let mask = prop_oneof![case_of(wide, BOOL), case_of(narrow, BOOL)];
        (mask.prop_map(|mask| (mask.clone(), mask, Vec::new())), Just((a, b, joint)))
    })
}
