//! What it costs to open a container: header, metadata, the rules, the index by name.
//!
//! Baselines: the same names, shapes and offsets as safetensors' JSON through serde_json, and a copy of the bytes.

use std::hint::black_box;

use burnpy_pack::{ReadOptions, Reader};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Map, Value, json};

mod model;

fn parse(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    for count in model::COUNTS {
        let (container, json) = (model::container(count), as_json(count));
        group.throughput(Throughput::Elements(count as u64));
        for (name, strict) in [("tolerant", false), ("strict", true)] {
            let options = ReadOptions { strict, ..ReadOptions::default() };
            group.bench_function(BenchmarkId::new(name, count), |bencher| {
                bencher.iter(|| Reader::from_bytes(container.clone(), &options).expect("a good container"));
            });
        }
        group.bench_function(BenchmarkId::new("json", count), |bencher| {
            bencher.iter(|| serde_json::from_slice::<Value>(black_box(&json)).expect("good JSON"));
        });
        group.bench_function(BenchmarkId::new("memcpy", count), |bencher| {
            bencher.iter(|| black_box(&container).to_vec());
        });
    }
    group.finish();
}

fn as_json(count: usize) -> Vec<u8> {
    let reader =
        Reader::from_bytes(model::container(count), &ReadOptions::default()).expect("a good container");
    let entries = reader.entries().map(|entry| {
        let (shape, offsets) = (entry.shape(), [entry.start(), entry.end()]);
        (entry.name().to_owned(), json!({"dtype": "F32", "shape": shape, "data_offsets": offsets}))
    });
    serde_json::to_vec(&Value::Object(entries.collect::<Map<_, _>>())).expect("JSON of plain values")
}

criterion_group!(benches, parse);
criterion_main!(benches);
