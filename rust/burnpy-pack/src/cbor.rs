//! CBOR items as Burn's reader takes them: tags skipped, any width of number, definite or not, a bound on depth.

use std::borrow::Cow;

use minicbor::data::Type;
use minicbor::decode::Decoder;

use crate::error::{Error, ErrorKind, Result};

/// Longest key of a struct or name of an enum variant that Burn's reader takes.
const MAX_KEY_BYTES: usize = 4096;
/// Levels are bounded even when a caller lifts the limit: no file that anybody means nests as deep, and each one that
/// is open takes memory.
const MAX_LEVELS: u32 = 1024;

/// The top bits of the first byte of an item: its type. The rest says its number or length.
pub(crate) const UNSIGNED: u8 = 0x00;
pub(crate) const NEGATIVE: u8 = 0x20;
pub(crate) const TEXT: u8 = 0x60;
pub(crate) const ARRAY: u8 = 0x80;
pub(crate) const MAP: u8 = 0xA0;
/// An item of its own.
pub(crate) const NULL: u8 = 0xF6;

/// A position in CBOR bytes. Every method takes the depth of the item that it reads; 0 is the top level.
pub(crate) struct Cursor<'b> {
    decoder: Decoder<'b>,
    max_depth: u32,
}

/// How many items of a map or array are left; `None` in one of indefinite length.
pub(crate) type Remaining = Option<u64>;

/// A map or array whose content is being passed over.
struct Open {
    remaining: Remaining,
    depth: u32,
    is_map: bool,
}

impl<'b> Cursor<'b> {
    pub(crate) fn new(bytes: &'b [u8], max_depth: u32) -> Self {
        Self { decoder: Decoder::new(bytes), max_depth: max_depth.min(MAX_LEVELS) }
    }

    pub(crate) fn position(&self) -> usize {
        self.decoder.position()
    }

