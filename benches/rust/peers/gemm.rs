//! Matrix products in GFLOP/s, beside the peak of the machine and the crates `matrixmultiply` and `gemm`.
//!
//! Arguments, all optional: `f64`, `nt` or `tn` (the right or left operand is stored transposed), `1` or `2` threads, `alone`
//! without the crates, and
//! `m,k,n` for a shape of one's own. The best of several rounds, in which the candidates take turns.

use std::time::Instant;

use burnpy_tensor::kernels::gemm::{Epilogue, GemmElement, MatRef, gemm};
use burnpy_tensor::parallel::set_num_threads;

/// Batch × inputs × outputs of the layers in the training benchmarks, between cubes.
const SHAPES: [(usize, usize, usize); 18] = [
    (16, 16, 16),
    (32, 32, 32),
    (64, 64, 64),
    (100, 100, 100),
    (128, 128, 128),
    (256, 256, 256),
    (512, 512, 512),
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (64, 784, 512),
    (64, 512, 512),
    (64, 512, 10),
    (64, 9216, 128),
    (1024, 784, 512),
    (2048, 512, 128),
    (2048, 128, 512),
    (1, 1024, 1024),
    (1024, 1024, 1),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| args.iter().any(|arg| arg == name);
    let lie = Lie { left: has("tn"), right: has("nt") };
    let own = args.iter().filter_map(|arg| {
        let sizes: Vec<usize> = arg.split(',').filter_map(|size| size.parse().ok()).collect();
        <[usize; 3]>::try_from(sizes).ok().map(|[m, k, n]| (m, k, n))
    });
    let own: Vec<_> = own.collect();
    let shapes = if own.is_empty() { &SHAPES[..] } else { &own };
    for threads in [2, 1] {
        if !has(&(3 - threads).to_string()) {
            if has("f64") { table::<f64>(shapes, lie, threads) } else { table::<f32>(shapes, lie, threads) }
        }
    }
}

/// Which operands are stored transposed.
#[derive(Debug, Clone, Copy)]
struct Lie {
    left: bool,
    right: bool,
}

fn table<T: Peers>(shapes: &[(usize, usize, usize)], lie: Lie, threads: usize) {
    set_num_threads(threads);
    println!("\n{} threads, {lie:?}, peak of one thread {:.1} GFLOP/s", threads, peak::<T>());
    println!("| m × k × n | burnpy | matrixmultiply | gemm | of the peak |\n|---|---|---|---|---|");
    for &(m, k, n) in shapes {
        let rates = Case::<T>::new(m, k, n, lie).rates(threads);
        let share = rates[0] / peak::<T>() / threads as f64;
        let [ours, matrixmultiply, gemm] = rates;
        println!("| {m} × {k} × {n} | {ours:.1} | {matrixmultiply:.1} | {gemm:.1} | {share:.2} |");
    }
}

struct Case<T> {
    sizes: [usize; 3],
    lie: Lie,
    a: Vec<T>,
    b: Vec<T>,
    out: Vec<T>,
}

impl<T: Peers> Case<T> {
    fn new(m: usize, k: usize, n: usize, lie: Lie) -> Self {
        let fill = |len: usize| (0..len).map(|i| T::of(i % 17)).collect();
        Self { sizes: [m, k, n], lie, a: fill(m * k), b: fill(k * n), out: vec![T::of(0); m * n] }
    }

    fn rates(&mut self, threads: usize) -> [f64; 3] {
        let [m, k, n] = self.sizes;
        let flop = 2.0 * (m * k * n) as f64;
        let calls = ((5e7 / flop) as usize).clamp(1, 5_000);
        let rounds = ((4e9 / flop) as usize).clamp(5, 40);
        let runs: [fn(&mut Self, usize); 3] = [Self::ours, T::matrixmultiply, T::gemm];
        let mut best = [f64::INFINITY; 3];
        let candidates = if std::env::args().any(|arg| arg == "alone") { 1 } else { 3 };
        for _ in 0..rounds {
            for (run, best) in runs.iter().zip(&mut best).take(candidates) {
                let start = now(threads);
                (0..calls).for_each(|_| run(self, threads));
                *best = best.min((now(threads) - start) / calls as f64);
            }
        }
        best.map(|seconds| flop / seconds / 1e9)
    }

    fn ours(&mut self, _threads: usize) {
        let [m, k, n] = self.sizes;
        let ([a_row, a_col], [b_row, b_col]) = self.strides();
        let (a, b) = (MatRef::new(&self.a, 0, a_row, a_col), MatRef::new(&self.b, 0, b_row, b_col));
        gemm(m, k, n, a, b, &mut self.out, n, false, &Epilogue::default());
    }

