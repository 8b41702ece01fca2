//! How far the elementary functions are from the true values, at their edges, and wherever an element stands.

use std::sync::{Mutex, MutexGuard};

use burnpy_tensor::kernels::map;
use burnpy_tensor::kernels::ops::{self, UnaryOp};
use burnpy_tensor::simd::{Level, level, set_level};

/// The level belongs to the process: one test at a time.
static TURN: Mutex<()> = Mutex::new(());

fn on_each_level(run: impl Fn(Level)) {
    let _turn: MutexGuard<()> = TURN.lock().unwrap_or_else(|error| error.into_inner());
    let before = level();
    Level::ALL.into_iter().filter(|&level| set_level(level)).for_each(run);
    set_level(before);
}

/// Bit patterns over the whole range, both signs.
fn samples32() -> Vec<f32> {
    (0..u32::MAX).step_by(5003).map(f32::from_bits).filter(|x| !x.is_nan()).collect()
}

fn samples64() -> Vec<f64> {
    let step = u64::MAX / 300_007;
    let everywhere = (0..300_007).map(move |i| f64::from_bits(i * step)).filter(|x| !x.is_nan());
    everywhere.chain((-60_000..60_000).map(|i| f64::from(i) * 1.3e-4 + 1e-9)).collect()
}

fn ulps32(found: f32, truth: f64) -> f64 {
    let nearest = truth as f32;
    if found == nearest || (found.is_nan() && truth.is_nan()) {
        return 0.0;
    }
    if !found.is_finite() || !nearest.is_finite() {
        // One step beyond the largest number is as wrong as one step before it.
        let beyond = |x: f64| x.clamp(-2.0 * f64::from(f32::MAX), 2.0 * f64::from(f32::MAX));
        return (beyond(f64::from(found)) - beyond(truth)).abs() / 2f64.powi(104);
    }
    let exponent = (nearest.abs().to_bits() >> 23).max(1) as i32;
    (f64::from(found) - truth).abs() / 2f64.powi(exponent - 150)
}

fn worst32(op: impl UnaryOp<f32>, truth: impl Fn(f64) -> f64, xs: &[f32]) -> (f64, f32) {
    let mut ys = vec![0.0; xs.len()];
    map::unary(op, xs, &mut ys);
    let errors = xs.iter().zip(&ys).map(|(&x, &y)| (ulps32(y, truth(f64::from(x))), x));
    errors.fold((0.0, 0.0), |worst, next| if next.0 > worst.0 || next.0.is_nan() { next } else { worst })
}

macro_rules! check32 {
    ($xs:expr, $level:expr, $($op:expr, $truth:expr, $limit:expr;)*) => {$(
        let (error, x) = worst32($op, $truth, $xs);
        println!("{} {}: {error:.2} ulp at {x:e}", $level.name(), stringify!($op));
        assert!(error <= $limit, "{} {}: {error} ulp at {x:e}", $level.name(), stringify!($op));
    )*};
}

fn sigmoid(x: f64) -> f64 {
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
}

#[test]
fn single_precision_functions_are_within_their_ulps_over_the_whole_range() {
    let xs = samples32();
    let near: Vec<f32> = (-400_000..400_000).map(|i| i as f32 * 3.1e-5).collect();
    for xs in [&xs, &near] {
        on_each_level(|level| {
            check32! { xs, level,
                ops::Exp, f64::exp, 1.5;
                ops::Expm1, f64::exp_m1, 2.0;
                ops::Log, f64::ln, 1.5;
                ops::Log1p, f64::ln_1p, 2.0;
                ops::Tanh, f64::tanh, 3.0;
                ops::Sigmoid, sigmoid, 3.0;
                ops::Erf, libm::erf, 2.0;
                ops::Sin, f64::sin, 2.0;
                ops::Cos, f64::cos, 2.0;
                ops::Sqrt, f64::sqrt, 0.5;
            }
        });
    }
}

fn worst64(op: impl UnaryOp<f64>, truth: impl Fn(f64) -> f64, xs: &[f64]) -> (f64, f64) {
    let mut ys = vec![0.0; xs.len()];
    map::unary(op, xs, &mut ys);
    let error = |x: f64, y: f64| {
        let truth = truth(x);
        if y == truth || (y.is_nan() && truth.is_nan()) {
            return 0.0;
        }
        (y - truth).abs() / (truth.abs().next_up() - truth.abs())
    };
    let errors = xs.iter().zip(&ys).map(|(&x, &y)| (error(x, y), x));
    errors.fold((0.0, 0.0), |worst, next| if next.0 > worst.0 || next.0.is_nan() { next } else { worst })
}

