//! Typed numbers beside the tensors.

use std::fmt;

/// A number or flag in the file's `scalars` map.
///
/// ```
/// use burnpy_pack::Scalar;
/// assert_eq!(u8::try_from(Scalar::Int(200)), Ok(200));
/// assert!(u8::try_from(Scalar::Int(300)).is_err()); // out of range is an error, never a wrap
/// assert_eq!(Scalar::from(0.5f32), Scalar::Float(0.5));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A float; f32 values are widened.
    Float(f64),
    /// A flag.
    Bool(bool),
}

impl Scalar {
    /// The kind's name, as in the file.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Int(_) => "Int",
            Self::UInt(_) => "UInt",
            Self::Float(_) => "Float",
            Self::Bool(_) => "Bool",
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "Int({value})"),
            Self::UInt(value) => write!(f, "UInt({value})"),
            Self::Float(value) => write!(f, "Float({value:?})"),
            Self::Bool(value) => write!(f, "Bool({value})"),
        }
    }
}

/// A scalar does not fit the type asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{scalar} cannot be read as {wanted}")]
pub struct ScalarConversionError {
    /// The scalar.
    pub scalar: Scalar,
    /// The type's name, as in Rust.
    pub wanted: &'static str,
}

macro_rules! scalar_integers {
    ($($int:ident => $variant:ident as $wide:ident),*) => {$(
        impl From<$int> for Scalar {
            fn from(value: $int) -> Self {
                Self::$variant(value as $wide)
            }
        }

        impl TryFrom<Scalar> for $int {
            type Error = ScalarConversionError;

            fn try_from(scalar: Scalar) -> Result<Self, ScalarConversionError> {
                let wanted = stringify!($int);
                match scalar {
                    Scalar::Int(value) => value.try_into().ok(),
                    Scalar::UInt(value) => value.try_into().ok(),
                    Scalar::Float(_) | Scalar::Bool(_) => None,
                }
                .ok_or(ScalarConversionError { scalar, wanted })
            }
        }
    )*};
}

scalar_integers!(
    u8 => UInt as u64, u16 => UInt as u64, u32 => UInt as u64, u64 => UInt as u64, usize => UInt as u64,
    i8 => Int as i64, i16 => Int as i64, i32 => Int as i64, i64 => Int as i64, isize => Int as i64
);

macro_rules! scalar_floats {
    ($($float:ident),*) => {$(
        impl From<$float> for Scalar {
            fn from(value: $float) -> Self {
                Self::Float(f64::from(value))
            }
        }

        impl TryFrom<Scalar> for $float {
            type Error = ScalarConversionError;

            /// Burn's rule: any number converts, to the nearest value.
            fn try_from(scalar: Scalar) -> Result<Self, ScalarConversionError> {
                match scalar {
                    Scalar::Float(value) => Ok(value as $float),
                    Scalar::Int(value) => Ok(value as $float),
                    Scalar::UInt(value) => Ok(value as $float),
                    Scalar::Bool(_) => Err(ScalarConversionError { scalar, wanted: stringify!($float) }),
                }
            }
        }
    )*};
}

scalar_floats!(f32, f64);

impl From<bool> for Scalar {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl TryFrom<Scalar> for bool {
    type Error = ScalarConversionError;

    fn try_from(scalar: Scalar) -> Result<Self, ScalarConversionError> {
        match scalar {
            Scalar::Bool(value) => Ok(value),
            _ => Err(ScalarConversionError { scalar, wanted: "bool" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_convert_by_the_table_of_the_format() {
        assert_eq!(i32::try_from(Scalar::Int(-5)), Ok(-5));
        assert_eq!(u8::try_from(Scalar::UInt(200)), Ok(200));
        assert_eq!(usize::try_from(Scalar::UInt(42)), Ok(42));
        assert!(i32::try_from(Scalar::Int(5_000_000_000)).is_err());
        assert!(u32::try_from(Scalar::Int(-1)).is_err());
        assert!(u8::try_from(Scalar::UInt(300)).is_err());
        assert!(i64::try_from(Scalar::Float(1.5)).is_err());
        assert!(bool::try_from(Scalar::Int(1)).is_err());
        assert!(f64::try_from(Scalar::Bool(true)).is_err());
        assert_eq!(f64::try_from(Scalar::Int(3)), Ok(3.0));
        assert_eq!(f32::try_from(Scalar::Int(3)), Ok(3.0));
        assert_eq!(f64::try_from(Scalar::Float(2.5)), Ok(2.5));
        assert_eq!(f32::try_from(Scalar::Float(2.5)), Ok(2.5));
    }

    #[test]
    fn rust_types_choose_their_kind() {
        assert_eq!(Scalar::from(7u8), Scalar::UInt(7));
        assert_eq!(Scalar::from(-7isize), Scalar::Int(-7));
        assert_eq!(Scalar::from(0.1f32), Scalar::Float(f64::from(0.1f32)));
        assert_eq!(Scalar::from(true), Scalar::Bool(true));
    }
}
