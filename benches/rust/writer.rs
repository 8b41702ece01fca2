//! What it costs to plan a container (rules, places, order by name, encoding) and to write its head to memory.
//!
//! Baseline: a copy of the bytes.

use std::collections::BTreeMap;
use std::hint::black_box;

use burnpy_pack::{Limits, Plan, Writer};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

mod model;

fn plan(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    for count in model::COUNTS {
        group.throughput(Throughput::Elements(count as u64));
        let mut by_name = model::tensors(count);
        by_name.sort_by(|a, b| a.name.cmp(&b.name));
        for (name, tensors) in [("data_order", model::tensors(count)), ("name_order", by_name)] {
            group.bench_function(BenchmarkId::new(name, count), |bencher| {
                let (metadata, scalars, limits) = (BTreeMap::new(), BTreeMap::new(), Limits::default());
                bencher.iter(|| {
                    Plan::new(black_box(&tensors), &metadata, &scalars, &limits).expect("a good plan")
                });
            });
        }
    }
    group.finish();
}

fn encode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("encode");
    for count in model::COUNTS {
        group.throughput(Throughput::Elements(count as u64));
        let tensors = model::empty_tensors(count);
        let mut memory =
            Writer::new(tensors.clone()).into_bytes().expect("a plain model can be written").to_vec();
        let copied = memory.clone();
        group.bench_function(BenchmarkId::new("write_into", count), |bencher| {
            bencher.iter_batched(
                || Writer::new(tensors.clone()),
                |writer| writer.write_into(&mut memory).expect("memory of the right length"),
                BatchSize::LargeInput,
            );
        });
        group.bench_function(BenchmarkId::new("memcpy", count), |bencher| {
            bencher.iter(|| black_box(&copied).to_vec());
        });
    }
    group.finish();
}

criterion_group!(benches, plan, encode);
criterion_main!(benches);
