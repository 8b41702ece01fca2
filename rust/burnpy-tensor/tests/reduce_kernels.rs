//! Reductions beside plain loops, over shapes around the lanes, blocks and tiles.

use burnpy_tensor::kernels::reduce::{
    self, Fold, Largest, Max, Min, Prod, Smallest, Sum, SumSquares, moments_rows,
};
use burnpy_tensor::parallel::set_num_threads;

fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7919) % 2003) as f32 / 500.0 - 2.0).collect()
}

const SHAPES: [[usize; 3]; 10] = [
    [1, 1, 1],
    [3, 0, 2],
    [2, 5, 1],
    [2, 31, 3],
    [1, 200, 33],
    [3, 2, 700],
    [1, 40_000, 3],
    [2, 300, 513],
    [40, 3, 600],
    [1, 100_000, 1],
];

fn naive(
    x: &[f32],
    [outer, axis, inner]: [usize; 3],
    fold: impl Fn(f64, f64) -> f64,
    start: f64,
) -> Vec<f64> {
    let column = |o, j| (0..axis).map(move |i| f64::from(x[(o * axis + i) * inner + j]));
    (0..outer)
        .flat_map(|o| (0..inner).map(move |j| (o, j)))
        .map(|(o, j)| column(o, j).fold(start, &fold))
        .collect()
}

fn check(name: &str, fold: impl Fold<f32>, step: impl Fn(f64, f64) -> f64, start: f64) {
    for shape in SHAPES {
        let [outer, axis, inner] = shape;
        let x = numbers(outer * axis * inner);
        let mut found = vec![0.0; outer * inner];
        reduce::axis(fold, &x, shape, &mut found);
        for (found, wanted) in found.iter().zip(naive(&x, shape, &step, start)) {
            let off = (f64::from(*found) - wanted).abs();
            assert!(
                *found == wanted as f32 || off <= 1e-6 * wanted.abs(),
                "{name} {shape:?}: {found} not {wanted}"
            );
        }
    }
}

#[test]
fn a_reduction_over_an_axis_is_that_of_its_columns() {
    check("sum", Sum, |a, b| a + b, 0.0);
    check("squares", SumSquares, |a, b| a + b * b, 0.0);
    check("max", Max, f64::max, f64::NEG_INFINITY);
    check("min", Min, f64::min, f64::INFINITY);
}

#[test]
fn the_bits_of_a_sum_are_those_on_one_thread() {
    let x: Vec<f64> = numbers(300_000).into_iter().map(|x| f64::from(x) / 3.0).collect();
    let run = |threads| {
        set_num_threads(threads);
        let (mut columns, mut mean, mut variance) = (vec![0.0; 100], vec![0.0; 300], vec![0.0; 300]);
        reduce::axis(Sum, &x, [1, 3000, 100], &mut columns);
        moments_rows(&x, 1000, &mut mean, &mut variance);
        let all = [columns, mean, variance, vec![reduce::all(Sum, &x)]].concat();
        all.into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    let one = run(1);
    assert!([2, 3, 4].into_iter().all(|threads| run(threads) == one));
}

#[test]
fn a_long_sum_of_singles_is_exact_to_the_last_bit() {
    let x = vec![0.1f32; 10_000_000];
    assert_eq!(reduce::all(Sum, &x), (0.1f32 as f64 * 1e7) as f32);
}

#[test]
fn integers_wrap_and_nothing_gives_the_start() {
    assert_eq!(reduce::all(Sum, &[200u8, 100]), 44);
    assert_eq!(reduce::all(Prod, &[i64::MAX, 2]), -2);
    assert_eq!((reduce::all(Sum, &[0i32; 0]), reduce::all(Prod, &[0.0f32; 0])), (0, 1.0));
}

#[test]
fn nan_wins_wherever_it_stands() {
    for at in [0, 1, 31, 32, 63, 64, 99] {
        let mut x = numbers(100);
        x[at] = f32::NAN;
        assert!(reduce::all(Max, &x).is_nan() && reduce::all(Min, &x).is_nan());
        let mut found = [0];
        reduce::arg_rows(Largest, &x, 100, &mut found);
        assert_eq!(found, [at as i64]);
        let mut columns = [0; 2];
        reduce::arg_axis(Smallest, &x, [1, 50, 2], &mut columns);
        assert_eq!(columns[at % 2], at as i64 / 2);
    }
}

#[test]
fn the_first_of_equal_extrema_counts() {
    for shape in SHAPES.into_iter().filter(|shape| shape[1] > 0) {
        let [outer, axis, inner] = shape;
        let x = numbers(outer * axis * inner);
        let (mut largest, mut smallest) = (vec![-1; outer * inner], vec![-1; outer * inner]);
        reduce::arg_axis(Largest, &x, shape, &mut largest);
        reduce::arg_axis(Smallest, &x, shape, &mut smallest);
        for (k, (&largest, &smallest)) in largest.iter().zip(&smallest).enumerate() {
            let column: Vec<f32> = (0..axis).map(|i| x[(k / inner * axis + i) * inner + k % inner]).collect();
            let first = |value: f32| column.iter().position(|&x| x == value).map(|at| at as i64);
            assert_eq!(first(column.iter().copied().fold(f32::MIN, f32::max)), Some(largest), "{shape:?}");
            assert_eq!(first(column.iter().copied().fold(f32::MAX, f32::min)), Some(smallest), "{shape:?}");
        }
    }
}

#[test]
fn a_variance_survives_a_large_mean() {
    let x: Vec<f64> = (0..90_000).map(|i| 1e9 + f64::from(i % 2)).collect();
    for columns in [2, 1000, 90_000] {
        let (mut mean, mut variance) = (vec![0.0; x.len() / columns], vec![0.0; x.len() / columns]);
        moments_rows(&x, columns, &mut mean, &mut variance);
        assert!(mean.iter().all(|&mean| mean == 1e9 + 0.5) && variance.iter().all(|&v| v == 0.25));
    }
}
