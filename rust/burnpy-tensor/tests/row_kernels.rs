//! Softmax, norms and cross-entropy beside their formulas, and their gradients beside central differences.

use burnpy_tensor::kernels::cross_entropy::{Targets, cross_entropy, cross_entropy_backward};
use burnpy_tensor::kernels::layer_norm::{Affine, AffineGradients, Centre, norm, norm_backward};
use burnpy_tensor::kernels::softmax::{log_softmax, log_softmax_backward, softmax, softmax_backward};
use burnpy_tensor::parallel::set_num_threads;

const SHAPES: [(usize, usize); 6] = [(1, 1), (3, 2), (2, 33), (5, 100), (70, 31), (0, 4)];

fn numbers(len: usize, seed: usize) -> Vec<f64> {
    (0..len).map(|i| (((i + seed) * 7919) % 2003) as f64 / 500.0 - 2.0).collect()
}

fn assert_close(name: &str, found: &[f64], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (i, (a, b)) in found.iter().zip(wanted).enumerate() {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{name}[{i}]: {a} not {b}");
    }
}

/// The gradient of `Σ weight · f(x)` by central differences.
fn differences(x: &[f64], weight: &[f64], f: &dyn Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let total = |x: &[f64]| f(x).iter().zip(weight).map(|(y, w)| y * w).sum::<f64>();
    let at = |i: usize, step: f64| {
        let mut x = x.to_vec();
        x[i] += step;
        total(&x)
    };
    (0..x.len()).map(|i| (at(i, 1e-5) - at(i, -1e-5)) / 2e-5).collect()
}

#[test]
fn softmax_and_its_logarithm_are_their_formulas_with_gradients() {
    type Forward = fn(&[f64], usize, &mut [f64]);
    type Backward = fn(&[f64], &[f64], usize, &mut [f64]);
    type Case = (&'static str, Forward, Backward, fn(f64) -> f64);
    let cases: [Case; 2] = [
        ("softmax", softmax, softmax_backward, |p| p),
        ("log_softmax", log_softmax, log_softmax_backward, f64::ln),
    ];
    for ((rows, columns), (name, forward, backward, of_share)) in
        SHAPES.into_iter().flat_map(|shape| cases.map(|case| (shape, case)))
    {
        let (x, dy) = (numbers(rows * columns, 0), numbers(rows * columns, 5));
        let run = |x: &[f64]| {
            let mut y = vec![0.0; x.len()];
            forward(x, columns, &mut y);
            y
        };
        let y = run(&x);
        let shares = x.chunks(columns).flat_map(|x| {
            let sum: f64 = x.iter().map(|x| x.exp()).sum();
            x.iter().map(move |x| x.exp() / sum)
        });
        assert_close(name, &y, &shares.map(of_share).collect::<Vec<_>>(), 1e-14);
        let mut dx = vec![0.0; x.len()];
        backward(&dy, &y, columns, &mut dx);
        assert_close(name, &dx, &differences(&x, &dy, &run), 1e-7);
    }
}

#[test]
fn norms_are_their_formulas_with_gradients() {
    for ((rows, columns), centre) in
        SHAPES.into_iter().flat_map(|shape| [Centre::Mean, Centre::Zero].map(|centre| (shape, centre)))
    {
        let (x, dy) = (numbers(rows * columns, 0), numbers(rows * columns, 5));
        let (gamma, beta) = (numbers(columns, 3), numbers(columns, 4));
        let run = |x: &[f64], gamma: &[f64], beta: &[f64]| {
            let (mut y, mut stats) = (vec![0.0; x.len()], vec![[0.0; 2]; rows]);
            let affine = Affine { gamma: Some(gamma), beta: Some(beta) };
            norm(centre, x, columns, affine, 1e-3, &mut y, &mut stats);
            (y, stats)
        };
        let (y, stats) = run(&x, &gamma, &beta);
        let wanted = x.chunks(columns).flat_map(|x| {
            let count = columns as f64;
            let mean = if centre == Centre::Mean { x.iter().sum::<f64>() / count } else { 0.0 };
            let rstd = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count + 1e-3).sqrt().recip();
            x.iter().zip(gamma.iter().zip(&beta)).map(move |(x, (g, b))| (x - mean) * rstd * g + b)
        });
        assert_close("norm", &y, &wanted.collect::<Vec<_>>(), 1e-13);

        let (mut dx, mut dgamma, mut dbeta) = (vec![0.0; x.len()], vec![0.0; columns], vec![0.0; columns]);
        let gradients = AffineGradients { gamma: Some(&mut dgamma), beta: Some(&mut dbeta) };
        norm_backward(centre, &dy, &x, columns, &stats, Some(&gamma), &mut dx, gradients);
        assert_close("dx", &dx, &differences(&x, &dy, &|x| run(x, &gamma, &beta).0), 1e-6);
        assert_close("dgamma", &dgamma, &differences(&gamma, &dy, &|gamma| run(&x, gamma, &beta).0), 1e-6);
        assert_close("dbeta", &dbeta, &differences(&beta, &dy, &|beta| run(&x, &gamma, beta).0), 1e-6);
    }
}

