//! Strict mode: each of its rules broken once. The tolerant reader takes every file of this page.

use burnpy_buffer::{DType, QuantScheme};
use burnpy_pack::{Header, Limits, ReadOptions, Reader, Tensor, Writer};

use crate::cbor::*;
use crate::{assert_no_problem, f32_tensor, file_of, open, open_strict};

#[track_caller]
fn assert_strict_refuses(file: Vec<u8>, words: &str) {
    open(file.clone()).unwrap_or_else(|error| panic!("the tolerant reader refuses it: {error}"));
    let error = open_strict(file).expect_err("strict mode takes it");
    assert_eq!(error.kind_name(), "ValidationError", "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

/// A U8 tensor at this place.
fn placed(start: u64, end: u64) -> Item {
    map(&[
        ("dtype", text("U8")),
        ("shape", array(&[uint(end - start)])),
        ("data_offsets", offsets(start, end)),
    ])
}

fn two(a: (u64, u64), b: (u64, u64), data_len: usize) -> Vec<u8> {
    let tensors = map(&[("a", placed(a.0, a.1)), ("b", placed(b.0, b.1))]);
    file_of(&map(&[("tensors", tensors)]), &vec![0; data_len])
}

#[test]
fn what_a_writer_wrote_is_taken() {
    let empty = f32_tensor("none", &[]);
    let file =
        Writer::new(vec![f32_tensor("w", &[1.0]), empty, f32_tensor("v", &[2.0; 65])]).with_scalar("s", 1.5);
    open_strict(file.into_bytes().unwrap().to_vec()).map(|reader| assert_no_problem(&reader)).unwrap();
    open_strict(Writer::new(vec![]).into_bytes().unwrap().to_vec()).unwrap();
    open_strict(file_with(&descriptor())).unwrap();
}

#[test]
fn rule_1_version_0() {
    let mut file = file_with(&descriptor());
    file[4] = 0;
    assert_strict_refuses(file, "version");
}

#[test]
fn rule_1_bytes_after_the_metadata() {
    assert_strict_refuses(file_of_item(&[map(&top(&descriptor())), vec![0]].concat()), "metadata");
}

#[test]
fn rule_1_names_that_stand_twice() {
    let tensors = map(&[("w", map(&descriptor())), ("w", map(&descriptor()))]);
    assert_strict_refuses(file_of_item(&map(&[("tensors", tensors)])), "twice");
    let apart = map(&[("w", map(&descriptor())), ("a", map(&descriptor())), ("w", map(&descriptor()))]);
    assert_strict_refuses(file_of_item(&map(&[("tensors", apart)])), "twice");
    let metadata = map(&[("k", text("v")), ("k", text("v"))]);
    assert_strict_refuses(file_of_item(&map(&with(top(&descriptor()), "metadata", metadata))), "twice");
    let scalars = map(&[("s", map(&[("UInt", uint(1))])), ("s", map(&[("UInt", uint(1))]))]);
    assert_strict_refuses(file_of_item(&map(&with(top(&descriptor()), "scalars", scalars))), "twice");
}

#[test]
fn rule_1_unknown_keys() {
    assert_strict_refuses(file_of_item(&map(&with(top(&descriptor()), "more", uint(1)))), "more");
    assert_strict_refuses(file_with(&descriptor_with("more", uint(1))), "more");
    let quantized = |entries: &[(&str, Item)]| {
        file_with(&with(descriptor_with("shape", array(&[uint(4)])), "dtype", qfloat(entries)))
    };
    assert_strict_refuses(quantized(&with(scheme(), "more", uint(1))), "more");
    // The keys of Burn 0.20 and 0.21 are unknown to today's.
    assert_strict_refuses(quantized(&with(scheme(), "level", text("Tensor"))), "level");
}

#[test]
fn rule_2_more_tensors_than_the_limit() {
    let limits = Limits { max_tensors: 1, ..Limits::default() };
    let both = [("a", map(&descriptor())), ("b", map(&descriptor()))];
    for tensors in [map(&both), endless_map(&both), wide_head(5, 2)] {
        let file = file_of_item(&map(&[("tensors", tensors)]));
        let error =
            Reader::from_bytes(file.into(), &ReadOptions { strict: true, limits, ..ReadOptions::default() });
        let error = error.unwrap_err();
        assert_eq!((error.kind_name(), error.found(), error.limit()), ("ValidationError", Some(2), Some(1)));
    }
}

#[test]
fn rule_3_a_start_that_is_not_aligned() {
    assert_strict_refuses(two((0, 8), (8, 16), 16), "multiple of 256");
}

#[test]
fn rule_4_a_quantized_length_that_does_not_fit() {
    assert_strict_refuses(file_with(&descriptor_with("dtype", qfloat(&scheme()))), "need");
}

#[test]
fn rule_4_schemes_that_cannot_be() {
    let quantized = |key, value| {
        let dtype = qfloat(&with(scheme(), key, value));
        file_with(&with(descriptor_with("dtype", dtype), "shape", array(&[uint(4)])))
    };
    assert_strict_refuses(quantized("block", block(&[4, 1, 1, 1, 1], 6, "F32")), "extents");
    assert_strict_refuses(quantized("block", block(&[4, 1, 1, 1, 1], 0, "F32")), "block");
    assert_strict_refuses(quantized("block", block(&[0, 1, 1, 1, 1], 1, "F32")), "0");
    assert_strict_refuses(quantized("block", block(&[4, 1, 1, 9, 1], 1, "F32")), "not 1");
    assert_strict_refuses(quantized("store", map(&[("PackedU32", uint(1))])), "packed dimension");
}

#[test]
fn rule_5_overlaps_and_holes() {
    assert_strict_refuses(two((0, 300), (256, 300), 300), "overlap");
    assert_strict_refuses(two((0, 8), (0, 8), 8), "overlap");
    assert_strict_refuses(two((0, 8), (512, 520), 520), "hole");
    assert_strict_refuses(two((256, 264), (512, 520), 520), "hole");
}

#[test]
fn rule_6_bytes_after_the_last_tensor() {
    let file = file_with(&descriptor());
    assert_strict_refuses([file, vec![0]].concat(), "ends at");
    let empty = Writer::new(vec![]).into_bytes().unwrap();
    assert_strict_refuses([&empty[..], &[0]].concat(), "ends at");
    assert_strict_refuses(empty[..20].to_vec(), "ends at");
}

#[test]
fn rule_7_padding_that_is_not_zero() {
    let mut file = file_with(&descriptor());
    let size = Header::from_bytes(&file).unwrap().metadata_size as usize;
    for at in [10 + size, 255] {
        file[at] = 1;
        assert_strict_refuses(file.clone(), "padding");
        file[at] = 0;
    }
}

#[test]
fn rule_7_gaps_that_are_not_zero() {
    let mut file =
        Writer::new(vec![f32_tensor("a", &[1.0]), f32_tensor("b", &[2.0])]).into_bytes().unwrap().to_vec();
    let start = open(file.clone()).unwrap().data_start() as usize;
    open_strict(file.clone()).map(|reader| assert_no_problem(&reader)).unwrap();
    for at in [start + 4, start + 255] {
        file[at] = 7;
        let problems = open_strict(file.clone()).unwrap().problems(&Limits::default()).unwrap();
        let told: Vec<_> = problems.iter().map(|error| (error.kind_name(), error.found())).collect();
        assert_eq!(told, [("ValidationError", Some(7))]);
        file[at] = 0;
    }
}

#[test]
fn metadata_in_another_form_than_burn_writes() {
    let shape = |item| file_with(&descriptor_with("shape", item));
    assert_strict_refuses(shape(array(&[wide_head(0, 2)])), "form");
    assert_strict_refuses(shape(bytes(&[2])), "form");
    assert_strict_refuses(shape(endless_array(&[uint(2)])), "form");
    assert_strict_refuses(shape(tag(1, array(&[uint(2)]))), "form");
    assert_strict_refuses(file_with(&descriptor_with("param_id", NULL.to_vec())), "form");
    assert_strict_refuses(
        file_of_item(&map(&with(top(&descriptor()), "metadata", map::<&str>(&[])))),
        "form",
    );
    let mut reversed = descriptor();
    reversed.reverse();
    assert_strict_refuses(file_with(&reversed), "form");
    let unsorted = map(&[("b", placed(0, 8)), ("a", placed(256, 264))]);
    assert_strict_refuses(file_of(&map(&[("tensors", unsorted)]), &[0; 264]), "form");
}

#[test]
fn a_scheme_of_rank_0_may_be_packed_along_its_only_line() {
    let scheme = QuantScheme::default();
    let tensor = Tensor::new("q", DType::QFloat(scheme), vec![], None, vec![0; 8].into());
    open_strict(Writer::new(vec![tensor]).into_bytes().unwrap().to_vec()).unwrap();
}
