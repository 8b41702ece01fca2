//! Selections against nested loops over indices.

use burnpy_buffer::{BasicIndex, Layout, Selection};
use proptest::prelude::*;

/// The indices that Python's `range(size)[slice]` gives, by walking.
fn walk_slice(size: i64, start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<i64> {
    let from_end = |bound: i64| if bound < 0 { bound + size } else { bound };
    let mut index = start.map_or(if step > 0 { 0 } else { size - 1 }, from_end);
    let stop = stop.map_or(if step > 0 { size } else { -1 }, from_end);
    if step > 0 {
        index = index.max(0);
    } else {
        index = index.min(size - 1);
    }
    let mut taken = Vec::new();
    while (step > 0 && index < stop.min(size)) || (step < 0 && index > stop.max(-1)) {
        taken.push(index);
        index += step;
    }
    taken
}

/// Shape and flat source positions of a selection, for an index that is valid and has an entry per axis.
fn reference(shape: &[u64], index: &[BasicIndex]) -> (Vec<u64>, Vec<u64>) {
    let (mut result, mut positions, mut axis) = (Vec::new(), vec![0], 0);
    for entry in index {
        let size = shape.get(axis).map_or(0, |&size| size as i64);
        let taken = match *entry {
            BasicIndex::NewAxis => {
                result.push(1);
                continue;
            }
            BasicIndex::Int(index) => vec![if index < 0 { index + size } else { index }],
            BasicIndex::Slice { start, stop, step } => {
                let taken = walk_slice(size, start, stop, step.unwrap_or(1));
                result.push(taken.len() as u64);
                taken
            }
            BasicIndex::Ellipsis => unreachable!("not generated"),
        };
        positions = positions
            .iter()
            .flat_map(|&outer: &u64| taken.iter().map(move |&i| outer * size as u64 + i as u64))
            .collect();
        axis += 1;
    }
    (result, positions)
}

fn entry(size: u64) -> impl Strategy<Value = BasicIndex> {
    let bound = || prop::option::of(-8i64..8);
    let step = prop::option::of(prop_oneof![-3i64..=-1, 1i64..=3]);
    let slice =
        (bound(), bound(), step).prop_map(|(start, stop, step)| BasicIndex::Slice { start, stop, step });
    let size = size as i64;
    if size == 0 {
        slice.boxed()
    } else {
        prop_oneof![1 => (-size..size).prop_map(BasicIndex::Int), 3 => slice].boxed()
    }
}

/// A shape, and an index with an entry for each axis and new ones between.
fn shape_and_index() -> impl Strategy<Value = (Vec<u64>, Vec<BasicIndex>)> {
    prop::collection::vec(prop_oneof![1 => Just(0u64), 12 => 1u64..6], 0..4).prop_flat_map(|shape| {
        let entries: Vec<_> = shape.iter().map(|&size| (entry(size), any::<bool>())).collect();
        let index = entries.prop_map(|entries| {
            let with_axes = entries
                .into_iter()
                .flat_map(|(entry, new)| std::iter::once(entry).chain(new.then_some(BasicIndex::NewAxis)));
            with_axes.collect()
        });
        (Just(shape), index)
    })
}

/// With items of 14,000 bytes, rows of five are over the 64 KiB from which ranges are narrowed.
const ITEM_SIZES: [u64; 3] = [1, 4, 14_000];

/// Items at these positions, each filled with a byte that tells them apart: there are at most 125.
fn items(positions: impl IntoIterator<Item = u64>, item_size: u64) -> Vec<u8> {
    positions.into_iter().flat_map(|at| std::iter::repeat_n(at as u8, item_size as usize)).collect()
}

proptest! {
    #[test]
    fn selections_equal_nested_loops((shape, index) in shape_and_index(), item in 0..ITEM_SIZES.len()) {
        let item_size = ITEM_SIZES[item];
        let (expected_shape, positions) = reference(&shape, &index);
        let selection = Selection::new(&shape, &index).unwrap();
        prop_assert_eq!(selection.shape(), expected_shape);

        let total = shape.iter().product::<u64>() * item_size;
        let ranges = selection.row_ranges(item_size).unwrap();
        prop_assert!(ranges.iter().all(|range| range.start < range.end && range.end <= total));
        prop_assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));

        let source = items(0..total / item_size, item_size);
        let parts: Vec<&[u8]> = ranges.iter().map(|r| &source[r.start as usize..r.end as usize]).collect();
        let expected = items(positions, item_size);
        let mut out = vec![0; expected.len()];
        selection.gather(item_size, &ranges, &parts, &mut out).unwrap();
        prop_assert!(out == expected, "gathered from ranges");
        selection.gather(item_size, std::slice::from_ref(&(0..total)), &[&source], &mut out).unwrap();
        prop_assert!(out == expected, "gathered from the whole");
    }

    #[test]
    fn ranges_hold_the_selected_rows_and_no_others((shape, index) in shape_and_index()) {
        prop_assume!(!shape.is_empty());
        let selection = Selection::new(&shape, &index).unwrap();
        let row = shape[1..].iter().product::<u64>();
        let (_, positions) = reference(&shape, &index);
        let rows: std::collections::BTreeSet<u64> = positions.iter().map(|&at| at / row).collect();
        let covered: std::collections::BTreeSet<u64> =
            selection.row_ranges(1).unwrap().into_iter().flatten().map(|at| at / row).collect();
        prop_assert_eq!(rows, covered);
    }

    #[test]
    fn strided_views_equal_nested_loops((shape, index) in shape_and_index()) {
        let (expected_shape, positions) = reference(&shape, &index);
        let selection = Selection::new(&shape, &index).unwrap();
        let source = Layout::contiguous(shape.iter().map(|&size| size as usize).collect::<Vec<_>>()).unwrap();
        let view = source.select(&selection).unwrap();
        prop_assert_eq!(view.shape().iter().map(|&size| size as u64).collect::<Vec<_>>(), expected_shape);

        let mut found = vec![view.offset() as i64];
        for (&size, &stride) in view.shape().iter().zip(view.strides()) {
            let along = |&outer: &i64| (0..size as i64).map(move |i| outer + i * stride as i64);
            found = found.iter().flat_map(along).collect();
        }
        prop_assert_eq!(&found, &positions.iter().map(|&at| at as i64).collect::<Vec<_>>());
        let reach = found.iter().min().zip(found.iter().max());
        let bounds = reach.map(|(&low, &high)| low as usize..high as usize + 1);
        prop_assert_eq!(bounds.unwrap_or(view.offset()..view.offset()), view.reach());
        let sorted = found.windows(2).all(|pair| pair[1] == pair[0] + 1);
        prop_assert_eq!(view.is_contiguous(), sorted);
    }
}
