//! Odd metadata that must be taken, row by row as the format's page lists what Burn's reader tolerates.

use burnpy_buffer::{BoolStore, DType};
use burnpy_pack::{Reader, Scalar};

use crate::cbor::*;
use crate::{open, payload};

/// Opens a file whose tensor `w` has this descriptor, and checks that it is read as the plain form is.
#[track_caller]
fn assert_plain(file: Vec<u8>) -> Reader {
    let reader = open(file).unwrap_or_else(|error| panic!("{error}"));
    let entry = reader.entry("w").expect("the tensor is there");
    assert_eq!((entry.dtype(), entry.shape(), entry.param_id()), (DType::F32, &[2][..], None));
    assert_eq!(payload(&reader, "w"), DATA);
    reader
}

#[track_caller]
fn assert_top(entries: &[(&str, Item)]) -> Reader {
    assert_plain(file_of_item(&map(entries)))
}

#[track_caller]
fn assert_descriptor(entries: &[(&str, Item)]) -> Reader {
    assert_plain(file_with(entries))
}

fn with_top(key: &'static str, value: Item) -> Entries {
    with(top(&descriptor()), key, value)
}

/// `count` arrays around an integer.
fn nested(count: usize) -> Item {
    [vec![0x81; count], uint(0)].concat()
}

#[test]
fn keys_in_any_order() {
    let mut reversed = descriptor();
    reversed.reverse();
    assert_descriptor(&reversed);
    let mut entries = with_top("scalars", map(&[("s", map(&[("UInt", uint(1))]))]));
    entries.reverse();
    assert_eq!(assert_top(&entries).scalars()["s"], Scalar::UInt(1));
}

#[test]
fn metadata_and_scalars_missing_or_empty() {
    assert_top(&top(&descriptor()));
    let reader = assert_top(&with(with_top("metadata", map::<&str>(&[])), "scalars", map::<&str>(&[])));
    assert!(reader.metadata().is_empty() && reader.scalars().is_empty());
}

#[test]
fn unknown_keys_at_every_level_with_any_value() {
    let values = [
        uint(7),
        negative(u64::MAX),
        f64_item(1.0),
        vec![0xF9, 0x3C, 0x00],
        vec![0xFA, 0x3F, 0x80, 0, 0],
        text("text"),
        endless_text(&["te", "xt"]),
        bytes(&[0xFF]),
        [&[0x5F][..], &bytes(&[1]), &bytes(&[2]), &[0xFF]].concat(),
        array(&[uint(1), array(&[])]),
        endless_array(&[uint(1), map(&[("k", uint(2))])]),
        map(&[(uint(1), text("integer key")), (array(&[]), NULL.to_vec())]),
        endless_map(&[("k", uint(1))]),
        tag(1, uint(0)),
        tag(2, bytes(&[1; 17])),
        tag(2, array(&[])),
        tag(55799, tag(1, text("t"))),
        NULL.to_vec(),
        UNDEFINED.to_vec(),
        TRUE.to_vec(),
        vec![0xF4],
    ];
    for value in values {
        assert_top(&with_top("unknown", value.clone()));
        assert_descriptor(&descriptor_with("unknown", value.clone()));
        let dtype = qfloat(&with(scheme(), "unknown", value.clone()));
        open(file_with(&descriptor_with("dtype", dtype))).unwrap();
        let size =
            with(vec![("storage", array(&vec![uint(1); 5])), ("len", uint(1))], "unknown", value.clone());
        let block = map(&[("unknown", value), ("size", map(&size)), ("dtype", text("F32"))]);
        let dtype = qfloat(&with(scheme(), "block", block));
        open(file_with(&descriptor_with("dtype", dtype))).unwrap();
    }
}

#[test]
fn unknown_keys_that_are_byte_strings_or_empty() {
    for key in [bytes(b"unknown"), bytes(&[0xFF]), text(""), tag(1, text("unknown")), text(&"k".repeat(4096))]
    {
        let entries = [(key, uint(1)), (text("tensors"), map(&[("w", map(&descriptor()))]))];
        assert_plain(file_of_item(&map(&entries)));
    }
}

