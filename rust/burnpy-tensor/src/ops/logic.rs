//! Booleans, and bits of integers.

use super::broadcast::{zip, zip_number};
use super::elementwise::{IntegerBinary, only_integers, zip_integers};
use super::scalar::Scalar;
use crate::dispatch_int;
use crate::element::BOOL;
use crate::error::{Error, Result};
use crate::kernels::ops::integer::{And, Or, ShiftLeft, ShiftRight, Xor};
use crate::tensor::Tensor;

macro_rules! of_booleans {
    ($($(#[$doc:meta])* $name:ident = $op:expr;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// `Shape` if the shapes do not broadcast, `DType` if a tensor is not of booleans.
            pub fn $name(&self, other: &Self) -> Result<Self> {
                booleans(stringify!($name), self, other, $op)
            }
        )*}
    };
}

of_booleans! {
    /// True where both are, broadcast.
    bool_and = |a, b| a & b;
    /// True where one at least is, broadcast.
    bool_or = |a, b| a | b;
    /// True where one only is, broadcast.
    bool_xor = |a, b| a ^ b;
}

macro_rules! of_bits {
    ($($(#[$doc:meta])* $name:ident, $with_number:ident = $op:expr;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            ///
            /// The shapes are broadcast.
            ///
            /// # Errors
            /// `Shape` if the shapes do not broadcast, `DType` if the tensors are not of integers of one dtype.
            pub fn $name(&self, other: &Self) -> Result<Self> {
                let value = zip_integers(stringify!($name), self.value(), other.value(), $op)?;
                Ok(Self::from_parts(value, None, self.is_autodiff() || other.is_autodiff()))
            }

            $(#[$doc])*
            ///
            /// The other one is a number.
            ///
            /// # Errors
            /// `DType` if the tensor is not of integers, or the number is out of its range.
            pub fn $with_number(&self, other: Scalar) -> Result<Self> {
                bits_with_number(stringify!($with_number), self, other, $op)
            }
        )*}
    };
}

of_bits! {
    /// Bits that are set in both.
    bitwise_and, bitwise_and_scalar = And;
    /// Bits that are set in one at least.
    bitwise_or, bitwise_or_scalar = Or;
    /// Bits that are set in one only.
    bitwise_xor, bitwise_xor_scalar = Xor;
    /// Bits moved up by `other` modulo the width.
    bitwise_left_shift, bitwise_left_shift_scalar = ShiftLeft;
    /// Bits moved down by `other` modulo the width; signed integers keep their sign.
    bitwise_right_shift, bitwise_right_shift_scalar = ShiftRight;
}

impl Tensor {
    /// True where `self` is not.
    ///
    /// # Errors
    /// `DType` if the tensor is not of booleans.
    pub fn bool_not(&self) -> Result<Self> {
        check_booleans("bool_not", self)?;
        let value = zip_number("bool_not", self.value(), 1u8, BOOL, Xor)?;
        Ok(Self::from_parts(value, None, self.is_autodiff()))
    }

    /// All bits flipped.
    ///
    /// # Errors
    /// `DType` if the tensor is not of integers.
    pub fn bitwise_not(&self) -> Result<Self> {
        let dtype = self.dtype();
        let value = dispatch_int!(dtype, T => {
            zip_number::<T, T>("bitwise_not", self.value(), !0, dtype, Xor)
        }, else => Err(only_integers("bitwise_not", dtype)))?;
        Ok(Self::from_parts(value, None, self.is_autodiff()))
    }
}

fn booleans(
    operation: &'static str,
    a: &Tensor,
    b: &Tensor,
    op: impl Fn(u8, u8) -> u8 + Copy + Send + Sync,
) -> Result<Tensor> {
    check_booleans(operation, a)?;
    check_booleans(operation, b)?;
    let value = zip(operation, (a.value(), b.value()), BOOL, op)?;
    Ok(Tensor::from_parts(value, None, a.is_autodiff() || b.is_autodiff()))
}

fn check_booleans(operation: &'static str, x: &Tensor) -> Result<()> {
    if x.dtype() == BOOL {
        return Ok(());
    }
    Err(Error::dtype(operation, format_args!("only for bool tensors, got {}; cast first", x.dtype().name())))
}

fn bits_with_number(
    operation: &'static str,
    x: &Tensor,
    number: Scalar,
    op: impl IntegerBinary,
) -> Result<Tensor> {
    let dtype = x.dtype();
    let value = dispatch_int!(dtype, T => {
        zip_number::<T, T>(operation, x.value(), number.to(operation)?, dtype, op)
    }, else => Err(only_integers(operation, dtype)))?;
    Ok(Tensor::from_parts(value, None, x.is_autodiff()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    fn ints(data: &[i32]) -> Tensor {
        Value::from_slice(data, &[data.len()]).unwrap().into()
    }

    #[test]
    fn booleans_follow_their_tables() {
        let flags = |data: &[u8]| -> Tensor {
            Value::build_bool(&[data.len()], |out| out.copy_from_slice(data)).unwrap().into()
        };
        let (a, b) = (flags(&[0, 0, 1, 1]), flags(&[0, 1, 0, 1]));
        let table = |x: Result<Tensor>| x.unwrap().value().as_slice::<u8>().unwrap().to_vec();
        assert_eq!(table(a.bool_and(&b)), [0, 0, 0, 1]);
        assert_eq!(table(a.bool_or(&b)), [0, 1, 1, 1]);
        assert_eq!(table(a.bool_xor(&b)), [0, 1, 1, 0]);
        assert_eq!(table(a.bool_not()), [1, 1, 0, 0]);
        assert!(a.bool_and(&ints(&[1])).is_err() && ints(&[1]).bool_not().is_err());
        assert!(a.bitwise_and(&b).is_err());
    }

    #[test]
    fn bits_are_combined_and_shifts_are_taken_modulo_the_width() {
        let (a, b) = (ints(&[0b1100, -8]), ints(&[0b1010, 33]));
        let bits = |x: Result<Tensor>| x.unwrap().value().as_slice::<i32>().unwrap().to_vec();
        assert_eq!(bits(a.bitwise_and(&b)), [0b1000, -8 & 33]);
        assert_eq!(bits(a.bitwise_or(&b)), [0b1110, -8 | 33]);
        assert_eq!(bits(a.bitwise_xor_scalar(Scalar::Int(-1))), bits(a.bitwise_not()));
        assert_eq!(bits(a.bitwise_left_shift(&b)), [0b1100 << 10, -16]);
        assert_eq!(bits(a.bitwise_right_shift(&b)), [0, -4]);
        let unsigned: Tensor = Value::from_slice(&[0x80u8], &[1]).unwrap().into();
        let shifted = unsigned.bitwise_right_shift_scalar(Scalar::Int(7 + 8)).unwrap();
        assert_eq!(shifted.value().as_slice::<u8>(), Some(&[1][..]));
        assert!(unsigned.bitwise_and_scalar(Scalar::Int(256)).is_err());
    }
}
