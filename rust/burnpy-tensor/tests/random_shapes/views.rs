//! Views: other shapes, orders and parts of the same elements.

use burnpy_buffer::BasicIndex;
use burnpy_tensor::Tensor;
use burnpy_tensor::ops::Slice;
use proptest::prelude::*;

use crate::array::{Array, exactly};
use crate::cases::{Case, all_dtypes, case, case_and_axis, case_of, config, hash, shape};

/// The places of an axis that a slice takes.
fn taken(slice: Slice, size: usize) -> Option<Vec<usize>> {
    let size = size as isize;
    match slice {
        Slice::At(index) => {
            let index = if index < 0 { index + size } else { index };
            (0..size).contains(&index).then(|| vec![index as usize])
        }
        Slice::Range { start, stop, step } => {
            let clip = |bound: isize| if bound < 0 { (bound + size).max(0) } else { bound.min(size) };
            let (start, stop) = (start.map_or(0, clip), stop.map_or(size, clip));
            let mut places: Vec<usize> = (start..stop).map(|place| place as usize).collect();
            if step < 0 {
                places.reverse();
            }
            Some(places.into_iter().step_by(step.unsigned_abs()).collect())
        }
    }
}

/// The places that a basic index takes, as Python has it.
fn taken_by_python(start: Option<i64>, stop: Option<i64>, step: i64, size: usize) -> Vec<usize> {
    let size = size as i64;
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let clip = |bound: i64| (if bound < 0 { bound + size } else { bound }).clamp(low, high);
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let (mut at, stop) = (start.map_or(first, clip), stop.map_or(last, clip));
    let mut places = Vec::new();
    while if step > 0 { at < stop } else { at > stop } {
        places.push(at as usize);
        at += step;
    }
    places
}

pub(crate) fn slice() -> impl Strategy<Value = Slice> {
    let bound = || prop::option::of(-7isize..9);
    let range = (bound(), bound(), prop_oneof![4 => Just(1isize), 3 => -4isize..5])
        .prop_map(|(start, stop, step)| Slice::Range { start, stop, step: if step == 0 { 7 } else { step } });
    prop_oneof![6 => range, 1 => (-6isize..6).prop_map(Slice::At), 1 => Just(Slice::ALL)]
}

/// The part of an array at these places of each axis.
pub(crate) fn part<N: Copy>(a: &Array<N>, places: &[Vec<usize>]) -> Array<N> {
    let shape: Vec<usize> = places.iter().map(Vec::len).collect();
    Array::from_fn(&shape, |index| {
        a.at(&index.iter().zip(places).map(|(&i, places)| places[i]).collect::<Vec<_>>())
    })
}

/// What the slices take of each axis, or `None` if one is outside.
pub(crate) fn places(shape: &[usize], slices: &[Slice]) -> Option<Vec<Vec<usize>>> {
    let slice = |axis: usize| slices.get(axis).copied().unwrap_or(Slice::ALL);
    shape.iter().enumerate().map(|(axis, &size)| taken(slice(axis), size)).collect()
}

fn entry() -> impl Strategy<Value = BasicIndex> {
    let bound = || prop::option::of(-7i64..9);
    let slice = (bound(), bound(), prop::option::of(prop_oneof![-3i64..0, 1i64..4]))
        .prop_map(|(start, stop, step)| BasicIndex::Slice { start, stop, step });
    prop_oneof![6 => slice, 2 => (-3i64..3).prop_map(BasicIndex::Int), 1 => Just(BasicIndex::NewAxis), 1 => Just(BasicIndex::Ellipsis)]
}

