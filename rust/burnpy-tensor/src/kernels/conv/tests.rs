use proptest::prelude::*;

use super::*;
use crate::parallel::{num_threads, set_num_threads};
use crate::simd::{Level, level, set_level, turn};

/// What both ways give, one product after the other.
struct Naive {
    out: Vec<f64>,
    dx: Vec<f64>,
    dw: Vec<f64>,
    db: Vec<f64>,
}

/// `x`, `dx`: `[batch, channels, d, h, w]`; `g`, `out` likewise; all row-major.
fn naive(shape: &ConvShape, x: &[f64], w: &[f64], b: &[f64], g: &[f64]) -> Naive {
    let (ins, outs) = (shape.groups * shape.inputs, shape.groups * shape.outputs);
    let mut result = Naive {
        out: vec![0.0; g.len()],
        dx: vec![0.0; x.len()],
        dw: vec![0.0; w.len()],
        db: vec![0.0; outs],
    };
    let products = shape.axes.map(|axis| {
        let mut all = Vec::new();
        for o in 0..axis.output {
            for k in 0..axis.kernel {
                let at = (o * axis.stride + k * axis.dilation) as isize - axis.pad as isize;
                if (0..axis.input as isize).contains(&at) {
                    all.push((at as usize, o, k));
                }
            }
        }
        all
    });
    let index = |sizes: [usize; 3], at: [usize; 3]| (at[0] * sizes[1] + at[1]) * sizes[2] + at[2];
    let [inputs, outputs, kernel] =
        [0, 1, 2].map(|i| shape.axes.map(|axis| [axis.input, axis.output, axis.kernel][i]));
    let volume = |sizes: [usize; 3]| sizes.iter().product::<usize>();
    for n in 0..shape.batch {
        for (o, &bias) in b.iter().enumerate() {
            for p in 0..volume(outputs) {
                let at = (n * outs + o) * volume(outputs) + p;
                result.out[at] += bias;
                result.db[o] += g[at];
            }
            for i in 0..shape.inputs {
                let channel = o / shape.outputs * shape.inputs + i;
                for &(xd, od, kd) in &products[0] {
                    for &(xh, oh, kh) in &products[1] {
                        for &(xw, ow, kw) in &products[2] {
                            let x_at = (n * ins + channel) * volume(inputs) + index(inputs, [xd, xh, xw]);
                            let o_at = (n * outs + o) * volume(outputs) + index(outputs, [od, oh, ow]);
                            let w_at = (o * shape.inputs + i) * volume(kernel) + index(kernel, [kd, kh, kw]);
                            result.out[o_at] += x[x_at] * w[w_at];
                            result.dx[x_at] += g[o_at] * w[w_at];
                            result.dw[w_at] += x[x_at] * g[o_at];
                        }
                    }
                }
            }
        }
    }
    result
}

fn numbers(len: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / (1u64 << 24) as f64 - 0.5
    };
    (0..len).map(next).collect()
}

/// Row-major images, or the same in channels-last order.
fn order<T: Copy + Default>(x: &[T], batch: usize, channels: usize, last: bool) -> (Vec<T>, [isize; 2]) {
    let pixels = x.len() / (batch * channels).max(1);
    if !last {
        return (x.to_vec(), [pixels as isize, 1]);
    }
    let mut out = vec![T::default(); x.len()];
    for (i, &x) in x.iter().enumerate() {
        let (image, channel, pixel) = (i / pixels / channels, i / pixels % channels, i % pixels);
        out[(image * pixels + pixel) * channels + channel] = x;
    }
    (out, [1, channels as isize])
}

fn images<T>(data: &[T], channels: usize, sizes: [usize; 3], [c, pixel]: [isize; 2]) -> Images<'_, T> {
    let [_, h, w] = sizes.map(|size| size as isize);
    let image = (channels * sizes.iter().product::<usize>()) as isize;
    Images { data, offset: 0, strides: [image, c, h * w * pixel, w * pixel, pixel] }
}

