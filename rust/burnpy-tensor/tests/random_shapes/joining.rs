//! Tensors put together, taken apart, repeated, rolled and padded.

use burnpy_tensor::ops::PadMode;
use burnpy_tensor::{DType, Tensor};
use proptest::prelude::*;

use crate::array::{Array, exactly};
use crate::cases::{Case, all_dtypes, case, case_and_axis, case_of, config, hash, shape};

/// Arrays one after the other along an axis.
fn joined<N: Copy>(arrays: &[Array<N>], axis: usize) -> Array<N> {
    let mut shape = arrays[0].shape.clone();
    shape[axis] = arrays.iter().map(|array| array.shape[axis]).sum();
    Array::from_fn(&shape, |index| {
        let (mut at, mut which) = (index.to_vec(), 0);
        while at[axis] >= arrays[which].shape[axis] {
            at[axis] -= arrays[which].shape[axis];
            which += 1;
        }
        arrays[which].at(&at)
    })
}

/// Cases whose sizes differ along one axis only.
fn pieces() -> impl Strategy<Value = (Vec<Case>, usize)> {
    let shape = shape().prop_filter("has axes", |shape| !shape.is_empty());
    (shape, all_dtypes(), any::<prop::sample::Index>(), prop::collection::vec(0usize..5, 1..6)).prop_flat_map(
        |(shape, dtype, axis, sizes)| {
            let axis = axis.index(shape.len());
            let piece = |size| {
                let mut shape = shape.clone();
                shape[axis] = size;
                case_of(shape, dtype)
            };
            (sizes.into_iter().map(piece).collect::<Vec<_>>(), Just(axis))
        },
    )
}