/// What NumPy makes of the index; `None` if it is an error.
fn indexed(a: &Array<i128>, entries: &[BasicIndex]) -> Option<Array<i128>> {
    let used =
        entries.iter().filter(|entry| matches!(entry, BasicIndex::Int(_) | BasicIndex::Slice { .. })).count();
    let ellipses = entries.iter().filter(|entry| **entry == BasicIndex::Ellipsis).count();
    let rest = a.shape.len().checked_sub(used).filter(|_| ellipses < 2)?;
    let (mut all, mut shape, mut axis) = (Vec::new(), Vec::new(), 0);
    let tail = [BasicIndex::Ellipsis];
    for entry in entries.iter().chain(if ellipses == 0 { &tail[..] } else { &[] }) {
        match *entry {
            BasicIndex::NewAxis => shape.push(1),
            BasicIndex::Ellipsis => {
                for &size in &a.shape[axis..axis + rest] {
                    all.push((0..size).collect());
                    shape.push(size);
                }
                axis += rest;
            }
            BasicIndex::Int(index) => {
                all.push(taken(Slice::At(index as isize), a.shape[axis])?);
                axis += 1;
            }
            BasicIndex::Slice { start, stop, step } => {
                all.push(taken_by_python(start, stop, step.unwrap_or(1), a.shape[axis]));
                shape.push(all[axis].len());
                axis += 1;
            }
        }
    }
    Some(Array { shape, data: part(a, &all).data })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn slices_take_parts(case in case(all_dtypes()), slices in prop::collection::vec(slice(), 0..5)) {
        let a = case.labels();
        let slices = &slices[..slices.len().min(a.shape.len())];
        let (x, places) = (case.tensor(&a), places(&a.shape, slices));
        let found = x.slice(slices);
        prop_assert_eq!(found.is_ok(), places.is_some());
        let Some(places) = places else { return Ok(()) };
        let found = found.unwrap();
        exactly("slice", &found, case.dtype, &part(&a, &places))?;
        exactly("contiguous", &found.contiguous(), case.dtype, &part(&a, &places))?;
        let values = Case {
            shape: found.shape().to_vec(),
            way: crate::array::Way::plain(a.shape.len()),
            ..case.clone()
        };
        let b = values.labels();
        let inside = |index: &[usize]| -> Option<Vec<usize>> {
            index.iter().zip(&places).map(|(i, places)| places.iter().position(|place| place == i)).collect()
        };
        let expected =
            Array::from_fn(&a.shape, |index| inside(index).map_or_else(|| a.at(index), |at| b.at(&at)));
        exactly("slice_assign", &x.slice_assign(slices, &values.tensor(&b)).unwrap(), case.dtype, &expected)?;
        let expected =
            Array::from_fn(&a.shape, |index| if inside(index).is_some() { 1 } else { a.at(index) });
        exactly("slice_fill", &x.slice_fill(slices, 1i64.into()).unwrap(), case.dtype, &expected)?;
    }

    #[test]
    fn basic_indices_are_those_of_numpy(
        case in case(all_dtypes()),
        entries in prop::collection::vec(entry(), 0..5),
    ) {
        let a = case.labels();
        let (x, expected) = (case.tensor(&a), indexed(&a, &entries));
        let found = x.index(&entries);
        prop_assert_eq!(found.is_ok(), expected.is_some(), "{:?} of {:?}", entries, a.shape);
        let Some(expected) = expected else { return Ok(()) };
        exactly("index", &found.unwrap(), case.dtype, &expected)?;
        let one = Tensor::ones(&[], case.dtype).unwrap();
        let filled = x.index_assign(&entries, &one).unwrap();
        exactly("index_assign", &filled.index(&entries).unwrap(), case.dtype, &expected.map(|_| 1))?;
    }

    #[test]
    fn axes_change_their_places(
        case in case(all_dtypes()),
        (a_dim, b_dim) in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let (a, rank) = (case.labels(), case.shape.len());
        let x = case.tensor(&a);
        exactly("itself", &x, case.dtype, &a)?;
        let order: Vec<usize> = {
            let mut order: Vec<usize> = (0..rank).collect();
            order.sort_by_key(|&axis| hash(case.seed, axis));
            order
        };
        let shape: Vec<usize> = order.iter().map(|&axis| a.shape[axis]).collect();
        let permuted = Array::from_fn(&shape, |index| {
            let mut at = vec![0; rank];
            order.iter().zip(index).for_each(|(&axis, &i)| at[axis] = i);
            a.at(&at)
        });
        let dims: Vec<isize> = order.iter().map(|&axis| axis as isize).collect();
        exactly("permute", &x.permute(&dims).unwrap(), case.dtype, &permuted)?;
        let places: Vec<isize> = (0..rank as isize).collect();
        exactly("movedim", &x.movedim(&dims, &places).unwrap(), case.dtype, &permuted)?;
        if rank == 0 {
            return Ok(());
        }
        let (i, j) = (a_dim.index(rank), b_dim.index(rank));
        let mut shape = a.shape.clone();
        shape.swap(i, j);
        let swapped = Array::from_fn(&shape, |index| {
            let mut at = index.to_vec();
            at.swap(i, j);
            a.at(&at)
        });
        exactly(
            "swap_dims",
            &x.swap_dims(i as isize, j as isize - rank as isize).unwrap(),
            case.dtype,
            &swapped,
        )?;
        let flips: Vec<usize> = (0..rank).filter(|&axis| hash(case.seed, axis + 9) & 1 == 1).collect();
        let flipped = Array::from_fn(&a.shape, |index| {
            let mut at = index.to_vec();
            flips.iter().for_each(|&axis| at[axis] = a.shape[axis] - 1 - at[axis]);
            a.at(&at)
        });
        let dims: Vec<isize> = flips.iter().map(|&axis| axis as isize).collect();
        exactly("flip", &x.flip(&dims).unwrap(), case.dtype, &flipped)?;
    }

    #[test]
    fn shapes_change_around_the_same_elements(
        (case, axis) in case_and_axis(all_dtypes()),
        end in any::<prop::sample::Index>(),
    ) {
        let (a, x, rank) = (case.labels(), case.tensor(&case.labels()), case.shape.len());
        let seen = |shape: &[usize]| Array { shape: shape.to_vec(), data: a.data.clone() };
        let end = axis + end.index(rank - axis);
        let flat = [&a.shape[..axis], &[a.shape[axis..=end].iter().product()], &a.shape[end + 1..]].concat();
        let flattened = x.flatten(axis as isize, end as isize).unwrap();
        exactly("flatten", &flattened, case.dtype, &seen(&flat))?;
        let back: Vec<isize> = a.shape.iter().map(|&size| size as isize).collect();
        exactly("reshape", &flattened.reshape_literal(&back).unwrap(), case.dtype, &a)?;
        let mut inferred = back.clone();
        inferred[axis] = -1;
        let found = flattened.reshape_literal(&inferred);
        let known = a.shape.iter().enumerate().all(|(i, &size)| i == axis || size > 0);
        prop_assert_eq!(found.is_ok(), known);
        if let Ok(found) = found {
            exactly("reshape with -1", &found, case.dtype, &a)?;
        }
        let wide = [&a.shape[..axis], &[1], &a.shape[axis..]].concat();
        let unsqueezed = x.unsqueeze_dim(axis as isize).unwrap();
        exactly("unsqueeze_dim", &unsqueezed, case.dtype, &seen(&wide))?;
        exactly("squeeze_dim", &unsqueezed.squeeze_dim(axis as isize).unwrap(), case.dtype, &a)?;
        let narrow: Vec<usize> = a.shape.iter().copied().filter(|&size| size != 1).collect();
        exactly("squeeze", &x.squeeze().unwrap(), case.dtype, &seen(&narrow))?;
        exactly(
            "unsqueeze",
            &x.unsqueeze(rank + 1).unwrap(),
            case.dtype,
            &seen(&[&[1], &a.shape[..]].concat()),
        )?;
        prop_assert_eq!(x.squeeze_dim(axis as isize).is_ok(), a.shape[axis] == 1);
        prop_assert!(x.reshape_literal(&[a.data.len() as isize + 1]).is_err());
    }

    #[test]
    fn axes_of_one_are_repeated((case, wanted) in repeated()) {
        let (a, x) = (case.labels(), case.tensor(&case.labels()));
        let expected = Array::from_fn(&wanted, |index| a.spread(index));
        let sizes: Vec<isize> = wanted.iter().map(|&size| size as isize).collect();
        exactly("expand", &x.expand(&sizes).unwrap(), case.dtype, &expected)?;
        exactly("contiguous", &x.expand(&sizes).unwrap().contiguous(), case.dtype, &expected)?;
    }

    #[test]
    fn windows_slide_along_an_axis(
        (case, axis) in case_and_axis(all_dtypes()),
        (size, step) in (0usize..5, 0usize..4),
    ) {
        let (a, x, held) = (case.labels(), case.tensor(&case.labels()), case.shape[axis]);
        let found = x.unfold(axis as isize, size, step);
        prop_assert_eq!(found.is_ok(), size > 0 && step > 0 && size <= held);
        let Ok(found) = found else { return Ok(()) };
        let mut shape = [&a.shape[..], &[size]].concat();
        shape[axis] = (held - size) / step + 1;
        let expected = Array::from_fn(&shape, |index| {
            let mut at = index[..index.len() - 1].to_vec();
            at[axis] = at[axis] * step + index[index.len() - 1];
            a.at(&at)
        });
        exactly("unfold", &found, case.dtype, &expected)?;
    }
}

/// A case and a shape that it expands to.
fn repeated() -> impl Strategy<Value = (Case, Vec<usize>)> {
    (shape(), all_dtypes(), any::<u8>(), prop::collection::vec(0usize..3, 0..2)).prop_flat_map(
        |(shape, dtype, bits, lead)| {
            let narrow: Vec<usize> = shape
                .iter()
                .enumerate()
                .map(|(axis, &size)| if bits >> axis & 1 == 1 { 1 } else { size })
                .collect();
            (case_of(narrow, dtype), Just([lead, shape].concat()))
        },
    )
}