    /// What has not been read yet.
    pub(crate) fn rest(&self) -> &'b [u8] {
        self.decoder.input().get(self.position()..).unwrap_or_default()
    }

    /// Whether an item at this depth may hold this many levels.
    pub(crate) const fn has_room(&self, depth: u32, levels: u32) -> bool {
        depth.saturating_add(levels) <= self.max_depth
    }

    pub(crate) fn set_position(&mut self, position: usize) {
        self.decoder.set_position(position);
    }

    pub(crate) fn fail(&self, reason: impl Into<String>) -> Error {
        ErrorKind::MetadataDeserialization { reason: reason.into(), position: self.position() as u64 }.into()
    }

    fn checked<T>(&self, result: Result<T, minicbor::decode::Error>) -> Result<T> {
        result.map_err(|error| {
            let reason =
                if error.is_end_of_input() { "it ends inside an item".to_owned() } else { error.to_string() };
            self.fail(reason)
        })
    }

    fn peek(&self) -> Result<Type> {
        self.checked(self.decoder.datatype())
    }

    fn wrong<T>(&self, wanted: &str, found: Type) -> Result<T> {
        Err(self.fail(format!("expected {wanted}, found {found}")))
    }

    fn deeper(&self, depth: u32) -> Result<u32> {
        if depth >= self.max_depth {
            return Err(self.fail(format!("nested deeper than the limit of {} levels", self.max_depth)));
        }
        Ok(depth + 1)
    }

    /// The type of the next item that is no tag; tags count as levels.
    fn untagged(&mut self, depth: &mut u32) -> Result<Type> {
        loop {
            match self.peek()? {
                Type::Tag => {
                    let tag = self.decoder.tag();
                    self.checked(tag)?;
                    *depth = self.deeper(*depth)?;
                }
                found => return Ok(found),
            }
        }
    }

    /// Starts a map: its length and the depth of its content.
    pub(crate) fn map(&mut self, mut depth: u32) -> Result<(Remaining, u32)> {
        match self.untagged(&mut depth)? {
            Type::Map | Type::MapIndef => {
                let depth = self.deeper(depth)?;
                let length = self.decoder.map();
                Ok((self.checked(length)?, depth))
            }
            found => self.wrong("a map", found),
        }
    }

    /// Whether another item follows; takes the end mark of an indefinite one.
    pub(crate) fn more(&mut self, remaining: &mut Remaining) -> Result<bool> {
        match remaining {
            Some(0) => Ok(false),
            Some(count) => {
                *count -= 1;
                Ok(true)
            }
            None if self.peek()? == Type::Break => {
                self.decoder.set_position(self.decoder.position() + 1);
                Ok(false)
            }
            None => Ok(true),
        }
    }

    /// The key of a struct: definite text or bytes.
    pub(crate) fn key(&mut self, mut depth: u32) -> Result<&'b [u8]> {
        let key = match self.untagged(&mut depth)? {
            Type::String => {
                let text = self.decoder.str();
                self.checked(text)?.as_bytes()
            }
            Type::Bytes => {
                let bytes = self.decoder.bytes();
                self.checked(bytes)?
            }
            found => return self.wrong("a key", found),
        };
        if key.len() > MAX_KEY_BYTES {
            return Err(
                self.fail(format!("a key has {} bytes, over the limit of {MAX_KEY_BYTES}", key.len()))
            );
        }
        Ok(key)
    }

    /// Text, in one piece or in many.
    pub(crate) fn text(&mut self, mut depth: u32) -> Result<Cow<'b, str>> {
        match self.untagged(&mut depth)? {
            Type::String => {
                let text = self.decoder.str();
                self.checked(text).map(Cow::Borrowed)
            }
            Type::StringIndef => {
                let mut joined = String::new();
                self.chunks(Type::String, Type::StringIndef, |decoder| {
                    decoder.str().map(|text| joined.push_str(text))
                })?;
                Ok(Cow::Owned(joined))
            }
            found => self.wrong("text", found),
        }
    }

    /// The chunks of an indefinite string. One may stand within another, which Burn's reader takes though no encoder
    /// writes it; counted, not recursed into.
    fn chunks(
        &mut self,
        chunk: Type,
        endless: Type,
        mut take: impl FnMut(&mut Decoder<'b>) -> Result<(), minicbor::decode::Error>,
    ) -> Result<()> {
        let mut open = 0usize;
        loop {
            match self.peek()? {
                found if found == chunk => {
                    let taken = take(&mut self.decoder);
                    self.checked(taken)?;
                    continue;
                }
                found if found == endless => open += 1,
                Type::Break => open -= 1,
                found => return self.wrong("a chunk of a string", found),
            }
            self.set_position(self.position() + 1);
            if open == 0 {
                return Ok(());
            }
        }
    }

    /// The name of an enum variant without payload (definite text), or of one with (a map of one entry): the name,
    /// and the payload's depth if there is one.
    pub(crate) fn variant(&mut self, mut depth: u32) -> Result<(&'b [u8], Option<u32>)> {
        match self.untagged(&mut depth)? {
            Type::String => Ok((self.key(depth)?, None)),
            Type::Map => match self.map(depth)? {
                (Some(1), depth) => Ok((self.key(depth)?, Some(depth))),
                _ => Err(self.fail("expected a map of one entry for an enum")),
            },
            found => self.wrong("an enum (text, or a map of one entry)", found),
        }
    }

    /// An integer of any width, a bignum too.
    pub(crate) fn integer(&mut self, mut depth: u32) -> Result<i128> {
        loop {
            match self.peek()? {
                Type::Tag => {
                    let tag = self.decoder.tag();
                    let tag = self.checked(tag)?.as_u64();
                    depth = self.deeper(depth)?;
                    if matches!(tag, 2 | 3) && self.peek()? == Type::Bytes {
                        return self.bignum(tag == 3);
                    }
                }
                found if is_integer(found) => {
                    let value = self.decoder.int();
                    return self.checked(value).map(i128::from);
                }
                found => return self.wrong("an integer", found),
            }
        }
    }

    fn bignum(&mut self, negative: bool) -> Result<i128> {
        let bytes = self.decoder.bytes();
        let bytes = self.checked(bytes)?;
        let digits = &bytes[bytes.iter().take_while(|&&byte| byte == 0).count()..];
        if digits.len() > 8 {
            return Err(self.fail(format!("an integer of {} bytes is too large", digits.len())));
        }
        let value = digits.iter().fold(0i128, |value, &byte| value << 8 | i128::from(byte));
        Ok(if negative { -1 - value } else { value })
    }

    pub(crate) fn unsigned(&mut self, depth: u32) -> Result<u64> {
        let value = self.integer(depth)?;
        u64::try_from(value).map_err(|_| self.fail(format!("{value} is no unsigned 64-bit integer")))
    }

    pub(crate) fn signed(&mut self, depth: u32) -> Result<i64> {
        let value = self.integer(depth)?;
        i64::try_from(value).map_err(|_| self.fail(format!("{value} is no signed 64-bit integer")))
    }

    pub(crate) fn float(&mut self, mut depth: u32) -> Result<f64> {
        match self.untagged(&mut depth)? {
            Type::F16 => {
                // By hand: stable Rust has no half.
                let at = self.decoder.position() + 1;
                let bits = self
                    .decoder
                    .input()
                    .get(at..at + 2)
                    .ok_or_else(|| self.fail("it ends inside an item"))?;
                self.decoder.set_position(at + 2);
                Ok(half_to_f64(u16::from_be_bytes([bits[0], bits[1]])))
            }
            Type::F32 => {
                let value = self.decoder.f32();
                self.checked(value).map(f64::from)
            }
            Type::F64 => {
                let value = self.decoder.f64();
                self.checked(value)
            }
            found => self.wrong("a float", found),
        }
    }

    pub(crate) fn bool(&mut self, mut depth: u32) -> Result<bool> {
        match self.untagged(&mut depth)? {
            Type::Bool => {
                let value = self.decoder.bool();
                self.checked(value)
            }
            found => self.wrong("a bool", found),
        }
    }

    /// Takes a null or undefined, if that is what follows. A tagged one is not taken: Burn's reader refuses it.
    pub(crate) fn null(&mut self) -> Result<bool> {
        let null = matches!(self.peek()?, Type::Null | Type::Undefined);
        if null {
            self.decoder.set_position(self.decoder.position() + 1);
        }
        Ok(null)
    }

    /// Unsigned integers in an array, or one for each byte of a byte string.
    pub(crate) fn unsigned_list(&mut self, mut depth: u32, mut push: impl FnMut(u64)) -> Result<()> {
        match self.untagged(&mut depth)? {
            Type::Array | Type::ArrayIndef => {
                let depth = self.deeper(depth)?;
                let length = self.decoder.array();
                let mut remaining = self.checked(length)?;
                while self.more(&mut remaining)? {
                    push(self.unsigned(depth)?);
                }
                Ok(())
            }
            Type::Bytes => {
                let bytes = self.decoder.bytes();
                self.checked(bytes)?.iter().for_each(|&byte| push(u64::from(byte)));
                Ok(())
            }
            found => self.wrong("an array of integers", found),
        }
    }

    /// Passes over one item, whatever it is.
    ///
    /// Iterative on purpose: a recursive walk takes 5 KB of stack a level where code is not optimised, which a thread's
    /// 2 MiB do not hold.
    pub(crate) fn skip(&mut self, mut depth: u32) -> Result<()> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            open.extend(self.skip_head(depth)?);
            loop {
                let Some(top) = open.last_mut() else { return Ok(()) };
                depth = top.depth;
                if !self.more(&mut top.remaining)? {
                    open.pop();
                    continue;
                }
                if top.is_map {
                    // The key comes now; its value is the one item of what opens here.
                    open.push(Open { remaining: Some(1), depth, is_map: false });
                }
                break;
            }
        }
    }

    /// Passes over an item without content, or over the head of one with.
    fn skip_head(&mut self, mut depth: u32) -> Result<Option<Open>> {
        let start = self.position();
        match self.untagged(&mut depth)? {
            Type::Map | Type::MapIndef => {
                let (remaining, depth) = self.map(depth)?;
                Ok(Some(Open { remaining, depth, is_map: true }))
            }
            Type::Array | Type::ArrayIndef => {
                let depth = self.deeper(depth)?;
                let length = self.decoder.array();
                Ok(Some(Open { remaining: self.checked(length)?, depth, is_map: false }))
            }
            found => self.skip_leaf(found, start, depth).map(|()| None),
        }
    }

    fn skip_leaf(&mut self, found: Type, start: usize, depth: u32) -> Result<()> {
        match found {
            Type::String | Type::StringIndef => self.text(depth).map(drop),
            Type::Bytes => {
                let bytes = self.decoder.bytes();
                self.checked(bytes).map(drop)
            }
            Type::BytesIndef => {
                self.chunks(Type::Bytes, Type::BytesIndef, |decoder| decoder.bytes().map(drop))
            }
            Type::Bool => self.bool(depth).map(drop),
            Type::Null | Type::Undefined => self.null().map(drop),
            Type::F16 | Type::F32 | Type::F64 => self.float(depth).map(drop),
            found if is_integer(found) => self.integer(depth).map(drop),
            found => {
                self.set_position(start);
                self.wrong("a value", found)
            }
        }
    }
}