/// Where an element of a padded axis comes from, `None` if from the padding.
fn source(place: usize, before: usize, held: usize, mode: PadMode) -> Option<usize> {
    let (place, last) = (place as isize - before as isize, held as isize - 1);
    let inside = (0..=last).contains(&place);
    match mode {
        PadMode::Constant(_) => inside.then_some(place as usize),
        PadMode::Edge => Some(place.clamp(0, last) as usize),
        PadMode::Reflect => Some(
            (if place < 0 {
                -place
            } else if place > last {
                2 * last - place
            } else {
                place
            }) as usize,
        ),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn pieces_are_joined_and_split_again((cases, axis) in pieces()) {
        let arrays: Vec<Array<i128>> = cases.iter().map(Case::labels).collect();
        let tensors: Vec<Tensor> =
            cases.iter().zip(&arrays).map(|(case, array)| case.tensor(array)).collect();
        let (dtype, dim) = (cases[0].dtype, axis as isize);
        let whole = Tensor::cat(&tensors.iter().collect::<Vec<_>>(), dim).unwrap();
        exactly("cat", &whole, dtype, &joined(&arrays, axis))?;
        let sizes: Vec<usize> = arrays.iter().map(|array| array.shape[axis]).collect();
        for (piece, array) in whole.split_with_sizes(&sizes, dim).unwrap().iter().zip(&arrays) {
            exactly("split_with_sizes", piece, dtype, array)?;
        }
        prop_assert!(whole.split_with_sizes(&[&sizes[..], &[1]].concat(), dim).is_err());
        let stacked = Tensor::stack(&[&tensors[0], &tensors[0], &tensors[0]], dim).unwrap();
        let wide = Array {
            shape: [&arrays[0].shape[..axis], &[1], &arrays[0].shape[axis..]].concat(),
            data: arrays[0].data.clone(),
        };
        exactly("stack", &stacked, dtype, &joined(&[wide.clone(), wide.clone(), wide], axis))?;
    }

    #[test]
    fn pieces_of_equal_sizes((case, axis) in case_and_axis(all_dtypes()), count in 1usize..7) {
        let (a, x, dim) = (case.labels(), case.tensor(&case.labels()), axis as isize);
        for (name, size, pieces) in [
            ("split", count, x.split(count, dim).unwrap()),
            ("chunk", a.shape[axis].div_ceil(count).max(1), x.chunk(count, dim).unwrap()),
            ("iter_dim", 1, x.iter_dim(dim).unwrap()),
        ] {
            let all = pieces.iter().map(crate::array::array::<i128>).collect::<Vec<_>>();
            prop_assert_eq!(
                all.len(),
                if name == "iter_dim" { a.shape[axis] } else { a.shape[axis].div_ceil(size).max(1) },
                "{}",
                name
            );
            prop_assert!(all.iter().rev().skip(1).all(|piece| piece.shape[axis] == size), "{}", name);
            if !all.is_empty() {
                prop_assert_eq!(&joined(&all, axis), &a, "{}", name);
            }
        }
        prop_assert!(x.split(0, dim).is_err() && x.chunk(0, dim).is_err());
        if a.shape[axis] > 0 {
            let (start, index) = (count % a.shape[axis], count % a.shape[axis]);
            let length = a.shape[axis] - start;
            let expected = a.with_rows(axis, length, |row| row[start..].to_vec());
            exactly("narrow", &x.narrow(dim, start, length).unwrap(), case.dtype, &expected)?;
            let picked = a.with_rows(axis, 1, |row| vec![row[index]]);
            let shape = [&a.shape[..axis], &a.shape[axis + 1..]].concat();
            let found = x.select_dim(dim, index as isize - a.shape[axis] as isize).unwrap();
            exactly("select_dim", &found, case.dtype, &Array { shape, data: picked.data })?;
        }
        prop_assert!(
            x.narrow(dim, 0, a.shape[axis] + 1).is_err()
                && x.select_dim(dim, a.shape[axis] as isize).is_err()
        );
    }

    #[test]
    fn tensors_are_repeated_and_rolled(
        (case, axis) in case_and_axis(all_dtypes()),
        times in 0usize..4,
        shift in -70isize..70,
    ) {
        let (a, x, dim) = (case.labels(), case.tensor(&case.labels()), axis as isize);
        let expected = a.with_rows(axis, a.shape[axis] * times, |row| row.repeat(times));
        exactly("repeat_dim", &x.repeat_dim(dim, times).unwrap(), case.dtype, &expected)?;
        let all: Vec<usize> = (0..a.shape.len() + 1).map(|i| (hash(case.seed, i) % 3) as usize).collect();
        let shape: Vec<usize> =
            [&[1], &a.shape[..]].concat().iter().zip(&all).map(|(size, times)| size * times).collect();
        if shape.iter().product::<usize>() < 100_000 {
            let expected = Array::from_fn(&shape, |index| {
                a.at(&index[1..].iter().zip(&a.shape).map(|(i, size)| i % size).collect::<Vec<_>>())
            });
            exactly("repeat", &x.repeat(&all).unwrap(), case.dtype, &expected)?;
        }
        let size = a.shape[axis];
        let rolled = |row: &[i128], by: isize| -> Vec<i128> {
            (0..size).map(|i| row[(i as isize - by).rem_euclid(size as isize) as usize]).collect()
        };
        let expected = a.with_rows(axis, size, |row| rolled(row, shift));
        exactly("roll_dim", &x.roll_dim(shift, dim).unwrap(), case.dtype, &expected)?;
        let expected = expected.with_rows(0, a.shape[0], |row| {
            (0..row.len()).map(|i| row[(i as isize - 1).rem_euclid(row.len() as isize) as usize]).collect()
        });
        exactly("roll", &x.roll(&[shift, 1], &[dim, 0]).unwrap(), case.dtype, &expected)?;
    }

    #[test]
    fn padding_stands_around(
        case in case(all_dtypes()),
        pads in prop::collection::vec((0usize..4, 0usize..4), 0..4),
        which in 0u8..3,
    ) {
        let (a, x) = (case.labels(), case.tensor(&case.labels()));
        let pads = &pads[..pads.len().min(a.shape.len())];
        let (mode, lead) = (
            [PadMode::Constant(1i64.into()), PadMode::Reflect, PadMode::Edge][which as usize],
            a.shape.len() - pads.len(),
        );
        let pad = |axis: usize| axis.checked_sub(lead).map_or((0, 0), |i| pads[i]);
        let possible = a.shape.iter().enumerate().all(|(axis, &size)| match (pad(axis), mode) {
            ((0, 0), _) | (_, PadMode::Constant(_)) => true,
            ((before, after), PadMode::Reflect) => before.max(after) < size,
            (_, PadMode::Edge) => size > 0,
        });
        let found = x.pad(pads, mode);
        prop_assert_eq!(found.is_ok(), possible, "{:?} {:?} of {:?}", mode, pads, a.shape);
        let Ok(found) = found else { return Ok(()) };
        let shape: Vec<usize> =
            a.shape.iter().enumerate().map(|(axis, &size)| pad(axis).0 + size + pad(axis).1).collect();
        let expected = Array::from_fn(&shape, |index| {
            let at = index.iter().enumerate().map(|(axis, &i)| source(i, pad(axis).0, a.shape[axis], mode));
            at.collect::<Option<Vec<_>>>().map_or(1, |at| a.at(&at))
        });
        exactly("pad", &found, case.dtype, &expected)?;
    }

    #[test]
    fn triangles_and_diagonals_of_matrices(case in case(all_dtypes()), k in -4isize..5) {
        let (a, x, rank) = (case.labels(), case.tensor(&case.labels()), case.shape.len());
        if rank < 2 {
            prop_assert!(x.tril(k).is_err() && x.triu(k).is_err() && x.diag().is_err());
            return Ok(());
        }
        let above = |index: &[usize]| index[rank - 1] as isize - index[rank - 2] as isize;
        let lower = Array::from_fn(&a.shape, |index| if above(index) <= k { a.at(index) } else { 0 });
        exactly("tril", &x.tril(k).unwrap(), case.dtype, &lower)?;
        let upper = Array::from_fn(&a.shape, |index| if above(index) >= k { a.at(index) } else { 0 });
        exactly("triu", &x.triu(k).unwrap(), case.dtype, &upper)?;
        let (batch, size) = (&a.shape[..rank - 2], a.shape[rank - 2].min(a.shape[rank - 1]));
        let diagonal =
            Array::from_fn(&[batch, &[size]].concat(), |index| a.at(&[index, &index[rank - 2..]].concat()));
        exactly("diag", &x.diag().unwrap(), case.dtype, &diagonal)?;
        let trace = Array {
            shape: if rank == 2 { vec![1] } else { batch.to_vec() },
            data: diagonal.rows(&[rank - 2], |row| row.iter().sum::<i128>()).data,
        };
        if matches!(case.dtype, DType::F64 | DType::I64 | DType::U64) {
            exactly("trace", &x.trace().unwrap(), case.dtype, &trace)?;
        }
    }
}
