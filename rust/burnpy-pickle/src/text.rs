//! Text as pickles encode it.

use std::borrow::Cow;

use crate::error::ErrorKind;

/// UTF-8 in which lone surrogates may occur, as Python writes strings that hold such; they become U+FFFD.
pub(crate) fn from_utf8(bytes: &[u8]) -> Result<Cow<'_, str>, ErrorKind> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let error = match std::str::from_utf8(rest) {
            Ok(text) => return Ok(Cow::Owned(out + text)),
            Err(error) => error,
        };
        let (valid, invalid) = rest.split_at(error.valid_up_to());
        out.push_str(std::str::from_utf8(valid).unwrap_or_default());
        let [0xed, 0xa0..=0xbf, 0x80..=0xbf, after @ ..] = invalid else {
            return Err(ErrorKind::pickle(format!("a string of {} bytes is not UTF-8", bytes.len())));
        };
        out.push('\u{fffd}');
        rest = after;
    }
}

/// Latin-1 text in which `\uXXXX` and `\UXXXXXXXX` stand for other characters (protocol 0).
pub(crate) fn raw_unicode_escape(bytes: &[u8]) -> Result<String, ErrorKind> {
    let mut out = String::new();
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        let digits = match rest {
            [b'\\', b'u', ..] => 4,
            [b'\\', b'U', ..] => 8,
            _ => {
                out.push(char::from(*first));
                rest = after;
                continue;
            }
        };
        let code = rest.get(2..2 + digits).and_then(hex);
        let code = code.ok_or(ErrorKind::pickle("a \\u escape is incomplete"))?;
        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
        rest = &rest[2 + digits..];
    }
    Ok(out)
}

/// The bytes of a quoted string literal of Python 2 (protocol 0).
pub(crate) fn string_literal(line: &[u8]) -> Result<Vec<u8>, ErrorKind> {
    let line = line.trim_ascii();
    let ([b'\'', inner @ .., b'\''] | [b'"', inner @ .., b'"']) = line else {
        return Err(ErrorKind::pickle("a string has no quotes"));
    };
    let mut out = Vec::new();
    let mut rest = inner;
    while let [first, after @ ..] = rest {
        if *first == b'\\' {
            let (byte, len) = escape(after).ok_or(ErrorKind::pickle("a string has an incomplete escape"))?;
            out.extend(byte);
            rest = &after[len..];
        } else {
            out.push(*first);
            rest = after;
        }
    }
    Ok(out)
}

/// What follows a backslash: the bytes it stands for, and its length.
fn escape(after: &[u8]) -> Option<(Vec<u8>, usize)> {
    let first = *after.first()?;
    Some(match first {
        b'n' => (vec![b'\n'], 1),
        b't' => (vec![b'\t'], 1),
        b'r' => (vec![b'\r'], 1),
        b'a' => (vec![7], 1),
        b'b' => (vec![8], 1),
        b'f' => (vec![12], 1),
        b'v' => (vec![11], 1),
        b'\\' | b'\'' | b'"' => (vec![first], 1),
        b'x' => (vec![u8::try_from(hex(after.get(1..3)?)?).ok()?], 3),
        b'0'..=b'7' => {
            let len = after.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let value = after[..len].iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            (vec![(value & 0xff) as u8], len)
        }
        // Python keeps a backslash that escapes nothing.
        _ => (vec![b'\\', first], 1),
    })
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0u32, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?))
}

/// The Latin-1 bytes of a text; `None` if a character has none.
pub(crate) fn to_latin1(text: &str) -> Option<Vec<u8>> {
    if text.is_ascii() {
        return Some(text.as_bytes().to_vec());
    }
    text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_other_garbage_is_refused() {
        assert_eq!(from_utf8("grün".as_bytes()).unwrap(), "grün");
        assert_eq!(from_utf8(b"a\xed\xb3\xbfb\xed\xa0\x80").unwrap(), "a\u{fffd}b\u{fffd}");
        assert!(from_utf8(b"a\xff").is_err());
        assert!(from_utf8(b"a\xed\xb3").is_err());
    }

    #[test]
    fn protocol_0_text_has_its_escapes() {
        assert_eq!(raw_unicode_escape(b"gr\xfcn \\u00fc\\U0001f525\\x").unwrap(), "grün ü🔥\\x");
        assert!(raw_unicode_escape(b"\\u12").is_err());
        assert_eq!(string_literal(b"'a\\n\\x41\\101\\'\\q'").unwrap(), b"a\nAA'\\q");
        assert!(string_literal(b"'a\\").is_err());
        assert!(string_literal(b"'").is_err());
        assert!(string_literal(b"'a\\x4'").is_err());
    }

    #[test]
    fn latin1_has_256_characters() {
        assert_eq!(to_latin1("aÿ").unwrap(), [b'a', 255]);
        assert_eq!(to_latin1("Ā"), None);
    }
}
