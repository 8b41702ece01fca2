//! Odd metadata that must be refused, row by row. Everything here is `MetadataDeserializationError`.

use crate::cbor::*;
use crate::refusal;

#[track_caller]
fn assert_refused(file: Vec<u8>) {
    let error = refusal(file);
    assert_eq!(error.kind_name(), "MetadataDeserializationError", "{error}");
}

#[track_caller]
fn assert_top_refused(entries: &[(&str, Item)]) {
    assert_refused(file_of_item(&map(entries)));
}

#[track_caller]
fn assert_descriptor_refused(entries: &[(&str, Item)]) {
    assert_refused(file_with(entries));
}

fn with_top(key: &'static str, value: Item) -> Entries {
    with(top(&descriptor()), key, value)
}

#[test]
fn a_missing_key() {
    assert_top_refused(&[]);
    assert_top_refused(&[("metadata", map::<&str>(&[]))]);
    for key in ["dtype", "shape", "data_offsets"] {
        assert_descriptor_refused(&without(descriptor(), key));
    }
    for key in ["value", "store", "mode"] {
        assert_descriptor_refused(&descriptor_with("dtype", qfloat(&without(scheme(), key))));
    }
    for block in [vec![("dtype", text("F32"))], vec![("size", block_size(bytes(&[1; 5]), 1))]] {
        assert_descriptor_refused(&descriptor_with("dtype", qfloat(&with(scheme(), "block", map(&block)))));
    }
}

#[test]
fn a_struct_key_that_stands_twice() {
    for (key, value) in descriptor() {
        let twice: Entries = descriptor().into_iter().chain([(key, value)]).collect();
        assert_descriptor_refused(&twice);
    }
    let twice: Entries = top(&descriptor()).into_iter().chain(top(&descriptor())).collect();
    assert_top_refused(&twice);
    let twice: Entries = scheme().into_iter().chain([("tensor", NULL.to_vec())]).collect();
    assert_descriptor_refused(&descriptor_with("dtype", qfloat(&twice)));
}

#[test]
fn null_for_a_map() {
    for key in ["tensors", "metadata", "scalars"] {
        assert_top_refused(&with_top(key, NULL.to_vec()));
    }
}

#[test]
fn a_top_level_that_is_no_map() {
    for item in [array(&[]), uint(1), text("tensors"), NULL.to_vec(), bytes(&[]), f64_item(1.0), vec![]] {
        assert_refused(file_of_item(&item));
    }
}

#[test]
fn keys_that_are_no_text() {
    for key in [uint(1), bytes(b"w"), NULL.to_vec(), array(&[]), f64_item(1.0), TRUE.to_vec()] {
        assert_top_refused(&[("tensors", map(&[(key.clone(), map(&descriptor()))]))]);
        assert_top_refused(&with_top("metadata", map(&[(key.clone(), text("v"))])));
        assert_top_refused(&with_top("scalars", map(&[(key, map(&[("UInt", uint(1))]))])));
    }
}

#[test]
fn struct_keys_that_are_integers() {
    let entries = [(text("tensors"), map(&[("w", map(&descriptor()))])), (uint(1), uint(1))];
    assert_refused(file_of_item(&map(&entries)));
}

#[test]
fn numbers_that_are_no_unsigned_integers() {
    let too_large = tag(2, bytes(&[1, 0, 0, 0, 0, 0, 0, 0, 0]));
    for number in
        [negative(0), f64_item(2.0), too_large, text("2"), tag(3, bytes(&[1])), NULL.to_vec(), TRUE.to_vec()]
    {
        assert_descriptor_refused(&descriptor_with("shape", array(std::slice::from_ref(&number))));
        assert_descriptor_refused(&descriptor_with("data_offsets", array(&[uint(0), number.clone()])));
        if number != NULL {
            assert_descriptor_refused(&descriptor_with("param_id", number));
        }
    }
}

#[test]
fn a_param_id_of_a_tagged_null() {
    assert_descriptor_refused(&descriptor_with("param_id", tag(1, NULL.to_vec())));
}

#[test]
fn scalars_of_another_type_or_range() {
    let scalars = [
        ("Int", uint(1 << 63)),
        ("Int", negative(1 << 63)),
        ("Int", f64_item(1.0)),
        ("UInt", negative(0)),
        ("UInt", f64_item(1.0)),
        ("Float", uint(1)),
        ("Float", negative(0)),
        ("Bool", uint(1)),
        ("Bool", NULL.to_vec()),
        ("Text", text("a")),
        ("int", uint(1)),
    ];
    for (kind, value) in scalars {
        assert_top_refused(&with_top("scalars", map(&[("s", map(&[(kind, value)]))])));
    }
    for bare in [uint(1), text("Int"), f64_item(1.0), array(&[]), map::<&str>(&[])] {
        assert_top_refused(&with_top("scalars", map(&[("s", bare)])));
    }
    let two = map(&[("Int", uint(1)), ("UInt", uint(2))]);
    assert_top_refused(&with_top("scalars", map(&[("s", two)])));
    assert_top_refused(&with_top("scalars", map(&[("s", endless_map(&[("Int", uint(1))]))])));
}

#[test]
fn offsets_that_are_not_two() {
    for count in [0, 1, 3] {
        assert_descriptor_refused(&descriptor_with("data_offsets", array(&vec![uint(8); count])));
        assert_descriptor_refused(&descriptor_with("data_offsets", endless_array(&vec![uint(8); count])));
    }
}

