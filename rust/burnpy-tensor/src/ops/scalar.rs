//! Numbers beside tensors.

use burnpy_buffer::DType;

use crate::dispatch_int;
use crate::element::{BOOL, Element, Kind};
use crate::error::{Error, Result};

/// A number as the user gives it; an operation takes it as the dtype of its tensor.
///
/// ```
/// use burnpy_tensor::ops::Scalar;
/// assert_eq!(Scalar::Int(300).to::<f32>("add").unwrap(), 300.0);
/// assert!(Scalar::Int(300).to::<u8>("add").is_err()); // out of range
/// assert!(Scalar::Float(2.0).to::<i32>("add").is_err()); // a float for a tensor of integers
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// A signed integer.
    Int(i64),
    /// An integer that may lie above `i64::MAX`.
    UInt(u64),
    /// A float.
    Float(f64),
    /// A boolean, 1 or 0 among numbers.
    Bool(bool),
}

impl Scalar {
    /// The number as an element type: floats take anything, rounded once; integers what is in their range.
    ///
    /// # Errors
    /// `DType` for a float that an integer is wanted for, or an integer out of range.
    pub fn to<T: Element>(self, operation: &'static str) -> Result<T> {
        let is_float = Kind::of(T::DTYPE) == Kind::Float;
        let number = match self {
            Self::Float(value) if is_float => Some(T::from_f64(value)),
            Self::Float(_) => return Err(self.refused(operation, T::DTYPE)),
            Self::Bool(value) => Some(T::from_i64(i64::from(value))),
            Self::UInt(value) if is_float => Some(T::from_u64(value)),
            Self::Int(value) if is_float => Some(T::from_i64(value)),
            Self::UInt(value) => integer(value.into()),
            Self::Int(value) => integer(value.into()),
        };
        number.ok_or_else(|| {
            let name = T::DTYPE.name();
            Error::dtype(operation, format_args!("{self} is out of the range of {name}"))
        })
    }

    /// Whether the number goes with a dtype of integers.
    ///
    /// # Errors
    /// As [`Scalar::to`].
    pub(crate) fn check(self, operation: &'static str, dtype: DType) -> Result<()> {
        dispatch_int!(dtype, T => self.to::<T>(operation).map(drop), else => Ok(()))
    }

    /// The number as a byte of a boolean tensor.
    ///
    /// # Errors
    /// `DType` for anything but a boolean, 0 or 1.
    pub fn to_bool(self, operation: &'static str) -> Result<u8> {
        match self {
            Self::Bool(value) => Ok(value.into()),
            Self::Int(0) | Self::UInt(0) => Ok(0),
            Self::Int(1) | Self::UInt(1) => Ok(1),
            _ => Err(self.refused(operation, BOOL)),
        }
    }

    /// The number as a half-precision tensor would hold it, rounded once, which computes in f32; any other dtype takes it
    /// as it is.
    #[must_use]
    pub(crate) fn beside(self, dtype: DType) -> Self {
        match dtype {
            DType::F16 => Self::Float(<half::f16 as Element>::from_f64(self.to_f64()).to_f64()),
            DType::BF16 => Self::Float(<half::bf16 as Element>::from_f64(self.to_f64()).to_f64()),
            _ => self,
        }
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::UInt(value) => value as f64,
            Self::Float(value) => value,
            Self::Bool(value) => f64::from(u8::from(value)),
        }
    }

    #[cold]
    fn refused(self, operation: &'static str, dtype: DType) -> Error {
        let (kind, name) = (Kind::of(dtype).name(), dtype.name());
        Error::dtype(
            operation,
            format_args!("{self} does not go with {kind} tensors ({name}); cast the tensor"),
        )
    }
}

fn integer<T: Element>(value: i128) -> Option<T> {
    let number = match i64::try_from(value) {
        Ok(value) => T::from_i64(value),
        Err(_) => T::from_u64(u64::try_from(value).ok()?),
    };
    let back = if number < T::ZERO { number.to_i64().into() } else { i128::from(number.to_i64() as u64) };
    (back == value).then_some(number)
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(value) => write!(f, "the integer {value}"),
            Self::UInt(value) => write!(f, "the integer {value}"),
            Self::Float(value) => write!(f, "the float {value:?}"),
            Self::Bool(value) => write!(f, "the boolean {value}"),
        }
    }
}

macro_rules! from {
    ($($number:ty => $variant:ident;)*) => {$(
        impl From<$number> for Scalar {
            fn from(value: $number) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}
from! { i32 => Int; i64 => Int; u64 => UInt; f32 => Float; f64 => Float; bool => Bool; }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_go_where_they_fit() {
        assert_eq!(Scalar::Int(-128).to::<i8>("add").unwrap(), -128);
        assert_eq!(Scalar::UInt(u64::MAX).to::<u64>("add").unwrap(), u64::MAX);
        assert_eq!(Scalar::Bool(true).to::<i16>("add").unwrap(), 1);
        assert!(Scalar::Int(-1).to::<u64>("add").is_err());
        assert!(Scalar::Int(-129).to::<i8>("add").is_err());
        assert!(Scalar::UInt(1 << 63).to::<i64>("add").is_err());
        assert_eq!(Scalar::UInt(u64::MAX).to::<f32>("add").unwrap(), 2f32.powi(64));
    }

    #[test]
    fn floats_do_not_become_integers() {
        let error = Scalar::Float(0.5).to::<i32>("mul").unwrap_err();
        assert_eq!(
            error.to_string(),
            "mul: the float 0.5 does not go with int tensors (i32); cast the tensor"
        );
        assert!(Scalar::Float(1.0).to_bool("full").is_err() && Scalar::Int(2).to_bool("full").is_err());
        assert_eq!(Scalar::Int(1).to_bool("full").unwrap(), 1);
    }
}
