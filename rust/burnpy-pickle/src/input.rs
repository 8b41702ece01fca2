//! The bytes of a pickle, read from front to back.

use crate::bigint::BigInt;
use crate::error::{ErrorKind, Result};
use crate::limits::{Limits, check};
use crate::storage::BlobData;
use crate::text;
use crate::value::{Blob, LongText, Value};

/// Strings up to this length are kept in memory, longer ones are left in the file.
pub(crate) const LONG_TEXT: usize = 1 << 20;
/// Bytes objects up to this length are kept in memory.
pub(crate) const SHORT_BLOB: usize = 4096;

/// A pickle's bytes and how far they are read.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    pos: usize,
    /// Where the first byte is in the file; `None` for a pickle that was inflated.
    base: Option<usize>,
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8], base: Option<usize>) -> Self {
        Self { bytes, pos: 0, base }
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], ErrorKind> {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let Some(taken) = rest.get(..len) else {
            return Err(ErrorKind::truncated(format!(
                "the pickle needs {len} more bytes, there are {}",
                rest.len()
            )));
        };
        self.pos += len;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], ErrorKind> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, ErrorKind> {
        self.array().map(|[byte]| byte)
    }

    /// A length in front of what it measures: little-endian, `N` bytes.
    pub(crate) fn length<const N: usize>(&mut self) -> Result<u64, ErrorKind> {
        let mut out = [0; 8];
        out.get_mut(..N)
            .ok_or_else(|| ErrorKind::pickle("a length of more than 8 bytes"))?
            .copy_from_slice(self.take(N)?);
        Ok(u64::from_le_bytes(out))
    }

    /// The next bytes, as many as a length said. A claim beyond the limit is refused before anything is
    /// taken.
    fn claimed(&mut self, len: u64, limits: &Limits) -> Result<&'a [u8], ErrorKind> {
        check("a declared length", len, limits.max_length)?;
        self.take(usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// The next line, without its end.
    pub(crate) fn line(&mut self) -> Result<&'a [u8], ErrorKind> {
        let rest = self.bytes.get(self.pos..).unwrap_or_default();
        let Some(len) = rest.iter().position(|byte| *byte == b'\n') else {
            return Err(ErrorKind::truncated("a line of the pickle has no end"));
        };
        self.pos += len + 1;
        Ok(&rest[..len])
    }

    /// The next line, which must be UTF-8.
    pub(crate) fn text_line(&mut self) -> Result<&'a str, ErrorKind> {
        std::str::from_utf8(self.line()?).map_err(|_| ErrorKind::pickle("a line is not UTF-8"))
    }

    /// A UTF-8 string of a declared length.
    pub(crate) fn text(&mut self, len: u64, limits: &Limits) -> Result<Value, ErrorKind> {
        let start = self.pos;
        let bytes = self.claimed(len, limits)?;
        let text = text::from_utf8(bytes)?;
        if text.len() <= LONG_TEXT {
            return Ok(Value::Text(text.into()));
        }
        Ok(Value::LongText(Box::new(LongText::new(&text, self.span(start, bytes)))))
    }

    /// A bytes object of a declared length.
    pub(crate) fn blob(&mut self, len: u64, limits: &Limits) -> Result<Value, ErrorKind> {
        let start = self.pos;
        let bytes = self.claimed(len, limits)?;
        let blob = if bytes.len() <= SHORT_BLOB { Blob::owned(bytes) } else { self.span(start, bytes) };
        Ok(Value::Bytes(Box::new(blob)))
    }

    /// An 8-bit string of Python 2, of a declared length: text where it is UTF-8, as PyTorch reads it.
    pub(crate) fn byte_string(&mut self, len: u64, limits: &Limits) -> Result<Value, ErrorKind> {
        let start = self.pos;
        let bytes = self.claimed(len, limits)?;
        if bytes.len() <= LONG_TEXT
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return Ok(Value::Text(text.into()));
        }
        self.pos = start;
        self.blob(len, limits)
    }

    /// An integer of a declared length.
    pub(crate) fn long(&mut self, len: u64, limits: &Limits) -> Result<Value, ErrorKind> {
        check("the length of an integer", len, limits.max_int_len as u64)?;
        Ok(int_value(BigInt::from_le_bytes(self.claimed(len, limits)?)))
    }

    /// Passes over the header of a frame: frames say nothing that the opcodes in them do not say.
    pub(crate) fn frame(&mut self, limits: &Limits) -> Result<(), ErrorKind> {
        let len = self.length::<8>()?;
        let start = self.pos;
        self.claimed(len, limits)?;
        self.pos = start;
        Ok(())
    }

    fn span(&self, start: usize, bytes: &[u8]) -> Blob {
        let begin = self.base.unwrap_or(0) + start;
        let range = begin..begin + bytes.len();
        let data = BlobData::Span { in_file: self.base.is_some(), range, latin1: false };
        Blob { data, len: bytes.len() }
    }
}

/// An integer in the smallest form.
pub(crate) fn int_value(int: BigInt) -> Value {
    int.to_i64().map_or_else(|| Value::BigInt(Box::new(int)), Value::Int)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_never_trusted() {
        let limits = Limits::default();
        for (len, kind) in [(4, "truncated"), (u64::MAX, "over limit"), (limits.max_length + 1, "over limit")]
        {
            let mut input = Input::new(b"abc", None);
            assert_eq!(input.text(len, &limits).unwrap_err().name(), kind);
            assert_eq!(input.blob(len, &limits).unwrap_err().name(), kind);
        }
    }

    #[test]
    fn a_long_string_stays_where_it_is() {
        let bytes = vec![b'a'; LONG_TEXT + 1];
        let Value::LongText(text) =
            Input::new(&bytes, Some(10)).text(bytes.len() as u64, &Limits::default()).unwrap()
        else {
            panic!("kept in memory")
        };
        let range = 10..10 + bytes.len();
        assert_eq!(text.blob.data, BlobData::Span { in_file: true, range, latin1: false });
    }
}
