//! Convolutions, pools and their like: known values, gradients, and what is refused.

use burnpy_buffer::DType;

use super::check::{assert_close, check_gradients, doubles, numbers, tensor};
use super::*;
use crate::tensor::Tensor;

/// 0, 1, 2, …
fn arange(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    tensor(&(0..count).map(|i| i as f64).collect::<Vec<_>>(), shape)
}

/// The same tensor with another order in memory.
fn strided(x: &Tensor) -> Tensor {
    let mut order: Vec<usize> = (0..x.rank()).collect();
    order.reverse();
    x.value().permuted(&order).contiguous().permuted(&order).into()
}

#[track_caller]
fn assert_values(found: &Tensor, shape: &[usize], expected: &[f64]) {
    assert_eq!(found.shape(), shape);
    assert_close(&doubles(found.value()), expected, 1e-4);
}

#[test]
fn conv1d_has_the_values_of_the_table() {
    let (x, w, b) = (arange(&[2, 2, 4]), arange(&[2, 2, 3]), arange(&[2]));
    let padded = ConvOptions { padding: [(1, 1)], ..ConvOptions::default() };
    let expected =
        [[43., 67., 82., 49., 104., 176., 227., 158.], [139., 187., 202., 113., 392., 584., 635., 414.]];
    for x in [&x, &strided(&x)] {
        assert_values(&x.conv1d(&w, Some(&b), &padded).unwrap(), &[2, 2, 4], &expected.concat());
    }
    let dilated = ConvOptions { dilation: [2], ..padded };
    let expected = [62., 38., 159., 111., 158., 102., 447., 367.];
    assert_values(&x.conv1d(&w, Some(&b), &dilated).unwrap(), &[2, 2, 2], &expected);
    let grouped = ConvOptions { groups: 2, ..padded };
    let expected = [2., 5., 8., 3., 42., 63., 75., 47., 26., 29., 32., 11., 114., 159., 171., 103.];
    assert_values(&x.conv1d(&arange(&[2, 1, 3]), Some(&b), &grouped).unwrap(), &[2, 2, 4], &expected);
}

#[test]
fn transposed_convolutions_have_the_values_of_the_table() {
    let x = arange(&[1, 1, 2, 2]);
    let options = ConvTransposeOptions { padding: [1, 1], ..ConvTransposeOptions::default() };
    let y = x.conv_transpose2d(&arange(&[1, 1, 3, 3]), None, &options).unwrap();
    assert_values(&y, &[1, 1, 2, 2], &[5., 11., 23., 29.]);
    let y = x.conv_transpose2d(&arange(&[1, 1, 2, 2]), None, &ConvTransposeOptions::default()).unwrap();
    assert_values(&y, &[1, 1, 3, 3], &[0., 0., 1., 0., 4., 6., 4., 12., 9.]);
}

#[test]
fn convolutions_have_gradients() {
    let options = ConvOptions { stride: [2, 1], padding: [(1, 0), (0, 2)], dilation: [1, 2], groups: 2 };
    let inputs = [numbers(&[2, 4, 5, 6], 1), numbers(&[6, 2, 3, 2], 2), numbers(&[6], 3)];
    check_gradients(&inputs, |t| t[0].conv2d(&t[1], Some(&t[2]), &options));
    let inputs = [numbers(&[1, 2, 3, 3, 4], 1), numbers(&[3, 2, 2, 2, 3], 2)];
    check_gradients(&inputs, |t| t[0].conv3d(&t[1], None, &ConvOptions::default()));
    let options = ConvTransposeOptions {
        stride: [2, 3],
        padding: [1, 0],
        padding_out: [1, 0],
        dilation: [1, 2],
        groups: 2,
    };
    let inputs = [numbers(&[2, 4, 3, 2], 1), numbers(&[4, 3, 3, 2], 2), numbers(&[6], 3)];
    check_gradients(&inputs, |t| t[0].conv_transpose2d(&t[1], Some(&t[2]), &options));
}

#[test]
fn a_bias_alone_has_a_gradient() {
    let (x, w) = (arange(&[2, 1, 4]), arange(&[3, 1, 2]));
    let b = arange(&[3]).autodiff().require_grad().unwrap();
    let y = x.conv1d(&w, Some(&b), &ConvOptions::default()).unwrap();
    let gradients = y.backward().unwrap();
    assert_eq!(doubles(b.grad(&gradients).unwrap()), [6.0; 3]);
}

#[test]
fn halves_are_convolved_as_floats() {
    let x = arange(&[1, 1, 4]).cast(DType::F16).unwrap();
    let y = x.conv1d(&x, None, &ConvOptions::default()).unwrap();
    assert_eq!((y.dtype(), doubles(y.value())), (DType::F16, vec![14.0]));
}

