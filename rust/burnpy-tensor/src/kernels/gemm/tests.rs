//! Products against sums in `f64`, on every level that the CPU has.

use super::*;
use crate::parallel::{num_threads, set_num_threads};
use crate::simd::{Level, level, set_level, turn};

/// Runs `run` on all levels.
fn on_every_level(run: impl Fn()) {
    let _turn = turn();
    let before = level();
    for level in Level::ALL {
        if set_level(level) {
            run();
        }
    }
    set_level(before);
}

trait Float: GemmElement + Into<f64> + std::fmt::Debug {
    const EPSILON: f64;
    fn of(number: f64) -> Self;
}
impl Float for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    fn of(number: f64) -> Self {
        number as f32
    }
}
impl Float for f64 {
    const EPSILON: f64 = f64::EPSILON;
    fn of(number: f64) -> Self {
        number
    }
}

/// Numbers in [-1, 1), the same for the same seed.
fn numbers<T: Float>(len: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        T::of((state >> 40) as f64 / (1u64 << 23) as f64 - 1.0)
    };
    (0..len).map(|_| next()).collect()
}

/// How a matrix lies in memory.
#[derive(Debug, Clone, Copy)]
enum Lie {
    Rows,
    Columns,
    WideRows,
    Backwards,
    Scattered,
    OneRow,
    OneColumn,
}

const LIES: [Lie; 7] =
    [Lie::Rows, Lie::Columns, Lie::WideRows, Lie::Backwards, Lie::Scattered, Lie::OneRow, Lie::OneColumn];

/// Offset, strides, and how many elements must be there.
fn strides(lie: Lie, rows: usize, cols: usize) -> (usize, isize, isize, usize) {
    let (r, c) = (rows.max(1), cols.max(1));
    match lie {
        Lie::Rows => (0, c as isize, 1, r * c),
        Lie::Columns => (3, 1, r as isize, r * c + 3),
        Lie::WideRows => (1, c as isize + 5, 1, r * (c + 5) + 1),
        Lie::Backwards => (r * c - 1, -(c as isize), -1, r * c),
        Lie::Scattered => (2, 3, 3 * r as isize + 1, 3 * r * c + c + 3),
        Lie::OneRow => (0, 0, 1, c),
        Lie::OneColumn => (0, 1, 0, r),
    }
}

struct Case {
    m: usize,
    k: usize,
    n: usize,
    a: Lie,
    b: Lie,
    accumulate: bool,
    bias: bool,
    relu: bool,
}

impl Case {
    fn plain(m: usize, k: usize, n: usize) -> Self {
        Self { m, k, n, a: Lie::Rows, b: Lie::Rows, accumulate: false, bias: false, relu: false }
    }