#[test]
fn cross_entropy_is_its_formula_with_a_gradient() {
    let (rows, classes) = (7, 35);
    let x = numbers(rows * classes, 0);
    let indices: Vec<i64> = (0..rows as i64).map(|row| (row * 11) % classes as i64).collect();
    let weights: Vec<f64> = (0..classes).map(|c| 0.5 + c as f64 / 10.0).collect();
    for (weights, smoothing, ignored) in [
        (None, 0.0, &[][..]),
        (Some(&weights[..]), 0.0, &[11][..]),
        (None, 0.1, &[0, 22]),
        (Some(&weights), 0.2, &[]),
    ] {
        let targets = Targets { classes, indices: &indices, ignored, weights, smoothing };
        let run = |x: &[f64]| {
            let (mut losses, mut logs) = (vec![0.0; rows], vec![[0.0; 2]; rows]);
            cross_entropy(x, targets, &mut losses, &mut logs);
            (losses, logs)
        };
        let (losses, logs) = run(&x);
        let mut logarithms = vec![0.0; x.len()];
        log_softmax(&x, classes, &mut logarithms);
        let weight = |c: usize| weights.map_or(1.0, |weights| weights[c]);
        let wanted = indices.iter().zip(logarithms.chunks(classes)).map(|(&index, log)| {
            let share = |c: usize| {
                f64::from(u8::from(c as i64 == index)) * (1.0 - smoothing) + smoothing / classes as f64
            };
            let counts = f64::from(u8::from(!ignored.contains(&index)));
            -counts * (0..classes).map(|c| weight(c) * share(c) * log[c]).sum::<f64>()
        });
        assert_close("loss", &losses, &wanted.collect::<Vec<_>>(), 1e-13);
        let total: f64 =
            indices.iter().filter(|index| !ignored.contains(index)).map(|&c| weight(c as usize)).sum();
        assert!((targets.total_weight() - total).abs() < 1e-12);

        for scale in [vec![0.3], numbers(rows, 2)] {
            let per_row: Vec<f64> = (0..rows).map(|row| scale[row % scale.len()]).collect();
            let mut dx = vec![0.0; x.len()];
            cross_entropy_backward(&scale, &x, targets, &logs, &mut dx);
            assert_close("dx", &dx, &differences(&x, &per_row, &|x| run(x).0), 1e-7);
        }
    }
}

#[test]
fn large_logits_and_masks_lose_nothing() {
    let mut y = [0.0f32; 3];
    softmax(&[1e30f32, f32::NEG_INFINITY, 1e30], 3, &mut y);
    assert_eq!(y, [0.5, 0.0, 0.5]);
    log_softmax(&[1000.0f32, 1000.0, -1000.0], 3, &mut y);
    assert_eq!(y, [-2f32.ln(), -2f32.ln(), -2000.0 - 2f32.ln()]);
}

#[test]
fn rows_have_the_same_bits_on_any_number_of_threads_and_past_the_cache() {
    let (rows, columns) = (4_300, 1_000); // 17.2 MB: stored past the cache
    let x: Vec<f32> = numbers(rows * columns, 0).into_iter().map(|x| x as f32).collect();
    let run = |x: &[f32], threads| {
        set_num_threads(threads);
        let (mut y, mut z, mut stats) =
            (vec![0.0; x.len()], vec![0.0; x.len()], vec![[0.0; 2]; x.len() / columns]);
        softmax(x, columns, &mut y);
        norm(Centre::Mean, x, columns, Affine { gamma: None, beta: None }, 1e-5, &mut z, &mut stats);
        let (mut dx, mut dgamma) = (vec![0.0; x.len()], vec![0.0; columns]);
        let gradients = AffineGradients { gamma: Some(&mut dgamma), beta: None };
        norm_backward(Centre::Mean, &y, x, columns, &stats, None, &mut dx, gradients);
        ([y, z, dx].map(|y| y.into_iter().map(f32::to_bits).collect::<Vec<_>>()), dgamma)
    };
    let one = run(&x, 1);
    assert!(run(&x, 3) == one);
    let (part, _) = run(&x[..20 * columns], 2);
    assert!(part.iter().zip(&one.0).all(|(part, all)| part[..] == all[..20 * columns]));
}
