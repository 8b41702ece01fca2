use crate::ops::check::{assert_close, check_gradients, doubles, numbers, tensor};
use crate::ops::{INT, cast::cast_value};
use crate::{DType, Error, Result, Tensor, Value};

const NAN: f32 = f32::NAN;

/// The fold of the elements of each result, by indices, without any layout.
fn reference(x: &Value, axes: &[usize], fold: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let data = doubles(x);
    let shape = x.shape();
    let kept: Vec<usize> = (0..shape.len()).map(|i| if axes.contains(&i) { 1 } else { shape[i] }).collect();
    let mut groups = vec![Vec::new(); kept.iter().product()];
    for (i, &number) in data.iter().enumerate() {
        let (mut left, mut to, mut step) = (i, 0, 1);
        for axis in (0..shape.len()).rev() {
            to += left % shape[axis] % kept[axis] * step;
            left /= shape[axis];
            step *= kept[axis];
        }
        groups[to].push(number);
    }
    groups.iter().map(|group| fold(group)).collect()
}

fn views() -> Vec<Value> {
    let whole = numbers(&[6, 5, 4], 1);
    let flipped = whole.with_layout(whole.layout().sliced(1, 4, -2, 3));
    let column = numbers(&[3, 1, 4], 2).broadcast_to(&[3, 5, 4]).unwrap();
    vec![
        whole.clone(),
        whole.permuted(&[2, 0, 1]),
        whole.permuted(&[1, 2, 0]),
        flipped,
        column,
        numbers(&[1, 1, 1], 3),
    ]
}

#[test]
fn sums_and_extrema_of_any_axes_of_any_view_are_those_of_the_elements() {
    let dims: [&[isize]; 8] = [&[0], &[1], &[-1], &[0, 1], &[2, 0], &[1, 2], &[0, 1, 2], &[]];
    for x in views() {
        for dims in dims {
            let axes: Vec<usize> = dims.iter().map(|&dim| dim.rem_euclid(3) as usize).collect();
            let t = Tensor::from(x.clone());
            let check = |found: Result<Tensor>, fold: fn(&[f64]) -> f64| {
                assert_close(&doubles(found.unwrap().value()), &reference(&x, &axes, fold), 1e-13);
            };
            check(t.sum_dims(dims), |x| x.iter().sum());
            check(t.mean_dims(dims), |x| x.iter().sum::<f64>() / x.len() as f64);
            check(t.prod_dims(dims), |x| x.iter().product());
            check(t.max_dims(dims), |x| x.iter().copied().fold(f64::MIN, f64::max));
            check(t.min_dims(dims), |x| x.iter().copied().fold(f64::MAX, f64::min));
            check(t.max_abs_dims(dims), |x| x.iter().fold(0.0, |most, x| x.abs().max(most)));
        }
        let t = Tensor::from(x.clone());
        for axis in 0..3 {
            let variance = |x: &[f64]| {
                let mean = x.iter().sum::<f64>() / x.len() as f64;
                x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64
            };
            assert_close(
                &doubles(t.var_bias(axis as isize).unwrap().value()),
                &reference(&x, &[axis], variance),
                1e-13,
            );
            let first = |x: &[f64]| {
                let most = x.iter().copied().fold(f64::MIN, f64::max);
                x.iter().position(|&x| x == most).unwrap() as f64
            };
            let found = t.argmax(axis as isize).unwrap();
            assert_eq!((found.dtype(), doubles(found.value())), (INT, reference(&x, &[axis], first)));
        }
    }
}

#[test]
fn long_arrays_are_summed_in_segments_on_every_path() {
    for (shape, dims) in [
        (vec![100_000], vec![0isize]),
        (vec![3, 70_000], vec![1]),
        (vec![70_000, 3], vec![0]),
        (vec![300, 700], vec![0]),
        (vec![2, 300, 700], vec![1]),
        (vec![40, 3, 2000], vec![0, 2]),
        (vec![70_000, 3], vec![1]),
    ] {
        let count: usize = shape.iter().product();
        let data: Vec<f32> = (0..count).map(|i| (i % 7) as f32 + 0.25).collect();
        let x = Value::from_slice(&data, &shape).unwrap();
        let axes: Vec<usize> = dims.iter().map(|&dim| dim as usize).collect();
        let found = Tensor::from(x.clone()).sum_dims(&dims).unwrap();
        assert_eq!(doubles(found.value()), reference(&x, &axes, |x| x.iter().sum()), "{shape:?} {dims:?}");
        let found = Tensor::from(x.clone()).argmin(dims[0]).unwrap();
        let first = |x: &[f64]| x.iter().position(|&y| x.iter().all(|&x| y <= x)).unwrap() as f64;
        if count < 1000 || axes.len() == 1 && shape[axes[0]] < 400 {
            assert_eq!(doubles(found.value()), reference(&x, &[axes[0]], first));
        }
    }
}

