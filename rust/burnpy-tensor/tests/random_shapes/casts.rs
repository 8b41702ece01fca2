//! Any dtype to any other.

use burnpy_tensor::{BOOL, DType, Kind, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

use crate::array::{exactly, format, rounded};
use crate::cases::{FLOATS, INTS, all_dtypes, case, config, wrap};

/// Toward zero, to the nearest integer that there is; NaN to 0.
fn truncated(x: f64, dtype: DType) -> i128 {
    let (low, high) = (wrap(1i128 << (dtype.size().unwrap() * 8 - 1), dtype), wrap(-1, dtype));
    let (low, high) = if high == -1 { (low, -1 - low) } else { (0, high) };
    (x as i128).clamp(low, high)
}

/// The integer rounded once to a float dtype.
fn rounded_once(x: i128, dtype: DType) -> f64 {
    let (digits, _, largest) = format(dtype);
    let size = x.unsigned_abs();
    let lost = (128 - size.leading_zeros()).saturating_sub(digits as u32);
    let (kept, rest, half) =
        (size >> lost, size & ((1 << lost) - 1), if lost > 0 { 1 << (lost - 1) } else { 1 });
    let up = u128::from(rest > half || rest == half && kept & 1 == 1);
    let near = ((kept + up) << lost) as f64;
    let near = if near > largest { f64::INFINITY } else { near };
    if x < 0 { -near } else { near }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn floats_round_to_floats(case in case(select(&FLOATS[..])), to in select(&FLOATS[..])) {
        let a = case.wild();
        exactly("cast", &case.tensor(&a).cast(to).unwrap(), to, &a.map(|x| rounded(x, to)))?;
    }

    #[test]
    fn floats_truncate_to_integers(case in case(select(&FLOATS[..])), to in select(&INTS[..])) {
        let a = case.wild();
        let x = case.tensor(&a);
        exactly("cast", &x.cast(to).unwrap(), to, &a.map(|x| truncated(x, to)))?;
        exactly("cast", &x.cast(BOOL).unwrap(), BOOL, &a.map(|x| i128::from(x != 0.0)))?;
    }

    #[test]
    fn integers_wrap_to_integers(
        case in case(prop_oneof![8 => select(&INTS[..]), 1 => Just(BOOL)]),
        to in select(&INTS[..]),
    ) {
        let a = case.integers();
        let x = case.tensor(&a);
        exactly("cast", &x.cast(to).unwrap(), to, &a.map(|x| wrap(x, to)))?;
        exactly("cast", &x.cast(BOOL).unwrap(), BOOL, &a.map(|x| i128::from(x != 0)))?;
    }

    #[test]
    fn integers_round_to_floats(
        case in case(prop_oneof![8 => select(&INTS[..]), 1 => Just(BOOL)]),
        to in select(&FLOATS[..]),
    ) {
        let a = case.integers();
        exactly("cast", &case.tensor(&a).cast(to).unwrap(), to, &a.map(|x| rounded_once(x, to)))?;
    }

    #[test]
    fn constants_are_of_their_dtype(case in case(all_dtypes())) {
        let (shape, dtype) = (&case.shape, case.dtype);
        for (name, made, n) in [
            ("zeros", Tensor::zeros(shape, dtype), 0i128),
            ("ones", Tensor::ones(shape, dtype), 1),
            ("full", Tensor::full(shape, 1i64.into(), dtype), 1),
        ] {
            exactly(name, &made.unwrap(), dtype, &case.labels().map(|_| n))?;
        }
        let x = case.tensor(&case.labels());
        exactly("ones_like", &x.ones_like().unwrap(), dtype, &case.labels().map(|_| 1i128))?;
        exactly("full_like", &x.full_like(1i64.into()).unwrap(), dtype, &case.labels().map(|_| 1i128))?;
        prop_assert_eq!(Kind::of(dtype) == Kind::Bool, x.full_like(3i64.into()).is_err());
    }
}
