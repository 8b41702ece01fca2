//! Elements picked and changed by tensors of indices.

use burnpy_tensor::ops::{INT, IndexingUpdateOp};
use burnpy_tensor::{BOOL, DType, Result, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

use crate::array::{Array, Tested, Way, each_index, exactly, tensor};
use crate::cases::{Case, FLOATS, all_dtypes, case, case_and_axis, config, hash};
use crate::floats::largest;

const UPDATES: [IndexingUpdateOp; 5] = [
    IndexingUpdateOp::Assign,
    IndexingUpdateOp::Add,
    IndexingUpdateOp::Mul,
    IndexingUpdateOp::Min,
    IndexingUpdateOp::Max,
];

/// Dtypes that hold the indices of small axes.
const INDICES: [DType; 6] = [DType::I32, DType::I64, DType::U8, DType::I8, DType::U32, DType::U64];

/// Random indices below a size.
fn indices(shape: &[usize], size: usize, seed: u64) -> Array<i128> {
    let mut i = 0;
    Array::from_fn(shape, |_| {
        i += 1;
        i128::from(hash(seed, i) % size.max(1) as u64)
    })
}

fn as_tensor(at: &Array<i128>, dtype: DType) -> Tensor {
    // Half of the time in another order of axes in memory.
    let mut way = Way::plain(at.shape.len());
    if at.data.len().is_multiple_of(2) {
        way.order.reverse();
    }
    tensor(at, &way, dtype)
}

fn updated(update: IndexingUpdateOp, x: f64, v: f64) -> f64 {
    match update {
        IndexingUpdateOp::Assign => v,
        IndexingUpdateOp::Add => x + v,
        IndexingUpdateOp::Mul => x * v,
        IndexingUpdateOp::Min => -largest(-x, -v),
        IndexingUpdateOp::Max => largest(x, v),
    }
}

/// A case's array changed at places, in the order of the values, each with the index it has.
fn changed(
    a: &Array<f64>,
    v: &Array<f64>,
    update: IndexingUpdateOp,
    place: impl Fn(&[usize]) -> Vec<usize>,
) -> Array<f64> {
    let mut out = a.clone();
    each_index(&v.shape, |index| {
        let at = crate::array::flat(&place(index), &a.shape);
        out.data[at] = updated(update, out.data[at], v.at(index));
    });
    out
}

/// An update gives what is expected; of booleans there are only those that move, or add.
fn check(
    name: &str,
    found: Result<Tensor>,
    case: &Case,
    update: IndexingUpdateOp,
    expected: &Array<f64>,
) -> Tested {
    if case.dtype == BOOL && !matches!(update, IndexingUpdateOp::Assign | IndexingUpdateOp::Add) {
        prop_assert!(found.is_err());
        return Ok(());
    }
    let expected =
        if case.dtype == BOOL { expected.map(|x| f64::from(u8::from(x != 0.0))) } else { expected.clone() };
    exactly(name, &found.unwrap(), case.dtype, &expected)
}

/// Values for updates: few and small, so that no dtype rounds or wraps.
fn numbers(case: &Case) -> Array<f64> {
    case.labels().map(|x| (x % 2) as f64)
}

fn values(case: &Case, shape: &[usize]) -> (Array<f64>, Tensor) {
    let other =
        Case { shape: shape.to_vec(), way: Way::plain(shape.len()), seed: case.seed ^ 5, ..case.clone() };
    let v = numbers(&other);
    let t = other.tensor(&v);
    (v, t)
}

fn with(index: &[usize], axis: usize, place: usize) -> Vec<usize> {
    let mut at = index.to_vec();
    at[axis] = place;
    at
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn rows_are_picked_and_changed(
        (case, axis) in case_and_axis(all_dtypes()),
        count in 0usize..6,
        update in select(&UPDATES[..]),
        int in select(&INDICES[..]),
    ) {
        let (a, size, dim) = (case.labels(), case.shape[axis].min(100), axis as isize);
        let count = if size == 0 { 0 } else { count };
        let at = indices(&[count], size, case.seed);
        let (x, rows) = (case.tensor(&a), as_tensor(&at, int));
        let expected = a.with_rows(axis, count, |row| at.data.iter().map(|&i| row[i as usize]).collect());
        exactly("select", &x.select(dim, &rows).unwrap(), case.dtype, &expected)?;
        let wide = at.shape.iter().chain(&[1]).copied().collect::<Vec<_>>();
        let taken =
            Array { shape: [&a.shape[..axis], &wide, &a.shape[axis + 1..]].concat(), data: expected.data };
        exactly("take", &x.take(dim, &rows.unsqueeze_dim(-1).unwrap()).unwrap(), case.dtype, &taken)?;
        let b = numbers(&case);
        let mut shape = a.shape.clone();
        shape[axis] = count;
        let (v, new) = values(&case, &shape);
        let found = case.tensor(&b).select_assign(dim, &rows, &new, update);
        check(
            "select_assign",
            found,
            &case,
            update,
            &changed(&b, &v, update, |index| with(index, axis, at.data[index[axis]] as usize)),
        )?;
        for outside in [case.shape[axis] as i128, -1] {
            let one = tensor(&Array { shape: vec![1], data: vec![outside] }, &Way::plain(1), DType::I64);
            prop_assert!(x.select(dim, &one).is_err() && x.take(dim, &one).is_err());
        }
    }

    #[test]
    fn elements_are_gathered_and_scattered(
        (case, axis) in case_and_axis(all_dtypes()),
        count in 0usize..6,
        update in select(&UPDATES[..]),
        int in select(&INDICES[..]),
    ) {
        let (a, size, dim) = (case.labels(), case.shape[axis].min(100), axis as isize);
        let mut shape = case.shape.clone();
        shape[axis] = if size == 0 { 0 } else { count };
        let at = indices(&shape, size, case.seed);
        let (x, places) = (case.tensor(&a), as_tensor(&at, int));
        let place = |index: &[usize]| with(index, axis, at.at(index) as usize);
        let expected = Array::from_fn(&shape, |index| a.at(&place(index)));
        exactly("gather", &x.gather(dim, &places).unwrap(), case.dtype, &expected)?;
        let (b, (v, new)) = (numbers(&case), values(&case, &shape));
        let found = case.tensor(&b).scatter(dim, &places, &new, update);
        check("scatter", found, &case, update, &changed(&b, &v, update, place))?;
        if !at.data.is_empty() {
            let outside = tensor(&at.map(|_| a.shape[axis] as i128), &Way::plain(shape.len()), DType::I64);
            prop_assert!(x.gather(dim, &outside).is_err() && x.scatter(dim, &outside, &x, update).is_err());
        }
        prop_assert!(x.gather(dim, &places.unsqueeze_dim(0).unwrap()).is_err());
    }

    #[test]
    fn coordinates_name_elements_or_rows(
        case in case(all_dtypes()),
        depth in any::<prop::sample::Index>(),
        lead in prop::collection::vec(0usize..4, 0..3),
        update in select(&UPDATES[..]),
    ) {
        let (a, depth) = (case.labels(), depth.index(case.shape.len() + 1));
        let lead = if a.shape[..depth].contains(&0) { vec![0] } else { lead };
        let (head, tail) = a.shape.split_at(depth);
        let mut i = 0;
        let at = Array::from_fn(&[&lead[..], &[depth]].concat(), |index| {
            i += 1;
            i128::from(hash(case.seed, i) % head[index[index.len() - 1]] as u64)
        });
        let (x, coordinates) = (case.tensor(&a), as_tensor(&at, DType::I32));
        let place = |index: &[usize]| {
            let (row, rest) = index.split_at(lead.len());
            let named = (0..depth).map(|k| at.at(&[row, &[k]].concat()) as usize);
            named.chain(rest.iter().copied()).collect::<Vec<_>>()
        };
        let shape = [&lead[..], tail].concat();
        let expected = Array::from_fn(&shape, |index| a.at(&place(index)));
        exactly("gather_nd", &x.gather_nd(&coordinates).unwrap(), case.dtype, &expected)?;
        let (b, (v, new)) = (numbers(&case), values(&case, &shape));
        let found = case.tensor(&b).scatter_nd(&coordinates, &new, update);
        check("scatter_nd", found, &case, update, &changed(&b, &v, update, place))?;
    }

    #[test]
    fn masks_pick_elements(case in case(all_dtypes())) {
        let a = case.labels();
        let mask = Case { dtype: BOOL, seed: case.seed ^ 3, ..case.clone() };
        let m = mask.labels();
        let (x, flags) = (case.tensor(&a), mask.tensor(&m));
        let data: Vec<i128> = a.data.iter().zip(&m.data).filter(|(_, m)| **m == 1).map(|(&x, _)| x).collect();
        exactly(
            "mask_select",
            &x.mask_select(&flags).unwrap(),
            case.dtype,
            &Array { shape: vec![data.len()], data },
        )?;
        let mut places = Vec::new();
        each_index(&m.shape, |index| {
            if m.at(index) == 1 {
                places.extend(index.iter().map(|&i| i as i128));
            }
        });
        let (rank, count) = (m.shape.len(), m.data.iter().sum::<i128>() as usize);
        let found = flags.argwhere().unwrap();
        exactly("argwhere", &found, INT, &Array { shape: vec![count, rank], data: places.clone() })?;
        for (axis, found) in flags.nonzero().unwrap().iter().enumerate() {
            let data = places.iter().skip(axis).step_by(rank).copied().collect();
            exactly("nonzero", found, INT, &Array { shape: vec![count], data })?;
        }
    }

    #[test]
    fn nan_wins_extrema_that_are_scattered(
        (case, axis) in case_and_axis(select(&FLOATS[..])),
        update in select(&UPDATES[3..]),
    ) {
        let (a, dim) = (case.quarters(), axis as isize);
        prop_assume!(a.shape[axis] > 0);
        let at = indices(&a.shape, a.shape[axis], case.seed);
        let other = Case { seed: case.seed ^ 7, ..case.clone() };
        let (v, places) = (other.quarters(), as_tensor(&at, DType::I64));
        let found = case.tensor(&a).scatter(dim, &places, &other.tensor(&v), update).unwrap();
        exactly(
            "scatter",
            &found,
            case.dtype,
            &changed(&a, &v, update, |index| with(index, axis, at.at(index) as usize)),
        )?;
    }

    #[test]
    fn classes_become_rows(case in case(select(&INDICES[..])), classes in 1usize..6) {
        let a = case.labels().map(|x| x % classes as i128);
        let found = case.tensor(&a).one_hot(classes);
        prop_assert_eq!(found.is_ok(), classes > 1);
        let Ok(found) = found else { return Ok(()) };
        let expected = Array::from_fn(&[&a.shape[..], &[classes]].concat(), |index| {
            let (at, class) = index.split_at(a.shape.len());
            i128::from(a.at(at) == class[0] as i128)
        });
        exactly("one_hot", &found, found.dtype(), &expected)?;
    }
}