#[test]
fn many_small_terms_keep_their_digits() {
    let x = tensor(&vec![0.1f32; 1 << 20], &[1 << 20]);
    assert_close(&doubles(x.mean().unwrap().value()), &[0.1], 1e-7);
    let offset: Vec<f32> = (0..64).map(|i| 1e6 + (i % 4) as f32).collect();
    assert_close(&doubles(tensor(&offset, &[1, 64]).var_bias(1).unwrap().value()), &[1.25], 1e-7);
}

#[test]
fn gradients_are_central_differences() {
    let x = [numbers(&[3, 4, 2], 1)];
    let view = [numbers(&[4, 2, 3], 1).permuted(&[2, 0, 1])];
    let cases: [fn(&Tensor) -> Result<Tensor>; 15] = [
        |x| x.sum(),
        |x| x.mean(),
        |x| x.prod(),
        |x| x.max(),
        |x| x.min(),
        |x| x.max_abs(),
        |x| x.sum_dims_squeeze(&[0, 2]),
        |x| x.mean_dims(&[1, 2]),
        |x| x.prod_dim(1),
        |x| x.prod_dims(&[2, 0]),
        |x| x.max_dim(1),
        |x| x.min_dims(&[0, 2]),
        |x| x.max_abs_dim(0),
        |x| x.var(1),
        |x| x.var_bias(0),
    ];
    for run in cases {
        check_gradients(&x, |x| run(&x[0]));
        check_gradients(&view, |x| run(&x[0]));
    }
}

#[test]
fn the_gradient_of_a_product_with_zeros_is_the_product_of_the_others() {
    let grad = |data: &[f64]| {
        let x = tensor(data, &[data.len()]).autodiff().require_grad().unwrap();
        let grads = x.prod().unwrap().backward().unwrap();
        doubles(x.grad(&grads).unwrap())
    };
    assert_eq!(grad(&[2.0, 0.0, 5.0]), [0.0, 10.0, 0.0]);
    assert_eq!(grad(&[2.0, 0.0, 0.0]), [0.0; 3]);
    assert_eq!(grad(&[2.0, 3.0, 5.0]), [15.0, 10.0, 6.0]);
}

#[test]
fn nan_wins_and_the_first_of_ties() {
    let x = tensor(&[1.0f32, NAN, 5.0, NAN, 7.0, 7.0, 2.0, 2.0], &[2, 4]);
    let [max, min] = [x.max_dim(1), x.min_dim(1)].map(|y| doubles(y.unwrap().value()));
    assert!(max[0].is_nan() && min[0].is_nan());
    assert_eq!((max[1], min[1]), (7.0, 2.0));
    let (values, at) = x.max_dim_with_indices(1).unwrap();
    assert_eq!((doubles(at.value()), values.shape()), (vec![1.0, 0.0], &[2, 1][..]));
    assert_eq!(doubles(x.argmin(1).unwrap().value()), [1.0, 2.0]);
    assert_eq!(doubles(x.argmax(0).unwrap().value()), [1.0, 0.0, 0.0, 0.0]);
    let wide = tensor(&[&[0.0f32; 40][..], &[NAN, 3.0], &[0.0; 40], &[NAN]].concat(), &[83]);
    assert_eq!(doubles(wide.argmax(0).unwrap().value()), [40.0]);
}