fn all<T: ConvElement + Into<f64>>(
    shape: &ConvShape,
    from: impl Fn(f64) -> T,
    last: bool,
) -> ([Vec<T>; 5], Naive) {
    let (ins, outs) = (shape.groups * shape.inputs, shape.groups * shape.outputs);
    let inputs = shape.axes.map(|axis| axis.input);
    let outputs = shape.axes.map(|axis| axis.output);
    let x = numbers(shape.batch * ins * inputs.iter().product::<usize>(), 1);
    let g = numbers(shape.batch * outs * outputs.iter().product::<usize>(), 2);
    let w = numbers(outs * shape.inputs * shape.taps(), 3);
    let b = numbers(outs, 4);
    let [x, w, b, g] = [x, w, b, g].map(|numbers| numbers.into_iter().map(&from).collect::<Vec<T>>());
    let [x64, w64, b64, g64] =
        [&x, &w, &b, &g].map(|numbers| numbers.iter().map(|&x| x.into()).collect::<Vec<f64>>());
    let expected = naive(shape, &x64, &w64, &b64, &g64);
    let (x, x_strides) = order(&x, shape.batch, ins, last);
    let (g, g_strides) = order(&g, shape.batch, outs, last);
    let (x, g) = (images(&x, ins, inputs, x_strides), images(&g, outs, outputs, g_strides));
    let (mut out, mut dx) = (vec![T::ZERO; g.data.len()], vec![T::ZERO; x.data.len()]);
    let (mut dw, mut db) = (vec![T::ZERO; w.len()], vec![T::ZERO; outs]);
    conv(shape, &x, &w, Some(&b), false, &mut out);
    conv_input_gradient(shape, &g, &w, None, &mut dx);
    conv_weight_gradient(shape, &x, &g, &mut dw, Some(&mut db));
    let mut sums = db.clone();
    let mut sizes = [shape.batch, outs, 0, 0, 0];
    sizes[2..].copy_from_slice(&outputs);
    channel_sums(&g, sizes, &mut sums);
    ([out, dx, dw, db, sums], expected)
}

fn check<T: ConvElement + Into<f64>>(shape: &ConvShape, from: impl Fn(f64) -> T, last: bool, tolerance: f64) {
    let (found, expected) = all(shape, from, last);
    let (ins, outs) = (shape.groups * shape.inputs, shape.groups * shape.outputs);
    let expected = [
        order(&expected.out, shape.batch, outs, true).0,
        order(&expected.dx, shape.batch, ins, true).0,
        expected.dw,
        expected.db.clone(),
        expected.db,
    ];
    for (name, (found, expected)) in
        ["out", "dx", "dw", "db", "sums"].iter().zip(found.into_iter().zip(expected))
    {
        for (i, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            let found: f64 = found.into();
            let close = (found - expected).abs() <= tolerance * (1.0 + expected.abs());
            assert!(
                close,
                "{name}[{i}] is {found}, expected {expected}, of {shape:?}, channels last: {last}"
            );
        }
    }
}

/// Both widths, with the instructions of each level that the CPU has.
fn check_on_every_level(shape: &ConvShape, last: bool) {
    let _turn = turn();
    let before = level();
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        set_level(level);
        check(shape, |x| x as f32, last, 2e-5);
        check(shape, |x| x, last, 1e-12);
    }
    set_level(before);
}

fn axis(largest: usize) -> impl Strategy<Value = ConvAxis> {
    (1..=largest, 1..4usize, 1..4usize, 1..3usize, 0..3usize, 0..3usize).prop_filter_map(
        "the kernel fits",
        |(input, kernel, stride, dilation, pad, end)| {
            let room = (input + pad + end).checked_sub((kernel - 1) * dilation + 1)?;
            Some(ConvAxis { input, output: room / stride + 1, kernel, stride, dilation, pad })
        },
    )
}

