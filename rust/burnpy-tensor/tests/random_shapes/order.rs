//! Sorted rows, the greatest of them, the one in the middle.

use burnpy_tensor::ops::INT;
use burnpy_tensor::{BOOL, DType};
use proptest::prelude::*;
use proptest::sample::select;

use crate::array::{Array, Cell, Tested, exactly};
use crate::cases::{Case, FLOATS, INTS, case_and_axis, config};

/// A row's places in ascending order, equal ones in theirs; descending ones too.
fn places<N: Copy>(
    row: &[N],
    descending: bool,
    compare: impl Fn(&N, &N) -> std::cmp::Ordering,
) -> Vec<usize> {
    let mut places: Vec<usize> = (0..row.len()).collect();
    places.sort_by(|&i, &j| if descending { compare(&row[j], &row[i]) } else { compare(&row[i], &row[j]) });
    places
}

fn check<N: Cell>(
    case: &Case,
    a: &Array<N>,
    (axis, k): (usize, usize),
    compare: impl Fn(&N, &N) -> std::cmp::Ordering + Copy,
) -> Tested {
    let (x, dim, dtype, len) = (case.tensor(a), axis as isize, case.dtype, a.shape[axis]);
    let values = |descending, k| {
        a.with_rows(axis, k, |row| {
            places(row, descending, compare).into_iter().map(|i| row[i]).take(k).collect()
        })
    };
    let indices = |descending, k| {
        a.with_rows(axis, k, |row| {
            places(row, descending, compare).into_iter().map(|i| i as i128).take(k).collect()
        })
    };
    exactly("sort", &x.sort(dim).unwrap(), dtype, &values(false, len))?;
    exactly("sort_descending", &x.sort_descending(dim).unwrap(), dtype, &values(true, len))?;
    exactly("argsort", &x.argsort(dim).unwrap(), INT, &indices(false, len))?;
    exactly("argsort_descending", &x.argsort_descending(dim).unwrap(), INT, &indices(true, len))?;
    let (sorted, from) = x.sort_with_indices(dim).unwrap();
    exactly("sort_with_indices", &sorted, dtype, &values(false, len))?;
    exactly("sort_with_indices", &from, INT, &indices(false, len))?;
    let (top, from) = x.topk_with_indices(k, dim).unwrap();
    exactly("topk", &top, dtype, &values(true, k))?;
    exactly("topk", &from, INT, &indices(true, k))?;
    exactly("argtopk", &x.argtopk(k, dim).unwrap(), INT, &indices(true, k))?;
    prop_assert!(x.topk(len + 1, dim).is_err());
    if len == 0 {
        prop_assert!(x.median(dim).is_err());
        return Ok(());
    }
    let (middle, from) = x.median_with_indices(dim).unwrap();
    exactly(
        "median",
        &middle,
        dtype,
        &a.rows(&[axis], |row| row[places(row, false, compare)[(len - 1) / 2]]),
    )?;
    exactly("gather", &x.gather(dim, &from).unwrap(), dtype, &crate::array::array::<N>(&middle))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn floats_have_a_total_order(
        (case, axis) in case_and_axis(select(&FLOATS[..])),
        k in any::<prop::sample::Index>(),
        few in any::<bool>(),
    ) {
        // The hash gives NaNs of one sign. Few values: many are equal.
        let a = if few { case.finite() } else { case.wild() };
        let k = k.index(case.shape[axis] + 1);
        check(&case, &a, (axis, k), f64::total_cmp)?;
    }

    #[test]
    fn integers_and_booleans_are_ordered(
        (case, axis) in case_and_axis(prop_oneof![8 => select(&INTS[..]), 1 => Just(BOOL)]),
        k in any::<prop::sample::Index>(),
    ) {
        let k = k.index(case.shape[axis] + 1);
        check(&case, &case.integers(), (axis, k), i128::cmp)?;
    }

    #[test]
    fn axes_outside_are_errors((case, _) in case_and_axis(Just(DType::F32))) {
        let (x, rank) = (case.tensor(&case.finite()), case.shape.len() as isize);
        for dim in [rank, -rank - 1] {
            for refused in [
                x.sort(dim),
                x.argsort(dim),
                x.topk(0, dim),
                x.median(dim),
                x.cumsum(dim),
                x.softmax(dim),
                x.argmax(dim),
                x.flip(&[dim]),
            ] {
                prop_assert!(refused.is_err());
            }
        }
        exactly(
            "sort",
            &x.sort(-1).unwrap(),
            DType::F32,
            &crate::array::array::<f64>(&x.sort(rank - 1).unwrap()),
        )?;
    }
}