    /// The output in `f64`, and for each element the sum of absolute values, which bounds the error.
    fn expected<T: Float>(
        &self,
        a: MatRef<'_, T>,
        b: MatRef<'_, T>,
        out: &[T],
        bias: &[T],
    ) -> Vec<(f64, f64)> {
        let ldc = self.n + 2;
        let element = |i: usize, j: usize| {
            let products = (0..self.k).map(|p| {
                let (x, y) = (a.data[a.at(i, p).offset], b.data[b.at(p, j).offset]);
                x.into() * y.into()
            });
            let before = if self.accumulate { out[i * ldc + j].into() } else { 0.0 };
            let bias = if self.bias { bias[j].into() } else { 0.0 };
            let terms = products.chain([before, bias]);
            let (sum, size) =
                terms.fold((0.0, 0.0), |(sum, size), term: f64| (sum + term, size + term.abs()));
            (if self.relu { sum.max(0.0) } else { sum }, size)
        };
        (0..self.m).flat_map(|i| (0..self.n).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect()
    }

    fn check<T: Float>(&self) {
        let Self { m, k, n, .. } = *self;
        let ((a_at, a_row, a_col, a_len), (b_at, b_row, b_col, b_len)) =
            (strides(self.a, m, k), strides(self.b, k, n));
        let (a, b): (Vec<T>, Vec<T>) = (numbers(a_len, 1), numbers(b_len, 2));
        let (a, b) = (MatRef::new(&a, a_at, a_row, a_col), MatRef::new(&b, b_at, b_row, b_col));
        let ldc = n + 2;
        let (before, bias): (Vec<T>, Vec<T>) = (numbers(m * ldc, 3), numbers(n, 4));
        let mut out = before.clone();
        let epilogue = Epilogue {
            bias: self.bias.then_some(&bias[..]),
            activation: if self.relu { Activation::Relu } else { Activation::None },
        };
        gemm(m, k, n, a, b, &mut out, ldc, self.accumulate, &epilogue);
        let expected = self.expected(a, b, &before, &bias);
        for i in 0..m {
            for j in 0..ldc {
                let (found, at) = (out[i * ldc + j].into(), (i, j));
                if j >= n {
                    assert_eq!(found, before[i * ldc + j].into(), "{at:?} is not part of the output");
                    continue;
                }
                let (wanted, size) = expected[i * n + j];
                let bound = (2.0 + k as f64) * T::EPSILON * size + 1e-30;
                assert!(
                    (found - wanted).abs() <= bound,
                    "{m} × {k} × {n}, {:?} · {:?} at {at:?}: {found}, not {wanted}",
                    self.a,
                    self.b
                );
            }
        }
    }
}

#[test]
fn products_of_all_small_sizes_are_right() {
    on_every_level(|| {
        for m in 0..=15 {
            for n in (0..=18).chain([31, 32, 33, 40]) {
                for k in [0, 1, 2, 3, 7, 8, 9, 33] {
                    Case::plain(m, k, n).check::<f32>();
                    Case::plain(m, k, n).check::<f64>();
                }
            }
        }
    });
}

#[test]
fn products_around_the_edges_of_blocks_are_right() {
    let sizes = [
        (64, 784, 100),
        (300, 70, 40),
        (513, 257, 65),
        (97, 600, 130),
        (7, 1000, 300),
        (2100, 20, 30),
        (20, 30, 2100),
        (1, 700, 300),
        (300, 700, 1),
        (2, 2000, 2),
    ];
    on_every_level(|| {
        for (m, k, n) in sizes {
            Case::plain(m, k, n).check::<f32>();
            Case::plain(m, k, n).check::<f64>();
        }
    });
}

#[test]
fn operands_may_lie_in_any_way() {
    on_every_level(|| {
        for (a, b) in LIES.into_iter().flat_map(|a| LIES.map(|b| (a, b))) {
            for (m, k, n) in
                [(1, 5, 1), (5, 1, 9), (13, 17, 19), (1, 90, 40), (40, 90, 1), (290, 64, 150), (33, 300, 40)]
            {
                for (accumulate, bias, relu) in [(false, false, false), (true, true, true)] {
                    let case = Case { m, k, n, a, b, accumulate, bias, relu };
                    case.check::<f32>();
                    case.check::<f64>();
                }
            }
        }
    });
}

#[test]
fn what_comes_after_the_product_is_done_once() {
    on_every_level(|| {
        for (m, k, n) in [(5, 0, 7), (17, 9, 35), (70, 600, 40), (300, 520, 33), (1, 600, 40), (40, 600, 1)] {
            for bits in 0..8 {
                let (accumulate, bias, relu) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
                let case = Case { accumulate, bias, relu, ..Case::plain(m, k, n) };
                case.check::<f32>();
                case.check::<f64>();
            }
        }
    });
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let product = |m: usize, k: usize, n: usize| {
        let (a, b): (Vec<f32>, Vec<f32>) = (numbers(m * k, 1), numbers(k * n, 2));
        let mut out = vec![0.0; m * n];
        let (a, b) = (MatRef::row_major(&a, k), MatRef::row_major(&b, n));
        gemm(m, k, n, a, b, &mut out, n, false, &Epilogue::default());
        out.into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    let _turn = turn();
    let before = num_threads();
    for (m, k, n) in
        [(64, 784, 512), (300, 300, 300), (64, 512, 10), (1, 3000, 500), (3000, 500, 1), (8, 40_000, 8)]
    {
        set_num_threads(1);
        let alone = product(m, k, n);
        for threads in [2, 3] {
            set_num_threads(threads);
            assert_eq!(product(m, k, n), alone, "{m} × {k} × {n} with {threads} threads");
        }
    }
    set_num_threads(before);
}

#[test]
fn nan_and_infinity_go_through_zeros_and_relu() {
    on_every_level(|| {
        for n in [1, 3, 16, 40] {
            let a = [0.0f32, 1.0];
            let mut b = vec![1.0f32; 2 * n];
            (b[0], b[n - 1]) = (f32::INFINITY, f32::INFINITY);
            let mut out = vec![0.0; n];
            let epilogue = Epilogue { bias: None, activation: Activation::Relu };
            gemm(1, 2, n, MatRef::row_major(&a, 2), MatRef::row_major(&b, n), &mut out, n, false, &epilogue);
            assert!(out[0].is_nan() && out[n - 1].is_nan(), "0 · inf + 1 is {}", out[0]);
            assert!(n < 3 || out[1] == 1.0);
        }
    });
}

#[test]
fn an_operand_that_ends_too_early_is_refused() {
    let a = [1.0f32; 11];
    let call = |a: MatRef<'_, f32>| {
        let mut out = [0.0; 9];
        gemm(3, 4, 3, a, MatRef::new(&[1.0], 0, 0, 0), &mut out, 3, false, &Epilogue::default());
    };
    for a in [MatRef::row_major(&a, 4), MatRef::new(&a, 3, -2, 1), MatRef::new(&a, usize::MAX, 1, 1)] {
        assert!(std::panic::catch_unwind(|| call(a)).is_err(), "{a:?}");
    }
}

#[test]
fn activations_follow_the_last_step() {
    let (m, k, n) = (20, 300, 33);
    let (a, b): (Vec<f32>, Vec<f32>) = (numbers(m * k, 1), numbers(k * n, 2));
    let product = |activation| {
        let mut out = vec![0.5; m * n];
        let epilogue = Epilogue { bias: None, activation };
        gemm(m, k, n, MatRef::row_major(&a, k), MatRef::row_major(&b, n), &mut out, n, true, &epilogue);
        out
    };
    let plain = product(Activation::None);
    for (activation, function) in [
        (Activation::Tanh, f64::tanh as fn(f64) -> f64),
        (Activation::Sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
        (Activation::Silu, |x| x / (1.0 + (-x).exp())),
        (Activation::Gelu, |x| 0.5 * x * (1.0 + libm::erf(x / 2f64.sqrt()))),
        (Activation::GeluTanh, |x| 0.5 * x * (1.0 + (0.797_884_560_8 * (x + 0.044_715 * x * x * x)).tanh())),
    ] {
        for (&x, y) in plain.iter().zip(product(activation)) {
            let wanted = function(f64::from(x));
            assert!((f64::from(y) - wanted).abs() <= 1e-6 * wanted.abs().max(1.0), "{activation:?} {x}: {y}");
        }
    }
}

#[test]
fn a_batch_is_its_products_also_where_outputs_lie_between_each_other() {
    let (items, heads, m, k, n) = (3, 4, 9, 5, 6);
    let (a, b): (Vec<f64>, Vec<f64>) = (numbers(items * heads * m * k, 1), numbers(items * k * n, 2));
    // Rows of all heads beside each other; one right operand for all heads of an item.
    let batch = [
        Batch {
            len: items,
            a_stride: (heads * m * k) as isize,
            b_stride: (k * n) as isize,
            out_stride: m * heads * n,
        },
        Batch { len: heads, a_stride: (m * k) as isize, b_stride: 0, out_stride: n },
    ];
    let mut out = vec![0.0; items * m * heads * n];
    let (left, right) = (MatRef::row_major(&a, k), MatRef::row_major(&b, n));
    gemm_batch(&batch, m, k, n, left, right, &mut out, heads * n, false, &Epilogue::default());
    for (item, head) in (0..items).flat_map(|item| (0..heads).map(move |head| (item, head))) {
        let mut one = vec![0.0; m * n];
        let left = MatRef::new(&a, (item * heads + head) * m * k, k as isize, 1);
        let right = MatRef::new(&b, item * k * n, n as isize, 1);
        gemm(m, k, n, left, right, &mut one, n, false, &Epilogue::default());
        for (i, row) in one.chunks(n).enumerate() {
            let start = ((item * m + i) * heads + head) * n;
            assert_eq!(out[start..start + n], *row, "item {item}, head {head}, row {i}");
        }
    }
}

#[test]
fn outputs_of_a_batch_that_overlap_are_refused() {
    let call = |out_stride, ldc| {
        let mut out = [0.0f32; 100];
        let one = MatRef::new(&[1.0], 0, 0, 0);
        let batch = [Batch { len: 3, a_stride: 0, b_stride: 0, out_stride }];
        gemm_batch(&batch, 2, 1, 4, one, one, &mut out, ldc, false, &Epilogue::default());
    };
    call(4, 12);
    call(8, 4);
    for (out_stride, ldc) in [(0, 4), (3, 12), (4, 11), (7, 4), (100, 4)] {
        assert!(std::panic::catch_unwind(|| call(out_stride, ldc)).is_err(), "{out_stride}, {ldc}");
    }
}

#[test]
fn integers_wrap_around() {
    let mut out = [0i8; 4];
    matmul_plain(
        2,
        2,
        2,
        MatRef::row_major(&[100, 3, -7, 0], 2),
        MatRef::new(&[2, 50], 1, 0, -1),
        &mut out,
        2,
    );
    assert_eq!(out, [(5150i32) as i8, 206u8 as i8, (-350i32) as i8, -14]);
}
