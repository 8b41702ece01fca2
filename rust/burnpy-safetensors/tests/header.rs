//! Headers, good and bad: every kind of error is provoked, and what is written is read.

use std::collections::BTreeMap;

use burnpy_safetensors::{
    Dtype, Error, Header, Kind, LENGTH_BYTES, MAX_HEADER_BYTES, Spec, header_end, plan,
};
use proptest::prelude::*;

/// The outcome of a header in a file that has so many bytes of data.
fn read(json: &str, data: u64) -> Result<Header, Error> {
    Header::decode(json.as_bytes(), (LENGTH_BYTES + json.len()) as u64 + data)
}

fn entry(dtype: &str, shape: &str, offsets: &str) -> String {
    format!(r#"{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}"#)
}

fn spec(name: &str, dtype: Dtype, shape: &[u64]) -> Spec {
    Spec { name: name.to_owned(), dtype, shape: shape.to_vec() }
}

/// For each kind one error, and its number in the `match` that the compiler keeps whole.
fn provoked() -> Vec<Error> {
    let whole = entry("U8", "[4]", "[0,4]");
    let tensors = |a: &str, b: &str| {
        read(&format!(r#"{{"a":{},"b":{}}}"#, entry("U8", "[4]", a), entry("U8", "[4]", b)), 8)
    };
    let field_twice = whole.replace(r#""shape""#, r#""dtype":"U8","shape""#);
    let headers = [
        read("[]", 0),
        read(&format!(r#"{{"a":{whole},"a":{whole}}}"#), 4),
        read(&format!(r#"{{"a":{field_twice}}}"#), 4),
        read(r#"{"__metadata__":{"k":"1","k":"2"}}"#, 0),
        read(&format!(r#"{{"a":{}}}"#, entry("u8", "[4]", "[0,4]")), 4),
        read(&format!(r#"{{"a":{}}}"#, entry("U8", "[4]", "[4,0]")), 4),
        tensors("[0,4]", "[2,6]"),
        tensors("[0,4]", "[5,9]"),
        read("{}", 1),
        read(&format!(r#"{{"a":{}}}"#, entry("U8", "[4294967296,4294967296]", "[0,4]")), 4),
        read(&format!(r#"{{"a":{}}}"#, entry("F4", "[3]", "[0,1]")), 1),
        read(&format!(r#"{{"a":{}}}"#, entry("U8", "[5]", "[0,4]")), 4),
    ];
    let ends = [header_end(&[0; 9], 9), header_end(&[8; 7], 7), header_end(&[0xFF; 9], 9)];
    let refused = plan(&[spec("__metadata__", Dtype::U8, &[1])], None);
    let mut errors: Vec<Error> = headers.into_iter().map(Result::unwrap_err).collect();
    errors.extend(ends.into_iter().map(Result::unwrap_err));
    errors.push(refused.unwrap_err());
    errors
}

/// Without a wildcard: a new kind does not compile until somebody has thought of it here.
const fn number(kind: Kind) -> usize {
    match kind {
        Kind::NotSafetensors => 0,
        Kind::Truncated => 1,
        Kind::OverLimit => 2,
        Kind::MalformedHeader => 3,
        Kind::DuplicateName => 4,
        Kind::DuplicateField => 5,
        Kind::DuplicateKey => 6,
        Kind::UnknownDtype => 7,
        Kind::InvalidOffsets => 8,
        Kind::Overlap => 9,
        Kind::Gap => 10,
        Kind::TrailingBytes => 11,
        Kind::Overflow => 12,
        Kind::Misaligned => 13,
        Kind::LengthMismatch => 14,
        Kind::Unwritable => 15,
    }
}

#[test]
fn every_kind_of_error_is_provoked() {
    let mut found: Vec<usize> = provoked().iter().map(|error| number(error.kind)).collect();
    found.sort_unstable();
    assert_eq!(found, (0..=number(Kind::Unwritable)).collect::<Vec<_>>());
}

#[test]
fn errors_name_the_tensor_and_carry_the_numbers() {
    let error = read(&format!(r#"{{"w":{}}}"#, entry("F32", "[3]", "[0,8]")), 8).unwrap_err();
    assert_eq!((error.tensor.as_deref(), error.found, error.limit), (Some("w"), Some(8), Some(12)));
    assert!(error.to_string().starts_with("tensor \"w\": "), "{error}");
    let error = header_end(&(MAX_HEADER_BYTES + 1).to_le_bytes(), u64::MAX).unwrap_err();
    assert_eq!((error.found, error.limit), (Some(MAX_HEADER_BYTES + 1), Some(MAX_HEADER_BYTES)));
}

fn dtype() -> impl Strategy<Value = Dtype> {
    prop::sample::select(vec![Dtype::BOOL, Dtype::U8, Dtype::BF16, Dtype::F32, Dtype::C64, Dtype::I64])
}

fn content() -> impl Strategy<Value = (Vec<Spec>, Option<BTreeMap<String, String>>)> {
    let shape = prop::collection::vec(0u64..5, 0..4);
    let tensors = prop::collection::btree_map("\\PC{0,8}", (dtype(), shape), 0..6).prop_map(|tensors| {
        tensors.into_iter().map(|(name, (dtype, shape))| Spec { name, dtype, shape }).collect()
    });
    (tensors, prop::option::of(prop::collection::btree_map(any::<String>(), any::<String>(), 0..4)))
}

proptest! {
    #[test]
    fn what_is_written_is_read((specs, metadata) in content()) {
        let plan = plan(&specs, metadata.as_ref()).unwrap();
        prop_assert_eq!(plan.head.len() % 8, 0);
        prop_assert_eq!(header_end(&plan.head, plan.total), Ok(plan.head.len() as u64));
        let header = Header::decode(&plan.head[LENGTH_BYTES..], plan.total).unwrap();
        prop_assert_eq!(header.metadata, metadata);
        prop_assert_eq!(header.entries.len(), specs.len());
        for (entry, (index, range)) in header.entries.iter().zip(&plan.order) {
            let spec = &specs[*index];
            // Tensors without bytes share a place, where the order among them is the header's.
            if !range.is_empty() {
                prop_assert_eq!((&entry.name, entry.dtype, &entry.shape), (&spec.name, spec.dtype, &spec.shape));
            }
            prop_assert_eq!(&entry.range, range);
        }
    }

    #[test]
    fn any_damage_is_an_error_or_a_header_that_tiles_the_file(
        (specs, metadata) in content(), place in any::<prop::sample::Index>(), flip in 1u8..,
    ) {
        let mut plan = plan(&specs, metadata.as_ref()).unwrap();
        let at = place.index(plan.head.len());
        plan.head[at] ^= flip;
        let Ok(end) = header_end(&plan.head, plan.total) else { return Ok(()) };
        let Some(json) = plan.head.get(LENGTH_BYTES..end as usize) else { return Ok(()) };
        let Ok(header) = Header::decode(json, plan.total) else { return Ok(()) };
        let last = header.entries.last().map_or(end, |entry| entry.range.end);
        prop_assert_eq!(last, plan.total);
    }
}