const fn is_integer(found: Type) -> bool {
    matches!(
        found,
        Type::U8
            | Type::U16
            | Type::U32
            | Type::U64
            | Type::I8
            | Type::I16
            | Type::I32
            | Type::I64
            | Type::Int
    )
}

/// Every half is a double. A NaN keeps its payload, shifted to the top, and becomes quiet, as in Burn and in hardware.
fn half_to_f64(bits: u16) -> f64 {
    let sign = u64::from(bits >> 15) << 63;
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1F), u64::from(bits & 0x3FF));
    let magnitude = match exponent {
        0 => (fraction as f64 * 2f64.powi(-24)).to_bits(),
        31 if fraction != 0 => 0x7FF << 52 | QUIET | fraction << 42,
        31 => 0x7FF << 52,
        _ => ((exponent + 1008) as u64) << 52 | fraction << 42,
    };
    f64::from_bits(sign | magnitude)
}

/// The bit that tells a quiet NaN from a signalling one.
const QUIET: u64 = 1 << 51;

/// Appends a float in the shortest of the widths f16, f32 and f64 that widens back to the same bits. A signalling NaN
/// never does, as widening makes it quiet.
pub(crate) fn put_float(out: &mut Vec<u8>, value: f64) {
    let is_signalling = value.is_nan() && value.to_bits() & QUIET == 0;
    if let Some(half) = f64_to_half(value) {
        out.push(0xF9);
        out.extend(half.to_be_bytes());
    } else if !is_signalling && f64::from(value as f32).to_bits() == value.to_bits() {
        out.push(0xFA);
        out.extend((value as f32).to_be_bytes());
    } else {
        out.push(0xFB);
        out.extend(value.to_be_bytes());
    }
}

