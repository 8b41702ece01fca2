//! Element-wise kernels, softmax, norms and sums in GB/s of memory read and written, beside a copy.
//!
//! Sizes: in the first cache, in the last, beyond all.

use std::hint::black_box;

use burnpy_buffer::AlignedBuf;
use burnpy_buffer::try_cast_slice_mut;
use burnpy_tensor::kernels::layer_norm::{Affine, Centre, norm};
use burnpy_tensor::kernels::ops::{self, BinaryOp, UnaryOp};
use burnpy_tensor::kernels::{map, reduce, softmax};
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
    measurement::WallTime,
};

const SIZES: [usize; 3] = [4_000, 1_000_000, 10_000_000];
const COLUMNS: usize = 1_000;

/// Numbers in memory of the kind that tensors have: aligned, in huge pages.
struct Numbers(AlignedBuf);

impl Numbers {
    fn new(len: usize) -> Self {
        let mut block = Self(AlignedBuf::zeroed(4 * len));
        block.get().iter_mut().enumerate().for_each(|(i, x)| *x = ((i * 7919) % 2003) as f32 / 500.0 - 2.0);
        block
    }

    fn get(&mut self) -> &mut [f32] {
        try_cast_slice_mut(&mut self.0).expect("a block of whole numbers")
    }
}

fn measure(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    size: usize,
    arrays: usize,
    run: impl FnMut(),
) {
    let mut run = run;
    group.throughput(Throughput::Bytes((4 * arrays * size) as u64));
    group.bench_function(BenchmarkId::new(name, size), |bencher| bencher.iter(&mut run));
}

fn unary(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, size: usize, op: impl UnaryOp<f32>) {
    let (mut x, mut y) = (Numbers::new(size), Numbers::new(size));
    measure(group, name, size, 2, || map::unary(op, black_box(x.get()), y.get()));
}

fn binary(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, size: usize, op: impl BinaryOp<f32>) {
    let (mut a, mut b, mut y) = (Numbers::new(size), Numbers::new(size), Numbers::new(size));
    measure(group, name, size, 3, || map::binary(op, black_box(a.get()), b.get(), y.get()));
}

fn elementwise(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("elementwise");
    for size in SIZES {
        let (mut x, mut y) = (Numbers::new(size), Numbers::new(size));
        measure(&mut group, "memcpy", size, 2, || y.get().copy_from_slice(black_box(x.get())));
        binary(&mut group, "add", size, ops::Add);
        unary(&mut group, "relu", size, ops::Relu);
        unary(&mut group, "exp", size, ops::Exp);
        unary(&mut group, "log", size, ops::Log);
        unary(&mut group, "log1p", size, ops::Log1p);
        unary(&mut group, "tanh", size, ops::Tanh);
        unary(&mut group, "sigmoid", size, ops::Sigmoid);
        unary(&mut group, "erf", size, ops::Erf);
        unary(&mut group, "sin", size, ops::Sin);
        unary(&mut group, "gelu", size, ops::Gelu);
        binary(&mut group, "gelu_grad", size, ops::GeluGrad);
    }
    group.finish();
}

fn rows(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rows");
    for size in SIZES {
        let rows = size / COLUMNS;
        let (mut x, mut y, mut g) = (Numbers::new(size), Numbers::new(size), Numbers::new(size));
        let (mut gamma, mut beta) = (Numbers::new(COLUMNS), Numbers::new(COLUMNS));
        let mut stats = vec![[0.0; 2]; rows];
        measure(&mut group, "softmax", size, 2, || softmax::softmax(black_box(x.get()), COLUMNS, y.get()));
        measure(&mut group, "softmax_backward", size, 3, || {
            softmax::softmax_backward(black_box(g.get()), x.get(), COLUMNS, y.get());
        });
        measure(&mut group, "layer_norm", size, 2, || {
            let affine = Affine { gamma: Some(gamma.get()), beta: Some(beta.get()) };
            norm(Centre::Mean, black_box(x.get()), COLUMNS, affine, 1e-5, y.get(), &mut stats);
        });
        measure(&mut group, "sum", size, 1, || {
            black_box(reduce::all(reduce::Sum, black_box(x.get())));
        });
        let mut sums = vec![0.0; COLUMNS];
        measure(&mut group, "sum_axis_0", size, 1, || {
            reduce::axis(reduce::Sum, black_box(x.get()), [1, rows, COLUMNS], &mut sums);
        });
    }
    group.finish();
}

criterion_group!(benches, elementwise, rows);
criterion_main!(benches);