#[test]
fn integers_that_are_not_shortest() {
    for wide in [
        |value: u64| wide_head(0, value),
        |value: u64| vec![0x18, value as u8],
        |value: u64| vec![0x19, 0, value as u8],
        |value: u64| vec![0x1A, 0, 0, 0, value as u8],
        |value: u64| tag(2, bytes(&[value as u8])),
        |value: u64| tag(2, bytes(&[0, 0, 0, 0, 0, 0, 0, 0, 0, value as u8])),
        |value: u64| tag(2, if value == 0 { bytes(&[]) } else { bytes(&[value as u8]) }),
        |value: u64| tag(7, uint(value)),
    ] {
        let entries =
            with(descriptor_with("shape", array(&[wide(2)])), "data_offsets", array(&[wide(0), wide(8)]));
        assert_descriptor(&entries);
    }
    // Lengths may be wide as well.
    let wide_text = [wide_head(3, 3), b"F32".to_vec()].concat();
    assert_descriptor(&descriptor_with("dtype", wide_text));
    assert_descriptor(&descriptor_with("shape", [wide_head(4, 1), uint(2)].concat()));
}

#[test]
fn a_bignum_that_fits_is_an_integer() {
    let id = tag(2, bytes(&[0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]));
    let reader = open(file_with(&descriptor_with("param_id", id))).unwrap();
    assert_eq!(reader.at(0).param_id(), Some(u64::MAX));
    let scalars = map(&[("s", map(&[("Int", tag(3, bytes(&[0x7F, 255, 255, 255, 255, 255, 255, 255])))]))]);
    assert_eq!(assert_top(&with_top("scalars", scalars)).scalars()["s"], Scalar::Int(i64::MIN));
}

#[test]
fn tags_in_front_of_any_item() {
    let tagged = |item: Item| tag(55799, item);
    let entries: Vec<(Item, Item)> =
        descriptor().into_iter().map(|(key, value)| (tagged(text(key)), tagged(value))).collect();
    let tensors = tagged(map(&[(tagged(text("w")), tagged(map(&entries)))]));
    let metadata = tagged(map(&[(tagged(text("k")), tagged(text("v")))]));
    let scalars =
        tagged(map(&[(tagged(text("s")), tagged(map(&[(tagged(text("Bool")), tagged(TRUE.to_vec()))])))]));
    let top = [("tensors", tensors), ("metadata", metadata), ("scalars", scalars)];
    let reader = assert_plain(file_of_item(&tagged(map(&top))));
    assert_eq!(reader.metadata()["k"], "v");
    assert_eq!(reader.scalars()["s"], Scalar::Bool(true));
}

#[test]
fn indefinite_maps_shapes_and_texts() {
    let tensors = endless_map(&[(endless_text(&["", "w"]), endless_map(&descriptor()))]);
    let metadata = endless_map(&[(endless_text(&["k", "ey"]), endless_text(&["va", "", "lue"]))]);
    let scalars = endless_map(&[(endless_text(&["s"]), map(&[("UInt", uint(1))]))]);
    let top = endless_map(&[("tensors", tensors), ("metadata", metadata), ("scalars", scalars)]);
    let reader = assert_plain(file_of_item(&top));
    assert_eq!(reader.metadata()["key"], "value");
    assert_descriptor(&descriptor_with("shape", endless_array(&[uint(2)])));
    // Burn takes it only where nothing follows; here it means what it says.
    assert_descriptor(&descriptor_with("data_offsets", endless_array(&[uint(0), uint(8)])));
}

#[test]
fn an_indefinite_text_within_an_indefinite_text() {
    let name = [&[0x7F][..], &endless_text(&["w"]), &[0xFF]].concat();
    assert_plain(file_of_item(&map(&[("tensors", map(&[(name, map(&descriptor()))]))])));
}

#[test]
fn struct_keys_and_enum_payload_names_as_byte_strings() {
    let entries: Vec<(Item, Item)> =
        descriptor().into_iter().map(|(key, value)| (bytes(key.as_bytes()), value)).collect();
    let tensors = map(&[("w", map(&entries))]);
    assert_plain(file_of_item(&map(&[(bytes(b"tensors"), tensors)])));
    let dtype = map(&[(bytes(b"Bool"), text("U32"))]);
    let reader = open(file_with(&descriptor_with("dtype", dtype))).unwrap();
    assert_eq!(reader.at(0).dtype(), DType::Bool(BoolStore::U32));
}