    fn strides(&self) -> ([isize; 2], [isize; 2]) {
        let [m, k, n] = self.sizes.map(|size| size as isize);
        let a = if self.lie.left { [1, m] } else { [k, 1] };
        let b = if self.lie.right { [1, k] } else { [n, 1] };
        (a, b)
    }
}

/// Seconds: of this thread's computing time, or by the clock where several threads compute.
fn now(threads: usize) -> f64 {
    #[cfg(unix)]
    if threads == 1 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes the time to where it is told.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        return time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9;
    }
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

trait Peers: GemmElement {
    fn of(number: usize) -> Self;
    /// A number of independent fused multiply-adds, for a peak.
    fn multiply_adds() -> f64;
    fn matrixmultiply(case: &mut Case<Self>, _threads: usize);
    fn gemm(case: &mut Case<Self>, threads: usize);
}

macro_rules! peers {
    ($element:ty, $lanes:literal, $matrixmultiply:ident) => {
        impl Peers for $element {
            fn of(number: usize) -> Self {
                number as $element
            }

            fn multiply_adds() -> f64 {
                multiply_adds() * $lanes as f64
            }

            fn matrixmultiply(case: &mut Case<Self>, _threads: usize) {
                let [m, k, n] = case.sizes;
                let ([a_row, a_col], [b_row, b_col]) = case.strides();
                let (a, b, out) = (case.a.as_ptr(), case.b.as_ptr(), case.out.as_mut_ptr());
                // SAFETY: sizes and strides are those of the vectors.
                unsafe {
                    matrixmultiply::$matrixmultiply(
                        m, k, n, 1.0, a, a_row, a_col, b, b_row, b_col, 0.0, out, n as isize, 1,
                    );
                }
            }

            fn gemm(case: &mut Case<Self>, threads: usize) {
                let [m, k, n] = case.sizes;
                let ([a_row, a_col], [b_row, b_col]) = case.strides();
                let (a, b, out) = (case.a.as_ptr(), case.b.as_ptr(), case.out.as_mut_ptr());
                let mode =
                    if threads > 1 { gemm::Parallelism::Rayon(threads) } else { gemm::Parallelism::None };
                // SAFETY: as above.
                unsafe {
                    gemm::gemm(
                        m, n, k, out, 1, n as isize, false, a, a_col, a_row, b, b_col, b_row, 0.0, 1.0,
                        false, false, false, mode,
                    );
                }
            }
        }
    };
}
peers!(f32, 8, sgemm);
peers!(f64, 4, dgemm);

fn peak<T: Peers>() -> f64 {
    (0..5).map(|_| T::multiply_adds()).fold(0.0, f64::max)
}

/// Billions of vector operations a second, times 2 for multiply and add, as 32-byte registers.
#[cfg(target_arch = "x86_64")]
fn multiply_adds() -> f64 {
    use std::arch::x86_64::*;
    const LOOPS: usize = 1_000_000;
    #[target_feature(enable = "avx2,fma")]
    fn run(factor: __m256) -> __m256 {
        let mut sums = [factor; 12];
        for _ in 0..LOOPS {
            sums.iter_mut().for_each(|sum| *sum = _mm256_fmadd_ps(factor, factor, *sum));
            std::hint::black_box(());
        }
        sums.into_iter().fold(factor, |sum, next| _mm256_add_ps(sum, next))
    }
    #[target_feature(enable = "avx512f")]
    fn run_wide(factor: __m512) -> __m512 {
        let mut sums = [factor; 24];
        for _ in 0..LOOPS {
            sums.iter_mut().for_each(|sum| *sum = _mm512_fmadd_ps(factor, factor, *sum));
            std::hint::black_box(());
        }
        sums.into_iter().fold(factor, |sum, next| _mm512_add_ps(sum, next))
    }
    let start = now(1);
    // SAFETY: each after a look for its instructions.
    let registers = unsafe {
        if is_x86_feature_detected!("avx512f") {
            std::hint::black_box(run_wide(std::hint::black_box(_mm512_set1_ps(0.5))));
            48
        } else if is_x86_feature_detected!("fma") {
            std::hint::black_box(run(std::hint::black_box(_mm256_set1_ps(0.5))));
            12
        } else {
            return f64::NAN;
        }
    };
    2.0 * (LOOPS * registers) as f64 / (now(1) - start) / 1e9
}

#[cfg(not(target_arch = "x86_64"))]
fn multiply_adds() -> f64 {
    f64::NAN
}