#[test]
fn an_empty_batch_has_an_empty_convolution_and_zero_gradients() {
    let x = arange(&[0, 2, 4]);
    let w = arange(&[3, 2, 2]).autodiff().require_grad().unwrap();
    let y = x.conv1d(&w, None, &ConvOptions::default()).unwrap();
    assert_eq!(y.shape(), [0, 3, 3]);
    let gradients = y.backward().unwrap();
    assert_eq!(doubles(w.grad(&gradients).unwrap()), [0.0; 12]);
}

#[test]
fn windows_of_padding_alone_have_a_mean_of_0_and_a_gradient() {
    let x = arange(&[2, 3, 0, 4]).autodiff().require_grad().unwrap();
    let options = AvgPoolOptions { padding: [(1, 1), (0, 0)], ..AvgPoolOptions::new([2, 2]) };
    let y = x.avg_pool2d(&options).unwrap();
    assert_values(&y, &[2, 3, 1, 2], &[0.0; 12]);
    let grads = y.backward().unwrap();
    assert_eq!(x.grad(&grads).unwrap().shape(), [2, 3, 0, 4]);
}

#[test]
fn a_transposed_convolution_of_which_nothing_is_left_is_refused() {
    let (x, w) = (arange(&[1, 1, 1]), arange(&[1, 1, 2]));
    let options = ConvTransposeOptions { padding: [1], ..ConvTransposeOptions::default() };
    let message = "conv_transpose1d: a padding of 1 cuts all of 2 elements off";
    assert_eq!(x.conv_transpose1d(&w, None, &options).unwrap_err().to_string(), message);
}

#[test]
fn what_does_not_fit_is_refused_with_the_numbers() {
    let (x, w) = (arange(&[1, 4, 5]), arange(&[6, 4, 3]));
    let run = |options: ConvOptions<1>| x.conv1d(&w, None, &options).unwrap_err().to_string();
    let plain = ConvOptions::<1>::default();
    assert!(run(ConvOptions { stride: [0], ..plain }).contains("at least 1, got 3, 0, 1"));
    assert!(run(ConvOptions { groups: 0, ..plain }).contains("groups must be at least 1"));
    assert!(run(ConvOptions { groups: 4, ..plain }).contains("6 output channels do not divide into 4"));
    assert!(run(ConvOptions { groups: 2, ..plain }).contains("does not fit an input of 4 channels"));
    assert!(run(ConvOptions { dilation: [4], ..plain }).contains("a window of 9 elements does not fit"));
    assert!(run(ConvOptions { dilation: [usize::MAX], ..plain }).contains("overflows"));
    assert!(x.conv1d(&w, Some(&arange(&[5])), &plain).unwrap_err().to_string().contains("[6], got [5]"));
    assert!(x.conv1d(&arange(&[6, 4]), None, &plain).is_err());
    assert!(x.conv2d(&w, None, &ConvOptions::default()).is_err());
    let cut = ConvTransposeOptions { padding: [9], ..ConvTransposeOptions::default() };
    let error = x.conv_transpose1d(&arange(&[4, 1, 3]), None, &cut).unwrap_err();
    assert!(error.to_string().contains("a padding of 9 cuts all of 7 elements off"));
}

#[test]
fn deformed_taps_read_where_they_are_told_to() {
    let (x, w) = (arange(&[1, 1, 3, 3]), tensor(&[1.0], &[1, 1, 1, 1]));
    let still = Tensor::from(crate::Value::zeros(&[1, 2, 3, 3], DType::F64).unwrap());
    let options = DeformConvOptions::default();
    let y = x.deform_conv2d(&still, &w, None, None, &options).unwrap();
    assert_values(&y, &[1, 1, 3, 3], &doubles(x.value()));
    let half = still.add(&tensor(&[0.5], &[1])).unwrap();
    let y = x.deform_conv2d(&half, &w, None, None, &options).unwrap();
    assert_values(&y, &[1, 1, 3, 3], &[2., 3., 1.75, 5., 6., 3.25, 3.25, 3.75, 2.]);
}

#[test]
fn deformed_convolutions_have_gradients() {
    let options = DeformConvOptions {
        stride: [2, 1],
        padding: [1, 0],
        dilation: [1, 1],
        weight_groups: 2,
        offset_groups: 4,
    };
    let inputs = [
        numbers(&[2, 4, 4, 3], 1),
        numbers(&[2, 2 * 4 * 4, 3, 2], 2),
        numbers(&[6, 2, 2, 2], 3),
        numbers(&[2, 4 * 4, 3, 2], 4),
        numbers(&[6], 5),
    ];
    check_gradients(&inputs, |t| t[0].deform_conv2d(&t[1], &t[2], Some(&t[3]), Some(&t[4]), &options));
    check_gradients(&inputs[..3], |t| t[0].deform_conv2d(&t[1], &t[2], None, None, &options));
}

