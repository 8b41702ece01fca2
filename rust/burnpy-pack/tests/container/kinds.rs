//! Every kind of error has an example that provokes it, and a text that a user can act on.

use std::sync::Arc;

use burnpy_buffer::{Bytes, DType};
use burnpy_pack::{Error, ErrorKind, Header, ProviderError, ReadOptions, Reader, Tensor, Writer};

use crate::cbor::file_of_item;
use crate::{f32_tensor, open, refusal};

/// A new kind without a name here does not compile; a name without an example fails the test below.
const fn name_of(kind: &ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::InvalidHeader { .. } => Some("InvalidHeader"),
        ErrorKind::InvalidMagicNumber { .. } => Some("InvalidMagicNumber"),
        ErrorKind::InvalidVersion { .. } => Some("InvalidVersion"),
        ErrorKind::MetadataSerialization(_) => Some("MetadataSerializationError"),
        ErrorKind::MetadataDeserialization { .. } => Some("MetadataDeserializationError"),
        ErrorKind::Io(_) => Some("IoError"),
        ErrorKind::TensorNotFound { .. } => Some("TensorNotFound"),
        ErrorKind::TensorBytesSizeMismatch { .. } => Some("TensorBytesSizeMismatch"),
        ErrorKind::Validation { .. } => Some("ValidationError"),
        ErrorKind::AlreadyExists => Some("AlreadyExists"),
        ErrorKind::Provider(_) => Some("Provider"),
        // The enum may grow: a kind that is not listed above has no example, and `variants_of_the_source` tells.
        _ => None,
    }
}

const KINDS: [&str; 11] = [
    "InvalidHeader",
    "InvalidMagicNumber",
    "InvalidVersion",
    "MetadataSerializationError",
    "MetadataDeserializationError",
    "IoError",
    "TensorNotFound",
    "TensorBytesSizeMismatch",
    "ValidationError",
    "AlreadyExists",
    "Provider",
];

fn provided(provide: impl Fn() -> Result<Bytes, ProviderError> + Send + Sync + 'static) -> Error {
    let tensor = Tensor::deferred("late", DType::U8, vec![2], None, 2, Arc::new(provide));
    Writer::new(vec![tensor]).into_bytes().unwrap_err()
}

fn already_exists() -> Error {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bpk");
    std::fs::write(&path, "something").unwrap();
    Writer::new(vec![]).overwrite(false).write_to_file(&path).unwrap_err()
}

fn examples() -> Vec<(&'static str, Error)> {
    vec![
        ("InvalidHeader", refusal([0; 4])),
        ("InvalidMagicNumber", refusal([0; 10])),
        ("InvalidVersion", refusal(Header { version: 2, ..Header::new(0) }.into_bytes())),
        // A vector takes whatever is encoded, so the writer's own encoding cannot fail; a provider may still say so.
        (
            "MetadataSerializationError",
            provided(|| Err(Error::from(ErrorKind::MetadataSerialization("no room".into())).into())),
        ),
        ("MetadataDeserializationError", refusal(file_of_item(&[0x80]))),
        ("IoError", Reader::from_file("no/such/file.bpk", &ReadOptions::default()).unwrap_err()),
        (
            "TensorNotFound",
            open(Writer::new(vec![f32_tensor("weight", &[1.0])]).into_bytes().unwrap().to_vec())
                .unwrap()
                .entry("weihgt")
                .err()
                .unwrap(),
        ),
        ("TensorBytesSizeMismatch", provided(|| Ok(Bytes::from(vec![1])))),
        (
            "ValidationError",
            Writer::new(vec![f32_tensor("w", &[]), f32_tensor("w", &[])]).size().unwrap_err(),
        ),
        ("AlreadyExists", already_exists()),
        ("Provider", provided(|| Err("out of paper".into()))),
    ]
}

#[test]
fn every_kind_has_an_example_that_provokes_it() {
    let provoked: Vec<_> = examples().iter().map(|(name, error)| (*name, name_of(&error.kind))).collect();
    assert_eq!(provoked, KINDS.map(|kind| (kind, Some(kind))));
}

/// The enum is open to growth, so the compiler cannot count its kinds from here: the source can.
#[test]
fn no_kind_is_left_out() {
    let source = include_str!("../../src/error.rs");
    let body = source.split_once("pub enum ErrorKind {").unwrap().1.split_once("\n}").unwrap().0;
    let is_variant = |line: &&str| {
        line.strip_prefix("    ")
            .is_some_and(|line| line.starts_with(|first: char| first.is_ascii_uppercase()))
    };
    let variants: Vec<_> = body.lines().filter(is_variant).collect();
    assert_eq!(variants.len(), KINDS.len(), "{variants:?}");
}

#[test]
fn the_name_of_a_kind_is_burns() {
    for (name, error) in examples() {
        // Burn has no kind for a provider that fails with an error of its own.
        let expected = if name == "Provider" { "ValidationError" } else { name };
        assert_eq!(error.kind_name(), expected);
    }
}

#[test]
fn texts_are_lower_case_without_full_stop_and_on_one_line() {
    for (name, error) in examples() {
        let text = error.kind.to_string();
        // The system's own words are as they are.
        if name != "IoError" {
            assert!(text.starts_with(|first: char| !first.is_uppercase()), "{name}: {text}");
        }
        assert!(!text.ends_with('.') && !text.contains('\n') && !text.is_empty(), "{name}: {text}");
    }
}

#[test]
fn an_error_says_where() {
    let all = examples();
    let of = |name| &all.iter().find(|example| example.0 == name).unwrap().1;
    assert_eq!(of("TensorBytesSizeMismatch").tensor.as_deref(), Some("late"));
    assert!(of("AlreadyExists").path.as_ref().is_some_and(|path| path.ends_with("m.bpk")));
    assert!(of("AlreadyExists").to_string().contains("m.bpk"));
    assert!(of("TensorNotFound").to_string().contains("\"weight\""));
    assert!(std::error::Error::source(of("Provider")).is_some());
}