/// The half that widens to exactly these bits, if there is one.
fn f64_to_half(value: f64) -> Option<u16> {
    let bits = value.to_bits();
    let sign = (bits >> 48 & 0x8000) as u16;
    let (exponent, fraction) = ((bits >> 52 & 0x7FF) as i32 - 1023, bits & ((1 << 52) - 1));
    let half = match exponent {
        -1023 if fraction == 0 => 0,
        1024 => 0x7C00 | (fraction >> 42) as u16,
        -14..=15 => ((exponent + 15) as u16) << 10 | (fraction >> 42) as u16,
        // A subnormal half: a whole number of 2^-24.
        -24..=-15 => ((fraction | 1 << 52) >> (28 - exponent)) as u16,
        _ => return None,
    } | sign;
    (half_to_f64(half).to_bits() == bits).then_some(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(value: f64) -> String {
        let mut out = Vec::new();
        put_float(&mut out, value);
        out.iter().map(|byte| format!("{byte:02X}")).collect()
    }

    #[test]
    fn floats_take_the_shortest_width_that_keeps_their_bits() {
        for (value, expected) in [
            (0.0, "F90000"),
            (-0.0, "F98000"),
            (1.0, "F93C00"),
            (65504.0, "F97BFF"),
            (2f64.powi(-24), "F90001"),
            (2f64.powi(-14), "F90400"),
            (2f64.powi(-25), "FA33000000"),
            (65505.0, "FA477FE100"),
            (65536.0, "FA47800000"),
            (f64::from(f32::MAX), "FA7F7FFFFF"),
            (f64::from(0.1f32), "FA3DCCCCCD"),
            (2f64.powi(-149), "FA00000001"),
            (0.1, "FB3FB999999999999A"),
            (0.001, "FB3F50624DD2F1A9FC"),
            (1e300, "FB7E37E43C8800759C"),
            (f64::INFINITY, "F97C00"),
            (f64::NEG_INFINITY, "F9FC00"),
            (f64::from_bits(0x7FF8_0000_0000_0000), "F97E00"),
            (f64::from_bits(0xFFF8_0000_0000_0000), "F9FE00"),
            (f64::from_bits(0x7FF8_0000_0000_0001), "FB7FF8000000000001"),
            (f64::from_bits(0x7FF8_0400_0000_0000), "F97E01"),
            // Signalling NaNs, as burn-pack 0.22.1 writes them.
            (f64::from_bits(0x7FF0_0400_0000_0000), "FB7FF0040000000000"),
            (f64::from_bits(0x7FF0_0000_2000_0000), "FB7FF0000020000000"),
            (f64::from_bits(0x7FF4_0000_0000_0000), "FB7FF4000000000000"),
        ] {
            assert_eq!(hex(value), expected, "{value:?}");
        }
    }

    #[test]
    fn every_half_survives_widening_and_narrowing_but_that_nans_become_quiet() {
        for bits in 0..=u16::MAX {
            let is_nan = bits & 0x7FFF > 0x7C00;
            let quiet = if is_nan { bits | 0x0200 } else { bits };
            assert_eq!(f64_to_half(half_to_f64(bits)), Some(quiet), "{bits:#06x}");
        }
    }

    #[test]
    fn bignums_and_tags_are_read_through() {
        let read = |bytes: &[u8]| Cursor::new(bytes, 128).integer(0);
        assert_eq!(read(&[0xC2, 0x42, 0x00, 0x05]).unwrap(), 5);
        assert_eq!(read(&[0xC3, 0x41, 0x05]).unwrap(), -6);
        assert_eq!(read(&[0xD9, 0xD9, 0xF7, 0x18, 0x2A]).unwrap(), 42);
        assert!(read(&[0xC2, 0x49, 1, 0, 0, 0, 0, 0, 0, 0, 0]).is_err());
        assert!(read(&[0xF5]).is_err());
    }
}