#[test]
fn the_last_nan_of_a_window_wins_a_maximum_and_padding_never_does() {
    let x = tensor(&[1.0, f64::NAN, 3.0, f64::NAN, -5.0, -7.0], &[1, 1, 6]);
    let options = MaxPoolOptions { padding: [(0, 2)], ..MaxPoolOptions::new([4]) };
    let (y, at) = x.max_pool1d_with_indices(&options).unwrap();
    assert_values(&y, &[1, 1, 2], &[f64::NAN, -5.0]);
    assert_eq!((at.dtype(), doubles(at.value())), (INT, vec![3.0, 4.0]));
}

#[test]
fn maxima_of_long_rows_have_their_windows_at_any_step() {
    let (height, width) = (5, 300);
    let x: Vec<f64> = (0..2 * 3 * height * width).map(|i| ((i * 7919) % 1013 % 50) as f64).collect();
    let planes = tensor(&x, &[2, 3, height, width]);
    for (kernel, stride, padding, dilation) in
        [([2, 2], [2, 2], 0, 1), ([3, 3], [2, 2], 1, 1), ([3, 4], [1, 3], 1, 2), ([1, 9], [1, 5], 4, 3)]
    {
        let padding = [(0, 0), (padding, padding)];
        let options =
            MaxPoolOptions { kernel_size: kernel, stride, padding, dilation: [1, dilation], ceil_mode: true };
        let (y, at) = planes.max_pool2d_with_indices(&options).unwrap();
        let &[_, _, rows, columns] = y.shape() else { panic!("four axes") };
        let (y, at) = (doubles(y.value()), doubles(at.value()));
        for (i, (&y, &at)) in y.iter().zip(&at).enumerate() {
            let (plane, r, c) = (i / (rows * columns), i / columns % rows, i % columns);
            let mut best = (f64::NEG_INFINITY, -1.0);
            for h in (0..kernel[0]).map(|k| r * stride[0] + k).filter(|&h| h < height) {
                let columns = (0..kernel[1]).map(|k| c * stride[1] + k * dilation);
                for w in columns.filter_map(|w| w.checked_sub(padding[1].0)).filter(|&w| w < width) {
                    let x = x[(plane * height + h) * width + w];
                    if x > best.0 {
                        best = (x, (h * width + w) as f64);
                    }
                }
            }
            assert_eq!((y, at), best, "{options:?} at {i}");
        }
    }
}

#[test]
fn maxima_are_the_same_with_channels_last() {
    let options = MaxPoolOptions {
        stride: [2, 1],
        padding: [(1, 0), (0, 1)],
        dilation: [1, 2],
        ..MaxPoolOptions::new([3, 2])
    };
    let x = numbers(&[2, 3, 6, 5], 1);
    let last: Tensor = x.permuted(&[0, 2, 3, 1]).contiguous().permuted(&[0, 3, 1, 2]).into();
    let (y, at) = Tensor::from(x.clone()).max_pool2d_with_indices(&options).unwrap();
    let (y_last, at_last) = last.max_pool2d_with_indices(&options).unwrap();
    assert_eq!(doubles(y.value()), doubles(y_last.value()));
    assert_eq!(doubles(at.value()), doubles(at_last.value()));
    check_gradients(std::slice::from_ref(&x), |t| t[0].max_pool2d(&options));
    check_gradients(&[last.into_value()], |t| t[0].max_pool2d(&options));
}

#[test]
fn averages_have_the_values_of_the_table() {
    let x = arange(&[1, 1, 6, 6]);
    let options = AvgPoolOptions { stride: [2, 2], ceil_mode: true, ..AvgPoolOptions::new([3, 3]) };
    let outside = AvgPoolOptions { count_include_pad: false, ..options };
    let expected = [7., 9., 10.5, 19., 21., 22.5, 28., 30., 31.5];
    assert_values(&x.avg_pool2d(&outside).unwrap(), &[1, 1, 3, 3], &expected);
    let padded = AvgPoolOptions { padding: [(1, 1), (1, 1)], ..options };
    let expected = [
        1.5556, 3.3333, 4.6667, 2.6667, 8.3333, 14., 16., 8.5, 16.3333, 26., 28., 14.5, 10.1667, 16., 17.,
        8.75,
    ];
    assert_values(&x.avg_pool2d(&padded).unwrap(), &[1, 1, 4, 4], &expected);
    check_gradients(&[numbers(&[2, 3, 5, 4], 1)], |t| t[0].avg_pool2d(&padded));
    check_gradients(&[numbers(&[2, 3, 5, 4], 1).permuted(&[1, 0, 3, 2])], |t| t[0].avg_pool2d(&outside));
    let y = arange(&[1, 2, 5, 7]).adaptive_avg_pool2d([3, 2]).unwrap();
    let expected = [5., 8., 15.5, 18.5, 26., 29., 40., 43., 50.5, 53.5, 61., 64.];
    assert_values(&y, &[1, 2, 3, 2], &expected);
    check_gradients(&[numbers(&[1, 2, 3, 5, 4], 1)], |t| t[0].adaptive_avg_pool3d([2, 2, 3]));
}