#[test]
fn dtypes_of_unknown_name_or_other_form() {
    let f32_name = || text("F32");
    for dtype in [
        text("f32"),
        text("F8"),
        text(""),
        text("QFloat"),
        uint(1),
        NULL.to_vec(),
        array(&[f32_name()]),
        bytes(b"F32"),
        endless_text(&["F32"]),
        map::<&str>(&[]),
        map(&[("F32", NULL.to_vec())]),
        map(&[("Bool", text("Native")), ("F32", NULL.to_vec())]),
        endless_map(&[("Bool", text("Native"))]),
        map(&[("Bool", text("U16"))]),
        map(&[("Bool", bytes(b"U8"))]),
        map(&[("Bool", map(&[("U8", NULL.to_vec())]))]),
        map(&[("Bool", NULL.to_vec())]),
        map(&[("bool", text("U8"))]),
        map(&[(endless_text(&["Bool"]), text("U8"))]),
        map(&[("QFloat", text("Q8S"))]),
    ] {
        assert_descriptor_refused(&descriptor_with("dtype", dtype));
    }
}

#[test]
fn a_bool_without_store_in_strict_mode() {
    // Burn 0.19 and 0.20 wrote it, and today's Burn refuses it; tolerant mode reads it.
    let error = crate::open_strict(file_with(&descriptor_with("dtype", text("Bool")))).unwrap_err();
    assert_eq!(error.kind_name(), "MetadataDeserializationError");
}

#[test]
fn schemes_of_unknown_name_or_other_form() {
    for (key, value) in [
        ("value", text("q8s")),
        ("value", text("Q16S")),
        ("value", map(&[("Q8S", NULL.to_vec())])),
        ("store", text("native")),
        ("store", text("PackedU32")),
        ("store", map(&[("Native", NULL.to_vec())])),
        ("store", map(&[("PackedU32", negative(0))])),
        ("store", map(&[("PackedU16", uint(0))])),
        ("mode", text("Asymmetric")),
        ("mode", NULL.to_vec()),
        ("tensor", text("F64")),
        ("tensor", uint(0)),
        ("block", text("F32")),
        ("block", block(&[4, 1, 1, 1], 1, "F32")),
        ("block", block(&[4, 1, 1, 1, 1, 1], 1, "F32")),
        ("block", block(&[256, 1, 1, 1, 1], 1, "F32")),
        ("block", block(&[4, 1, 1, 1, 1], 256, "F32")),
        ("block", block(&[4, 1, 1, 1, 1], 1, "F64")),
    ] {
        assert_descriptor_refused(&descriptor_with("dtype", qfloat(&with(scheme(), key, value))));
    }
}

#[test]
fn a_metadata_value_that_is_no_text() {
    for value in [uint(1), bytes(b"v"), NULL.to_vec(), array(&[]), map::<&str>(&[])] {
        assert_top_refused(&with_top("metadata", map(&[("k", value)])));
    }
}

#[test]
fn struct_keys_that_are_indefinite_or_too_long() {
    for key in [endless_text(&["unknown"]), text(&"k".repeat(4097)), bytes(&[b'k'; 4097])] {
        let entries = [(text("tensors"), map(&[("w", map(&descriptor()))])), (key, uint(1))];
        assert_refused(file_of_item(&map(&entries)));
    }
}

#[test]
fn text_that_is_not_utf8() {
    let bad = [head(3, 1), vec![0xFF]].concat();
    let split = [&[0x7F][..], &head(3, 1), &[0xC3], &head(3, 1), &[0xA9], &[0xFF]].concat();
    for text_item in [bad, split] {
        assert_top_refused(&[("tensors", map(&[(text_item.clone(), map(&descriptor()))]))]);
        assert_top_refused(&with_top("metadata", map(&[("k", text_item.clone())])));
        assert_top_refused(&with_top("unknown", text_item));
    }
}

#[test]
fn values_that_cbor_does_not_know() {
    for major in 0..8u8 {
        for reserved in 28..=30 {
            assert_top_refused(&with_top("unknown", vec![major << 5 | reserved]));
        }
    }
    // Indefinite integers and tags, simple values, an end mark where a value should be.
    for item in [vec![0x1F], vec![0x3F], vec![0xDF], vec![0xE0], vec![0xF8, 0x20], vec![0xFF]] {
        assert_top_refused(&with_top("unknown", item));
    }
}

#[test]
fn values_nested_too_deep() {
    let nested = |count| [vec![0x81; count], uint(0)].concat();
    assert_top_refused(&with_top("unknown", nested(128)));
    assert_top_refused(&with_top("unknown", [vec![0xC1; 128], uint(0)].concat()));
    assert_descriptor_refused(&descriptor_with("unknown", nested(126)));
    // A stack that is not endless: a million levels are as good as 129.
    assert_top_refused(&with_top("unknown", nested(1_000_000)));
}

#[test]
fn truncation_at_every_byte() {
    let whole = map(&with_top("scalars", map(&[("s", map(&[("Float", f64_item(0.1))]))])));
    for len in 0..whole.len() {
        assert_refused(file_of_item(&whole[..len]));
    }
}

#[test]
fn lengths_that_promise_more_than_there_is() {
    for major in 2..6 {
        for claimed in [1 << 20, u64::from(u32::MAX), 1 << 62, u64::MAX] {
            let huge = wide_head(major, claimed);
            assert_top_refused(&with_top("unknown", huge.clone()));
            assert_descriptor_refused(&descriptor_with("shape", huge.clone()));
            assert_top_refused(&[("tensors", huge.clone())]);
            assert_refused(file_of_item(&huge));
        }
    }
}
