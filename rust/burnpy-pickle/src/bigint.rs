//! Integers of any size, kept exactly.

use std::fmt;

/// An integer that does not fit in 64 bits with sign.
///
/// ```
/// use burnpy_pickle::BigInt;
/// let bytes = [0, 0, 0, 0, 0, 0, 0, 0, 64];
/// assert_eq!(BigInt::from_le_bytes(&bytes).to_string(), "1180591620717411303424");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BigInt {
    /// Two's complement, little-endian, without superfluous sign bytes.
    bytes: Box<[u8]>,
}

impl BigInt {
    /// An integer from two's complement bytes, the lowest first.
    pub fn from_le_bytes(mut bytes: &[u8]) -> Self {
        while let [rest @ .., before, last] = bytes
            && ((*last == 0 && before >> 7 == 0) || (*last == 0xff && before >> 7 == 1))
        {
            bytes = &bytes[..=rest.len()];
        }
        Self { bytes: bytes.into() }
    }

    /// An integer from decimal digits with an optional sign; `None` if there is anything else.
    pub(crate) fn from_decimal(text: &str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes() {
            [b'-', digits @ ..] => (true, digits),
            [b'+', digits @ ..] => (false, digits),
            digits => (false, digits),
        };
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let mut limbs: Vec<u32> = Vec::new();
        let (first, rest) = digits.split_at(digits.len() % 9);
        for group in std::iter::once(first).chain(rest.chunks(9)) {
            let value = group.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
            multiply_add(&mut limbs, 10u64.pow(group.len() as u32), value);
        }
        let mut bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        bytes.push(0);
        if negative {
            negate(&mut bytes);
        }
        Some(Self::from_le_bytes(&bytes))
    }

    /// Two's complement, little-endian, as short as can be.
    pub fn to_le_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The integer, if 64 bits with sign hold it.
    pub fn to_i64(&self) -> Option<i64> {
        let mut out = [if self.is_negative() { 0xff } else { 0 }; 8];
        out.get_mut(..self.bytes.len())?.copy_from_slice(&self.bytes);
        Some(i64::from_le_bytes(out))
    }

    /// The integer, if 64 bits without sign hold it.
    pub fn to_u64(&self) -> Option<u64> {
        let bytes = match &*self.bytes {
            [bytes @ .., 0] => bytes,
            bytes if !self.is_negative() => bytes,
            _ => return None,
        };
        let mut out = [0; 8];
        out.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(out))
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.bytes.last().is_some_and(|last| last >> 7 == 1)
    }
}

impl fmt::Display for BigInt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.bytes.to_vec();
        if self.is_negative() {
            bytes.push(0xff);
            negate(&mut bytes);
            f.write_str("-")?;
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let mut limbs: Vec<u32> =
            bytes.as_chunks().0.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect();
        let mut groups = Vec::new();
        while limbs.iter().any(|limb| *limb != 0) {
            groups.push(divide(&mut limbs, GROUP));
            let used = limbs.iter().rposition(|limb| *limb != 0).map_or(0, |last| last + 1);
            limbs.truncate(used);
        }
        write!(f, "{}", groups.pop().unwrap_or(0))?;
        groups.iter().rev().try_for_each(|group| write!(f, "{group:09}"))
    }
}

/// Nine decimal digits at a time: the most that fit in 32 bits.
const GROUP: u64 = 1_000_000_000;

/// `limbs * factor + summand`, with a factor of at most [`GROUP`].
fn multiply_add(limbs: &mut Vec<u32>, factor: u64, summand: u64) {
    let mut carry = summand;
    for limb in limbs.iter_mut() {
        carry += u64::from(*limb) * factor;
        *limb = carry as u32; // the low half
        carry >>= 32;
    }
    if carry != 0 {
        limbs.push(carry as u32);
    }
}

/// Divides in place; the remainder.
fn divide(limbs: &mut [u32], divisor: u64) -> u64 {
    let mut rest = 0;
    for limb in limbs.iter_mut().rev() {
        rest = rest << 32 | u64::from(*limb);
        *limb = (rest / divisor) as u32; // the rest before was below the divisor
        rest %= divisor;
    }
    rest
}

/// Two's complement negation.
fn negate(bytes: &mut [u8]) {
    let mut carry = true;
    for byte in bytes {
        (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_text_and_bytes_are_two_sides_of_one_number() {
        for text in ["0", "-1", "127", "128", "-128", "-129", "9223372036854775807", "-9223372036854775808"] {
            let int = BigInt::from_decimal(text).unwrap();
            assert_eq!(int.to_string(), text);
            assert_eq!(int.to_i64(), text.parse().ok());
            assert_eq!(int.to_u64(), text.parse().ok());
        }
        for text in ["18446744073709551615", "-18446744073709551616", "1180591620717411303424"] {
            let int = BigInt::from_decimal(text).unwrap();
            assert_eq!(int.to_string(), text);
            assert_eq!((int.to_i64(), int.to_u64()), (None, text.parse().ok()));
        }
        for text in ["", "-", "1_0", "1.5", " 1"] {
            assert_eq!(BigInt::from_decimal(text), None);
        }
    }

    #[test]
    fn no_bytes_are_zero() {
        assert_eq!(BigInt::from_le_bytes(&[]).to_i64(), Some(0));
        assert_eq!(BigInt::from_le_bytes(&[]).to_string(), "0");
    }
}
