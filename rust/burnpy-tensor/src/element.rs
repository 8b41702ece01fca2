//! The numbers that tensors hold, and code for each of their types.

use burnpy_buffer::{BoolStore, DType, Pod};
use half::{bf16, f16};

/// A type of number that a tensor can hold. Booleans are bytes, 0 or 1.
pub trait Element: Pod + Default + PartialOrd + std::fmt::Debug {
    /// The dtype of a tensor of them.
    const DTYPE: DType;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;

    /// The nearest value of a double: integers truncate toward zero and saturate.
    fn from_f64(value: f64) -> Self;
    /// The value of an integer: other integers wrap around, floats round.
    fn from_i64(value: i64) -> Self;
    /// The value of an integer, rounded or wrapped likewise.
    fn from_u64(value: u64) -> Self;
    /// As a double; 64-bit integers round.
    fn to_f64(self) -> f64;
    /// As an integer: floats truncate toward zero and saturate, `u64` wraps.
    fn to_i64(self) -> i64;
}

macro_rules! element {
    ($($number:ty, $dtype:ident;)*) => {$(
        impl Element for $number {
            const DTYPE: DType = DType::$dtype;
            const ZERO: Self = 0 as $number;
            const ONE: Self = 1 as $number;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn from_u64(value: u64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                self as i64
            }
        }
    )*};
}
element! { f32, F32; f64, F64; i8, I8; i16, I16; i32, I32; i64, I64; u8, U8; u16, U16; u32, U32; u64, U64; }

macro_rules! half_element {
    ($($number:ident, $dtype:ident;)*) => {$(
        impl Element for $number {
            const DTYPE: DType = DType::$dtype;
            const ZERO: Self = $number::ZERO;
            const ONE: Self = $number::ONE;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                $number::from_f32(to_odd(value))
            }
            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                let magnitude = sticky(value.unsigned_abs());
                <Self as Element>::from_f64(if value < 0 { -magnitude } else { magnitude })
            }
            #[inline(always)]
            fn from_u64(value: u64) -> Self {
                <Self as Element>::from_f64(sticky(value))
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                $number::to_f64(self)
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                $number::to_f64(self) as i64
            }
        }
    )*};
}
half_element! { f16, F16; bf16, BF16; }

/// An integer as a double for further rounding: bits that a double has no place for are told by the last one that it
/// has, so that rounding to half precision happens once.
#[inline(always)]
fn sticky(value: u64) -> f64 {
    const LOST: u64 = (1 << 11) - 1;
    if value >> 53 == 0 {
        return value as f64;
    }
    (value & !LOST | u64::from(value & LOST != 0) << 11) as f64
}

/// A double in single precision for further rounding: cut off, with the last bit set if anything was. The conversions of
/// the crate for half precision look at the upper half of a double alone, and so take what is just above a tie for one.
#[inline(always)]
fn to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || value.is_nan() {
        return nearest;
    }
    let toward_zero = nearest.to_bits() - u32::from(back.abs() > value.abs());
    f32::from_bits(toward_zero | 1)
}

/// What an element type is, whatever its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// f64, f32, flex32, f16, bf16, and quantized floats.
    Float,
    /// i8–i64, u8–u64.
    Int,
    /// Booleans.
    Bool,
}

impl Kind {
    /// The kind of a dtype.
    pub const fn of(dtype: DType) -> Self {
        match dtype {
            DType::F64 | DType::F32 | DType::Flex32 | DType::F16 | DType::BF16 | DType::QFloat(_) => {
                Self::Float
            }
            DType::Bool(_) => Self::Bool,
            _ => Self::Int,
        }
    }

    /// Its name, as in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Int => "int",
            Self::Bool => "bool",
        }
    }
}

/// The dtype of boolean tensors in memory.
pub const BOOL: DType = DType::Bool(BoolStore::Native);

