//! Element types, as Burn names them.

use crate::quant::QuantScheme;

/// How a boolean tensor is stored: which one a file holds depends on the backend that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoolStore {
    /// One byte an element, 0 or 1 (CPU backends).
    Native,
    /// One byte an element (GPU backends).
    U8,
    /// Four little-endian bytes an element (GPU backends).
    U32,
}

/// The element type of a tensor.
///
/// ```
/// use burnpy_buffer::{BoolStore, DType};
/// assert_eq!(DType::BF16.size(), Some(2));
/// assert_eq!(DType::Bool(BoolStore::U32).name(), "bool(u32)");
/// assert_eq!(DType::from_name("f32"), Some(DType::F32));
/// assert_eq!(DType::from_name("F32"), None); // names are case-sensitive
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DType {
    /// 64-bit float.
    F64,
    /// 32-bit float.
    F32,
    /// 32-bit float that a backend may compute in less; stored as f32.
    Flex32,
    /// IEEE half precision.
    F16,
    /// bfloat16.
    BF16,
    /// 64-bit signed integer.
    I64,
    /// 32-bit signed integer.
    I32,
    /// 16-bit signed integer.
    I16,
    /// 8-bit signed integer.
    I8,
    /// 64-bit unsigned integer.
    U64,
    /// 32-bit unsigned integer.
    U32,
    /// 16-bit unsigned integer.
    U16,
    /// 8-bit unsigned integer.
    U8,
    /// Boolean, with its store.
    Bool(BoolStore),
    /// Quantized float: values and scales in one payload, laid out by the scheme.
    QFloat(QuantScheme),
}

/// Every dtype whose name alone says all, in the order of the format's page.
const PLAIN: [DType; 16] = [
    DType::F64,
    DType::F32,
    DType::Flex32,
    DType::F16,
    DType::BF16,
    DType::I64,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
    DType::U8,
    DType::Bool(BoolStore::Native),
    DType::Bool(BoolStore::U8),
    DType::Bool(BoolStore::U32),
];

impl DType {
    /// Bytes an element; `None` for `QFloat`, whose payload length is [`QuantScheme::payload_len`].
    pub const fn size(&self) -> Option<usize> {
        match self {
            Self::F64 | Self::I64 | Self::U64 => Some(8),
            Self::F32 | Self::Flex32 | Self::I32 | Self::U32 | Self::Bool(BoolStore::U32) => Some(4),
            Self::F16 | Self::BF16 | Self::I16 | Self::U16 => Some(2),
            Self::I8 | Self::U8 | Self::Bool(_) => Some(1),
            Self::QFloat(_) => None,
        }
    }

    /// The text form: `f32`, `bf16`, `bool(u8)`, `qfloat`, …
    pub const fn name(&self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::Flex32 => "flex32",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::I64 => "i64",
            Self::I32 => "i32",
            Self::I16 => "i16",
            Self::I8 => "i8",
            Self::U64 => "u64",
            Self::U32 => "u32",
            Self::U16 => "u16",
            Self::U8 => "u8",
            Self::Bool(BoolStore::Native) => "bool",
            Self::Bool(BoolStore::U8) => "bool(u8)",
            Self::Bool(BoolStore::U32) => "bool(u32)",
            Self::QFloat(_) => "qfloat",
        }
    }

    /// The dtype of a text form; `None` if there is none, and for `qfloat`, which needs a scheme.
    pub fn from_name(name: &str) -> Option<Self> {
        PLAIN.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Every dtype but `QFloat`, each bool store counted.
    pub fn plain() -> impl Iterator<Item = Self> {
        PLAIN.into_iter()
    }

    /// Bytes that a row-major payload of this shape has.
    ///
    /// The product is taken left to right and the size last, so that an overflow on the way is an
    /// overflow even when a later dimension is 0 (Burn's rule).
    ///
    /// # Errors
    /// [`PayloadLenError`] on overflow, or when a quantization scheme cannot be right for the shape.
    pub fn payload_len(&self, shape: &[u64]) -> Result<u64, PayloadLenError> {
        match self {
            Self::QFloat(scheme) => scheme.payload_len(shape),
            _ => {
                let size = self.size().unwrap_or(1) as u64;
                shape
                    .iter()
                    .chain(std::iter::once(&size))
                    .try_fold(1u64, |product, &factor| product.checked_mul(factor))
                    .ok_or(PayloadLenError::Overflow)
            }
        }
    }
}

/// Why a payload has no length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayloadLenError {
    /// The length is over 2⁶⁴ − 1.
    Overflow,
    /// The quantization scheme is impossible; the text says how.
    Scheme(String),
}

impl std::fmt::Display for PayloadLenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Overflow => f.write_str("byte length calculation overflows u64"),
            Self::Scheme(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for PayloadLenError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_dtype() {
        for dtype in DType::plain() {
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
        }
        let names: std::collections::HashSet<_> = DType::plain().map(|dtype| dtype.name()).collect();
        assert_eq!(names.len(), 16);
        for unknown in ["", "F32", "float32", "bool(u64)", "qfloat"] {
            assert_eq!(DType::from_name(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_payload_is_the_product_of_the_shape_times_the_size() {
        let cases: [(DType, &[u64], u64); 6] = [
            (DType::F64, &[], 8),
            (DType::BF16, &[3, 5], 30),
            (DType::F32, &[2, 0, 7], 0),
            (DType::Bool(BoolStore::Native), &[9], 9),
            (DType::Bool(BoolStore::U8), &[9], 9),
            (DType::Bool(BoolStore::U32), &[9], 36),
        ];
        for (dtype, shape, expected) in cases {
            assert_eq!(dtype.payload_len(shape), Ok(expected), "{} {shape:?}", dtype.name());
        }
    }

    #[test]
    fn an_overflow_on_the_way_is_an_overflow_unless_a_zero_came_first() {
        let big = 1 << 40;
        assert_eq!(DType::U8.payload_len(&[big, big, 0]), Err(PayloadLenError::Overflow));
        assert_eq!(DType::U8.payload_len(&[0, big, big]), Ok(0));
        assert_eq!(DType::U8.payload_len(&[1 << 32, (1 << 32) - 1]), Ok(((1 << 32) - 1) << 32));
        assert_eq!(DType::I16.payload_len(&[1 << 63]), Err(PayloadLenError::Overflow));
    }
}