#[test]
fn double_precision_functions_are_close_to_those_of_the_standard_library() {
    let xs = samples64();
    on_each_level(|level| {
        macro_rules! check64 {
            ($($op:expr, $truth:expr;)*) => {$(
                let (error, x) = worst64($op, $truth, &xs);
                println!("{} {} f64: {error:.2} ulp at {x:e}", level.name(), stringify!($op));
                assert!(error <= 4.0, "{} {}: {error} ulp at {x:e}", level.name(), stringify!($op));
            )*};
        }
        check64! {
            ops::Exp, f64::exp;
            ops::Expm1, f64::exp_m1;
            ops::Log, f64::ln;
            ops::Log1p, f64::ln_1p;
            ops::Tanh, f64::tanh;
            ops::Sigmoid, sigmoid;
            ops::Erf, libm::erf;
        }
    });
}

#[test]
fn edges_are_exact() {
    const INF: f32 = f32::INFINITY;
    let value = |op: &dyn Fn(&[f32], &mut [f32]), x: f32| {
        let mut y = [0.0; 9];
        op(&[x; 9], &mut y);
        assert!(y.iter().all(|z| z.to_bits() == y[0].to_bits()), "{x} gives {y:?}");
        y[0]
    };
    macro_rules! cases {
        ($($op:ident: $($x:expr => $y:expr),*;)*) => {$($(
            let found = value(&|x, y| map::unary(ops::$op, x, y), $x);
            let wanted: f32 = $y;
            let same = found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan());
            assert!(same, "{}({}) is {found}, not {wanted}", stringify!($op), $x);
        )*)*};
    }
    on_each_level(|_| {
        cases! {
            Exp: INF => INF, -INF => 0.0, f32::NAN => f32::NAN, 0.0 => 1.0, -0.0 => 1.0, 88.8 => INF,
                -103.0 => 1e-45, -104.5 => 0.0;
            Expm1: INF => INF, -INF => -1.0, f32::NAN => f32::NAN, -0.0 => -0.0, 1e-42 => 1e-42;
            Log: 0.0 => -INF, -0.0 => -INF, -1.0 => f32::NAN, -INF => f32::NAN, INF => INF, 1.0 => 0.0,
                f32::NAN => f32::NAN;
            Log1p: -1.0 => -INF, -1.5 => f32::NAN, INF => INF, -INF => f32::NAN, -0.0 => -0.0, 1e-42 => 1e-42,
                f32::NAN => f32::NAN;
            Tanh: INF => 1.0, -INF => -1.0, -0.0 => -0.0, 1e-42 => 1e-42, f32::NAN => f32::NAN;
            Sigmoid: INF => 1.0, -INF => 0.0, 0.0 => 0.5, f32::NAN => f32::NAN;
            Erf: INF => 1.0, -INF => -1.0, -0.0 => -0.0, f32::NAN => f32::NAN;
            Sin: -0.0 => -0.0, INF => f32::NAN, f32::NAN => f32::NAN;
            Cos: -0.0 => 1.0, INF => f32::NAN, f32::NAN => f32::NAN;
            Relu: f32::NAN => f32::NAN, -INF => 0.0, 2.0 => 2.0;
            Sign: f32::NAN => f32::NAN, -0.0 => -0.0, -3.0 => -1.0, INF => 1.0;
        }
    });
}

#[test]
fn bits_do_not_depend_on_position_or_length() {
    fn check(op: impl UnaryOp<f32>, name: &str) {
        let xs: Vec<f32> = (0..301).map(|i| (i as f32 - 150.0) * 0.11).chain([1e7, 3e30]).collect();
        let mut whole = vec![0.0; xs.len()];
        map::unary(op, &xs, &mut whole);
        for from in 0..40 {
            for to in [from + 1, from + 7, from + 33, xs.len()] {
                let mut part = vec![0.0; to - from];
                map::unary(op, &xs[from..to], &mut part);
                let same = part.iter().zip(&whole[from..to]).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "{name} of elements {from} to {to}");
            }
        }
    }
    macro_rules! check_all { ($($op:expr),*) => {$(check($op, stringify!($op));)*}; }
    on_each_level(|_| {
        let (beta, threshold) = (1.5, 20.0);
        check_all!(
            ops::Exp,
            ops::Expm1,
            ops::Log,
            ops::Log1p,
            ops::Tanh,
            ops::Sigmoid,
            ops::Erf,
            ops::Sin,
            ops::Cos,
            ops::Gelu,
            ops::GeluTanh,
            ops::Silu,
            ops::Softplus { beta, threshold },
            ops::Recip,
            ops::Sqrt
        );
    });
}