#[test]
fn ties_give_the_gradient_to_the_first() {
    let x = tensor(&[1.0f32, 3.0, 3.0, -3.0], &[4]).autodiff().require_grad().unwrap();
    for (y, expected) in [
        (x.max(), [0.0, 1.0, 0.0, 0.0]),
        (x.max_abs(), [0.0, 1.0, 0.0, 0.0]),
        (x.min(), [0.0, 0.0, 0.0, 1.0]),
    ] {
        let grads = y.unwrap().backward().unwrap();
        assert_eq!(doubles(x.grad(&grads).unwrap()), expected);
    }
}

#[test]
fn integers_wrap_divide_and_keep_their_dtype() {
    let x = tensor(&[100i8, 100, -3, -4], &[2, 2]);
    assert_eq!(x.sum_dim(1).unwrap().value().as_slice::<i8>(), Some(&[-56, -7][..]));
    assert_eq!(x.mean_dim(1).unwrap().value().as_slice::<i8>(), Some(&[100, -3][..]));
    assert_eq!(x.prod_dim(1).unwrap().value().as_slice::<i8>(), Some(&[16, 12][..]));
    assert_eq!(x.max().unwrap().value().as_slice::<i8>(), Some(&[100][..]));
    let mean = tensor(&[0i64, 1, 2, 3, 4, 5], &[2, 3]).mean_dim(1).unwrap();
    assert_eq!((mean.shape(), doubles(mean.value())), (&[2, 1][..], vec![1.0, 4.0]));
    let half: Tensor = cast_value(&numbers(&[4], 0), DType::BF16).unwrap().into();
    assert_eq!(half.sum().unwrap().dtype(), DType::BF16);
}

#[test]
fn the_largest_absolute_value_is_that_of_abs_for_integers_of_any_width() {
    for dtype in [DType::I8, DType::I16, DType::I32, DType::I64] {
        let lowest = tensor(&[1i64 << 63 >> (64 - 8 * dtype.size().unwrap()), -3], &[2]).cast(dtype).unwrap();
        assert_eq!(doubles(lowest.max_abs().unwrap().value()), [3.0]);
        assert_eq!(doubles(lowest.abs().unwrap().max().unwrap().value()), [3.0]);
    }
}

#[test]
fn nothing_at_all() {
    let none = tensor::<f32>(&[], &[2, 0, 3]);
    assert_eq!(none.sum_dim(1).unwrap().value().as_slice::<f32>(), Some(&[0.0; 6][..]));
    assert_eq!(none.prod().unwrap().value().as_slice::<f32>(), Some(&[1.0][..]));
    assert!(doubles(none.mean().unwrap().value())[0].is_nan());
    assert_eq!(none.max_dim(0).unwrap().shape(), [1, 0, 3]);
    assert_eq!(none.any().unwrap().value().as_slice::<u8>(), Some(&[0][..]));
    assert_eq!(none.all().unwrap().value().as_slice::<u8>(), Some(&[1][..]));
    let message = |result: Result<Tensor>| result.map_err(|error: Error| error.to_string()).unwrap_err();
    assert_eq!(message(none.max_dim(1)), "max_dim: no elements to reduce in shape [2, 0, 3]");
    assert_eq!(message(none.max()), "max: no elements to reduce in shape [2, 0, 3]");
    assert_eq!(message(tensor::<i32>(&[], &[0]).mean()), "mean: no mean of no integers, shape [0]");
    assert_eq!(message(none.sum_dim(3)), "sum_dim: axis 3 is outside of a tensor of rank 3");
    let scalar = tensor(&[4.0f64], &[]);
    assert_eq!(
        (scalar.sum().unwrap().shape(), doubles(scalar.max().unwrap().value())),
        (&[1][..], vec![4.0])
    );
    check_gradients(&[numbers(&[], 0)], |x| x[0].mean());
}

#[test]
fn any_and_all_test_for_not_zero() {
    let x = tensor(&[0.0f32, 2.0, NAN, 1.0], &[2, 2]);
    let flags = |y: Result<Tensor>| y.unwrap().value().as_slice::<u8>().unwrap().to_vec();
    assert_eq!((flags(x.any()), flags(x.all())), (vec![1], vec![0]));
    assert_eq!((flags(x.any_dim(1)), flags(x.all_dim(1))), (vec![1, 1], vec![0, 1]));
    assert_eq!(flags(x.all_dim(0)), [0, 1]);
}