fn shapes() -> impl Strategy<Value = ConvShape> {
    let depth = prop_oneof![Just(ConvAxis::ONE), axis(4)];
    let channels = prop_oneof![Just((4usize, 1usize, 1usize)), (1..3usize, 1..20usize, 1..36usize)];
    (0..4usize, channels, depth, axis(6), axis(16)).prop_map(|(batch, (groups, inputs, outputs), d, h, w)| {
        ConvShape { batch, groups, inputs, outputs, axes: [d, h, w] }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn all_sums_are_those_of_the_definition(shape in shapes(), last in any::<bool>()) {
        check_on_every_level(&shape, last);
    }
}

/// Shapes that are made by tiles.
fn tiled() -> impl Strategy<Value = ConvShape> {
    let axis = || {
        (7..18usize, 0..5usize, 0..5usize).prop_map(|(input, pad, end)| {
            let output = input + pad + end - 2;
            ConvAxis { input, output, kernel: 3, stride: 1, dilation: 1, pad }
        })
    };
    let channels = || (2..6usize).prop_map(|n| 8 * n);
    (0..4usize, channels(), channels(), axis(), axis()).prop_map(|(batch, inputs, outputs, h, w)| ConvShape {
        batch,
        groups: 1,
        inputs,
        outputs,
        axes: [ConvAxis::ONE, h, w],
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn sums_by_tiles_are_those_of_the_definition(shape in tiled(), last in any::<bool>()) {
        prop_assume!(winograd::fits::<f32>(&shape));
        check_on_every_level(&shape, last);
    }
}

#[test]
fn tiles_of_a_flipped_slice_are_those_of_its_copy() {
    let _turn = turn();
    let axis = ConvAxis { input: 9, output: 9, kernel: 3, stride: 1, dilation: 1, pad: 1 };
    let shape = ConvShape { batch: 2, groups: 1, inputs: 32, outputs: 32, axes: [ConvAxis::ONE, axis, axis] };
    // 32 of 48 channels from the eighth on, rows from the last to the first, every other pixel of 18.
    let (data, w) = (numbers(2 * 9 * 18 * 48, 5), numbers(32 * 32 * 9, 6));
    let [data, w] = [data, w].map(|numbers| numbers.into_iter().map(|x| x as f32).collect::<Vec<f32>>());
    let [image, row, pixel] = [9 * 18 * 48, 18 * 48, 96];
    let offset = (8 * row + 8) as usize;
    let view = Images { data: &data, offset, strides: [image, 1, image, -row, pixel] };
    let mut copy = Vec::new();
    for n in 0..2 {
        for h in 0..9 {
            for w in 0..9 {
                let at = view.position([n, 0, 0, h, w]);
                copy.extend_from_slice(&data[at..at + 32]);
            }
        }
    }
    let dense = images(&copy, 32, [1, 9, 9], [1, 32]);
    assert!(winograd::fits::<f32>(&shape));
    let results = [view, dense].map(|x| {
        let [mut out, mut dx, mut dw] = [copy.len(), copy.len(), w.len()].map(|len| vec![0.0f32; len]);
        conv(&shape, &x, &w, None, true, &mut out);
        conv_input_gradient(&shape, &x, &w, None, &mut dx);
        conv_weight_gradient(&shape, &x, &x, &mut dw, None);
        assert!(out.iter().all(|&y| y >= 0.0) && out.iter().any(|&y| y > 0.0));
        [out, dx, dw]
    });
    assert!(results[0] == results[1]);
}

#[test]
fn tiles_of_an_image_do_not_depend_on_the_others() {
    let _turn = turn();
    for size in [9, 14, 57] {
        let axis = ConvAxis { input: size, output: size, kernel: 3, stride: 1, dilation: 1, pad: 1 };
        let shape = |batch| ConvShape {
            batch,
            groups: 1,
            inputs: 32,
            outputs: 32,
            axes: [ConvAxis::ONE, axis, axis],
        };
        let len = size * size * 32;
        let [x, w] = [numbers(8 * len, 1), numbers(32 * 32 * 9, 2)]
            .map(|all| all.into_iter().map(|x| x as f32).collect::<Vec<f32>>());
        let made = |x: &[f32]| {
            let (mut out, mut dx) = (vec![0.0f32; x.len()], vec![0.0f32; x.len()]);
            let view = images(x, 32, [1, size, size], [1, 32]);
            conv(&shape(x.len() / len), &view, &w, None, false, &mut out);
            conv_input_gradient(&shape(x.len() / len), &view, &w, None, &mut dx);
            [out, dx]
        };
        let ([all, all_dx], [last, last_dx]) = (made(&x), made(&x[7 * len..]));
        assert!(all[7 * len..] == last && all_dx[7 * len..] == last_dx, "{size}");
    }
}

#[test]
fn what_is_not_finite_reaches_the_outputs_that_read_it_by_tiles_too() {
    let axis = ConvAxis { input: 9, output: 9, kernel: 3, stride: 1, dilation: 1, pad: 1 };
    let shape = ConvShape { batch: 1, groups: 1, inputs: 32, outputs: 32, axes: [ConvAxis::ONE, axis, axis] };
    let w: Vec<f32> = numbers(32 * 32 * 9, 2).into_iter().map(|x| x as f32).collect();
    for (at, number) in (0..81).zip([f32::NAN, f32::INFINITY, f32::NEG_INFINITY].into_iter().cycle()) {
        let mut x = vec![0.5f32; 81 * 32];
        x[at * 32 + at % 32] = number;
        let view = images(&x, 32, [1, 9, 9], [1, 32]);
        let (mut out, mut dx) = (vec![0.0f32; x.len()], vec![0.0f32; x.len()]);
        conv(&shape, &view, &w, None, false, &mut out);
        conv_input_gradient(&shape, &view, &w, None, &mut dx);
        for (i, (y, dx)) in out.iter().zip(&dx).enumerate() {
            let far = |a: usize, b: usize| a.abs_diff(b) > 1;
            let reads = !far(i / 32 / 9, at / 9) && !far(i / 32 % 9, at % 9);
            assert!(y.is_finite() != reads && dx.is_finite() != reads, "{i}, {number} at {at}");
        }
    }
}

#[test]
fn sums_of_small_integers_by_tiles_are_exact() {
    let axis = |input, pad, output| ConvAxis { input, output, kernel: 3, stride: 1, dilation: 1, pad };
    for (h, w) in [(axis(13, 1, 13), axis(8, 0, 6)), (axis(7, 3, 11), axis(9, 2, 11))] {
        let shape = ConvShape { batch: 3, groups: 1, inputs: 24, outputs: 40, axes: [ConvAxis::ONE, h, w] };
        assert!(winograd::fits::<f32>(&shape));
        check(&shape, |x| (8.0 * x).round() as f32, true, 0.0);
    }
}

#[test]
fn more_steps_than_one_part_and_more_rows_than_one_task_are_added_up_in_order() {
    let wide = ConvAxis { input: 20, output: 20, kernel: 3, stride: 1, dilation: 1, pad: 1 };
    for (inputs, outputs, batch) in [(64, 40, 2), (150, 16, 1), (3, 48, 5), (7, 9, 40)] {
        let shape = ConvShape { batch, groups: 1, inputs, outputs, axes: [ConvAxis::ONE, wide, wide] };
        check(&shape, |x| x as f32, true, 1e-4);
    }
}

#[test]
fn bits_depend_neither_on_threads_nor_on_strides() {
    let _turn = turn();
    let before = num_threads();
    let axis = ConvAxis { input: 15, output: 8, kernel: 3, stride: 2, dilation: 1, pad: 1 };
    let even = ConvAxis { input: 15, output: 15, kernel: 3, stride: 1, dilation: 1, pad: 1 };
    // By tiles, of one image and of several in a task, and gradients of weights in one chunk, in two and in five.
    let tall = ConvAxis { input: 57, output: 57, ..even };
    let cases =
        [(1, 9, axis), (2, 9, axis), (24, 9, axis), (1, 3, even), (1, 9, even), (1, 20, even), (1, 2, tall)];
    for (groups, batch, axis) in cases {
        let channels = if axis.stride == 1 { 32 } else { 24 / groups };
        let (inputs, outputs) = (channels, channels);
        let shape = ConvShape { batch, groups, inputs, outputs, axes: [ConvAxis::ONE, axis, axis] };
        assert_eq!(winograd::fits::<f32>(&shape), axis.stride == 1);
        let results = [(1, true), (2, true), (3, false), (1, false)].map(|(threads, last)| {
            set_num_threads(threads);
            all(&shape, |x| x as f32, last).0
        });
        for result in &results[1..] {
            assert!(result == &results[0]);
        }
    }
    set_num_threads(before);
}