#[test]
fn shape_and_storage_as_byte_strings() {
    assert_descriptor(&descriptor_with("shape", bytes(&[2])));
    let size = block_size(bytes(&[4, 1, 1, 1, 1]), 1);
    let block = map(&[("size", size), ("dtype", text("F32"))]);
    let entries =
        with(descriptor_with("shape", bytes(&[4])), "dtype", qfloat(&with(scheme(), "block", block)));
    let reader = open(file_with(&entries)).unwrap();
    assert_eq!(reader.bytes(&reader.at(0)).unwrap().len(), 4 + 4);
}

#[test]
fn a_param_id_of_null_or_undefined_is_none() {
    for nothing in [NULL, UNDEFINED] {
        assert_descriptor(&descriptor_with("param_id", nothing.to_vec()));
    }
}

#[test]
fn levels_of_a_scheme_absent_null_or_undefined() {
    for nothing in [None, Some(NULL), Some(UNDEFINED)] {
        let levels =
            nothing.into_iter().flat_map(|item| [("tensor", item.to_vec()), ("block", item.to_vec())]);
        let entries: Entries = scheme()[..3].iter().cloned().chain(levels).collect();
        let dtype = with(descriptor_with("dtype", qfloat(&entries)), "shape", array(&[uint(4)]));
        let reader = open(file_with(&dtype)).unwrap();
        assert_eq!(reader.bytes(&reader.at(0)).unwrap().len(), 8);
    }
}

#[test]
fn floats_of_every_width() {
    for (item, value) in [
        (vec![0xF9, 0x3E, 0x00], 1.5),
        (vec![0xFA, 0x3F, 0xC0, 0, 0], 1.5),
        (f64_item(1.5), 1.5),
        (vec![0xF9, 0x00, 0x01], 2f64.powi(-24)),
        (vec![0xF9, 0xFC, 0x00], f64::NEG_INFINITY),
    ] {
        let scalars = map(&[("s", map(&[("Float", item)]))]);
        assert_eq!(assert_top(&with_top("scalars", scalars)).scalars()["s"], Scalar::Float(value));
    }
}

#[test]
fn a_signalling_nan_of_a_narrow_width_becomes_quiet() {
    for (item, bits) in [
        (vec![0xF9, 0x7C, 0x01], 0x7FF8_0400_0000_0000u64),
        (vec![0xFA, 0x7F, 0x80, 0, 1], 0x7FF8_0000_2000_0000),
        ([vec![0xFB], 0x7FF0_0000_0000_0001u64.to_be_bytes().to_vec()].concat(), 0x7FF0_0000_0000_0001),
    ] {
        let scalars = map(&[("s", map(&[("Float", item)]))]);
        let reader = assert_top(&with_top("scalars", scalars));
        assert_eq!(crate::scalar_bits(reader.scalars()["s"]).1, bits);
    }
}

#[test]
fn of_a_key_that_stands_twice_the_last_one_wins() {
    let other = descriptor_with("shape", array(&[uint(1), uint(2)]));
    let tensors = map(&[("w", map(&other)), ("v", map(&descriptor())), ("w", map(&descriptor()))]);
    let metadata = map(&[("k", text("first")), ("k", text("last"))]);
    let scalars = map(&[("s", map(&[("UInt", uint(1))])), ("s", map(&[("UInt", uint(2))]))]);
    let reader = assert_top(&[("tensors", tensors), ("metadata", metadata), ("scalars", scalars)]);
    assert_eq!(reader.len(), 2);
    assert_eq!((reader.metadata()["k"].as_str(), reader.scalars()["s"]), ("last", Scalar::UInt(2)));
}

#[test]
fn bytes_after_the_item_are_ignored() {
    for trailing in [&[0][..], &[0xFF, 0x1C], b"anything"] {
        assert_plain(file_of_item(&[&map(&top(&descriptor()))[..], trailing].concat()));
    }
}

#[test]
fn an_ignored_value_may_be_127_deep() {
    assert_top(&with_top("unknown", nested(127)));
    assert_top(&with_top("unknown", [vec![0xC1; 127], uint(0)].concat()));
    assert_descriptor(&descriptor_with("unknown", nested(125)));
}

#[test]
fn names_are_any_text() {
    for name in ["", "\0", "a/b\n", "日本", "😀"] {
        let reader = open(file_of_item(&map(&[("tensors", map(&[(name, map(&descriptor()))]))]))).unwrap();
        assert_eq!(payload(&reader, name), DATA);
    }
}
