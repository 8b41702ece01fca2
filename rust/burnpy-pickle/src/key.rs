//! Dict keys as parts of names.

use std::borrow::Cow;

use crate::storage::BlobData;
use crate::value::{Arena, Value, ValueId};

/// Tuples in tuples this deep are written; a key of more is no name that anybody gave.
const MAX_DEPTH: usize = 2;
/// Members of a tuple that are written.
const MAX_ITEMS: usize = 16;
/// Bytes of a string in a tuple that is written.
const MAX_TEXT: usize = 256;

/// Bytes of an integer that is written: more is no key that anybody gave, and digits take time.
const MAX_INT: usize = 32;

/// What Python's `str` makes of a key; `None` if it would take a call to know, or is no name for anything.
pub(crate) fn key_name(arena: &Arena, key: ValueId) -> Option<Cow<'_, str>> {
    Some(match arena.get(key) {
        Value::Text(text) => Cow::Borrowed(text),
        Value::Int(int) => Cow::Owned(int.to_string()),
        Value::Device(device) => Cow::Borrowed(device),
        _ => Cow::Owned(repr(arena, key, MAX_DEPTH)?),
    })
}

/// What Python's `repr` makes of a plain value.
fn repr(arena: &Arena, id: ValueId, depth: usize) -> Option<String> {
    Some(match arena.get(id) {
        Value::None => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Int(int) => int.to_string(),
        Value::BigInt(int) => Some(int).filter(|int| int.to_le_bytes().len() <= MAX_INT)?.to_string(),
        Value::Float(float) => float_repr(*float),
        Value::Text(text) => text_repr(Some(text).filter(|text| text.len() <= MAX_TEXT)?),
        Value::Bytes(blob) => match &blob.data {
            BlobData::Owned(bytes) => format!("b'{}'", bytes.escape_ascii()),
            BlobData::Span { .. } => return None,
        },
        Value::Tuple(items) => {
            let items = Some(items).filter(|items| depth > 0 && items.len() <= MAX_ITEMS)?;
            let parts = items.iter().map(|item| repr(arena, *item, depth - 1)).collect::<Option<Vec<_>>>()?;
            match &*parts {
                [one] => format!("({one},)"),
                parts => format!("({})", parts.join(", ")),
            }
        }
        Value::Global(global) => match &*global.module {
            "torch" => format!("torch.{}", global.name),
            _ => return None,
        },
        _ => return None,
    })
}

/// Rust writes floats as Python does, but for the exponent and `nan`.
fn float_repr(float: f64) -> String {
    let text = format!("{float:?}");
    if float.is_nan() {
        return "nan".to_owned();
    }
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
            format!("{}e{sign}{digits:0>2}", mantissa.strip_suffix(".0").unwrap_or(mantissa))
        }
        None => text,
    }
}

fn text_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if c < ' ' || c == '\x7f' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// A key as Python compares it: `1`, `1.0` and `True` are one key.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) enum KeyIdentity<'a> {
    Text(&'a str),
    Int(i64),
    Repr(String),
    Value(ValueId),
}

impl<'a> KeyIdentity<'a> {
    pub(crate) fn new(arena: &'a Arena, key: ValueId) -> Self {
        match arena.get(key) {
            Value::Text(text) => Self::Text(text),
            Value::Int(int) => Self::Int(*int),
            Value::Bool(bool) => Self::Int(i64::from(*bool)),
            Value::Float(float) if float.fract() == 0.0 && float.abs() < 9e15 => Self::Int(*float as i64),
            _ => repr(arena, key, MAX_DEPTH).map_or(Self::Value(key), Self::Repr),
        }
    }

    /// Bytes that it owns.
    pub(crate) fn owned_bytes(&self) -> usize {
        match self {
            Self::Repr(text) => text.len(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_python_writes_them() {
        for (float, text) in [
            (0.5, "0.5"),
            (1.0, "1.0"),
            (1e16, "1e+16"),
            (1.5e-7, "1.5e-07"),
            (0.0001, "0.0001"),
            (1e-5, "1e-05"),
            (1e300, "1e+300"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(float_repr(float), text);
        }
    }

    #[test]
    fn text_is_quoted_as_python_quotes_it() {
        assert_eq!(text_repr("it's"), "\"it's\"");
        assert_eq!(text_repr("'\"\n\u{1}ü"), "'\\'\"\\n\\x01ü'");
    }

    #[test]
    fn equal_keys_of_other_types_are_one_key() {
        let mut arena = Arena::default();
        let ids: Vec<_> = [Value::Int(1), Value::Bool(true), Value::Float(1.0), Value::Text("1".into())]
            .into_iter()
            .map(|value| arena.push(value).unwrap())
            .collect();
        assert_eq!(KeyIdentity::new(&arena, ids[0]), KeyIdentity::new(&arena, ids[1]));
        assert_eq!(KeyIdentity::new(&arena, ids[0]), KeyIdentity::new(&arena, ids[2]));
        assert_ne!(KeyIdentity::new(&arena, ids[0]), KeyIdentity::new(&arena, ids[3]));
    }
}