#[test]
fn interpolation_has_values_and_gradients() {
    let options = |output, mode, align_corners| InterpolateOptions { output, mode, align_corners };
    let aligned = options(OutputSize::Size(vec![4, 6]), InterpolateMode::Linear, true);
    let y = arange(&[1, 1, 45, 14]).interpolate(&aligned).unwrap();
    assert_close(&doubles(y.value())[..6], &[0., 2.6, 5.2, 7.8, 10.4, 13.], 1e-12);
    assert_close(&doubles(y.value())[18..], &[616., 618.6, 621.2, 623.8, 626.4, 629.], 1e-12);
    for mode in [
        InterpolateMode::Nearest,
        InterpolateMode::NearestExact,
        InterpolateMode::Linear,
        InterpolateMode::Cubic,
        InterpolateMode::Lanczos,
    ] {
        for align_corners in [true, false] {
            let options = options(OutputSize::Scale(vec![1.5, 0.7]), mode, align_corners);
            check_gradients(&[numbers(&[1, 2, 4, 5], 1)], |t| t[0].interpolate(&options));
        }
    }
    let x = arange(&[1, 1, 3, 3]);
    for output in
        [OutputSize::Size(vec![2]), OutputSize::Size(vec![0, 2]), OutputSize::Scale(vec![f64::NAN, 1.0])]
    {
        assert!(x.interpolate(&options(output, InterpolateMode::Nearest, true)).is_err());
    }
}

#[test]
fn windows_are_columns_and_columns_are_windows() {
    let plain = UnfoldOptions::default();
    let columns = tensor(&(1..=16).map(f64::from).collect::<Vec<_>>(), &[1, 4, 4]);
    let y = columns.fold4d([3, 3], [2, 2], &plain).unwrap();
    assert_values(&y, &[1, 1, 3, 3], &[1., 7., 6., 12., 34., 22., 11., 27., 16.]);
    let options = UnfoldOptions { stride: [1, 2], dilation: [2, 1], padding: [1, 0] };
    check_gradients(&[numbers(&[2, 2, 4, 5], 1)], |t| t[0].unfold4d([2, 3], &options));
    check_gradients(&[numbers(&[1, 12, 8], 1)], |t| t[0].fold4d([4, 5], [2, 3], &options));
    let error = columns.fold4d([3, 4], [2, 2], &plain).unwrap_err().to_string();
    assert!(error.contains("4 rows and 4 columns are no windows of 4 elements at 6 places"), "{error}");
}

#[test]
fn a_grid_of_the_identity_gives_the_image() {
    let theta = tensor(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0], &[1, 2, 3]);
    let x: Tensor = numbers(&[1, 2, 3, 4], 1).into();
    for align_corners in [true, false] {
        let grid = theta.affine_grid_2d([1, 2, 3, 4], align_corners).unwrap();
        for mode in [GridMode::Bilinear, GridMode::Nearest, GridMode::Bicubic] {
            let options = GridSampleOptions { mode, padding: GridPadding::Border, align_corners };
            let y = x.grid_sample_2d(&grid, &options).unwrap();
            assert_close(&doubles(y.value()), &doubles(x.value()), 1e-12);
        }
    }
}

#[test]
fn grids_have_gradients() {
    check_gradients(&[numbers(&[2, 2, 3], 1)], |t| t[0].affine_grid_2d([2, 1, 2, 3], false));
    let inputs = [numbers(&[2, 2, 3, 4], 1), numbers(&[2, 3, 2, 2], 2)];
    for padding in [GridPadding::Zeros, GridPadding::Border, GridPadding::Reflection] {
        for align_corners in [true, false] {
            for mode in [GridMode::Bilinear, GridMode::Nearest, GridMode::Bicubic] {
                let options = GridSampleOptions { mode, padding, align_corners };
                check_gradients(&inputs, |t| t[0].grid_sample_2d(&t[1], &options));
            }
        }
    }
}