/// The integer that a narrow one is computed in, or `None` for what is computed in itself. Sums, differences, products,
/// quotients and comparisons come out as the narrow one's: it holds all of its numbers, and wraps where that would.
///
/// Each type of its own would be a copy of every loop, half of the library for what hardly anybody adds up.
pub(crate) const fn wide(dtype: DType) -> Option<DType> {
    match dtype {
        DType::I8 | DType::I16 | DType::U8 | DType::U16 => Some(DType::I32),
        DType::U32 => Some(DType::U64),
        _ => None,
    }
}

/// `dispatch_float!(dtype, T => expression, else => otherwise)`: the expression with `T` = `f32` or `f64`. Half
/// precision never gets here: operations compute it in f32.
#[macro_export]
macro_rules! dispatch_float {
    ($dtype:expr, $T:ident => $body:expr, else => $otherwise:expr) => {
        match $dtype {
            ::burnpy_buffer::DType::F32 | ::burnpy_buffer::DType::Flex32 => {
                type $T = f32;
                $body
            }
            ::burnpy_buffer::DType::F64 => {
                type $T = f64;
                $body
            }
            _ => $otherwise,
        }
    };
}

/// `dispatch_int!(dtype, T => expression, else => otherwise)`: the expression for each type of integer.
#[macro_export]
macro_rules! dispatch_int {
    (@arms $dtype:expr, $T:ident, $body:expr, $otherwise:expr, $($variant:ident $number:ty),*) => {
        match $dtype {
            $(::burnpy_buffer::DType::$variant => {
                type $T = $number;
                $body
            })*
            _ => $otherwise,
        }
    };
    ($dtype:expr, $T:ident => $body:expr, else => $otherwise:expr) => {
        $crate::dispatch_int!(@arms $dtype, $T, $body, $otherwise,
            I64 i64, I32 i32, I16 i16, I8 i8, U64 u64, U32 u32, U16 u16, U8 u8)
    };
}

/// `dispatch_wide!(dtype, T => expression, else => otherwise)`: floats (not half precision) and the integers that
/// arithmetic is compiled for; see [`wide`].
#[macro_export]
macro_rules! dispatch_wide {
    ($dtype:expr, $T:ident => $body:expr, else => $otherwise:expr) => {
        $crate::dispatch_float!($dtype, $T => $body, else =>
            $crate::dispatch_int!(@arms $dtype, $T, $body, $otherwise, I64 i64, I32 i32, U64 u64))
    };
}

/// `dispatch_number!(dtype, T => expression, else => otherwise)`: floats (not half precision) and integers.
#[macro_export]
macro_rules! dispatch_number {
    ($dtype:expr, $T:ident => $body:expr, else => $otherwise:expr) => {
        $crate::dispatch_float!($dtype, $T => $body, else =>
            $crate::dispatch_int!($dtype, $T => $body, else => $otherwise))
    };
}

/// `dispatch_stored!(dtype, T => expression, else => otherwise)`: all that has a size of its own: numbers, half
/// precision, and booleans as bytes.
#[macro_export]
macro_rules! dispatch_stored {
    ($dtype:expr, $T:ident => $body:expr, else => $otherwise:expr) => {
        match $dtype {
            ::burnpy_buffer::DType::F16 => {
                type $T = ::half::f16;
                $body
            }
            ::burnpy_buffer::DType::BF16 => {
                type $T = ::half::bf16;
                $body
            }
            ::burnpy_buffer::DType::Bool(::burnpy_buffer::BoolStore::Native) => {
                type $T = u8;
                $body
            }
            other => $crate::dispatch_number!(other, $T => $body, else => $otherwise),
        }
    };
}

/// `dispatch_bits!(size, T => expression)`: an unsigned integer of that many bytes, for what only moves elements.
#[macro_export]
macro_rules! dispatch_bits {
    ($size:expr, $T:ident => $body:expr) => {
        match $size {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            _ => {
                type $T = u64;
                $body
            }
        }
    };
}
