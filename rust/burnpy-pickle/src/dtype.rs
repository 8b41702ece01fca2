//! Element types, as PyTorch and NumPy name them.

use std::fmt;

/// The element type of a tensor. The variants' names are burnpy's names of the types, in capitals.
///
/// ```
/// use burnpy_pickle::DType;
/// assert_eq!(DType::from_torch("bfloat16"), Some(DType::BF16));
/// assert_eq!(DType::F8E4M3FN.to_string(), "f8e4m3fn");
/// assert_eq!(DType::C64.size(), 8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it: kind and bits, for 8-bit and 4-bit floats their layout")]
pub enum DType {
    F64,
    F32,
    F16,
    BF16,
    F8E4M3FN,
    F8E5M2,
    F8E4M3FNUZ,
    F8E5M2FNUZ,
    F8E8M0FNU,
    /// Two 4-bit floats in a byte; shapes count bytes.
    F4E2M1FNx2,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    /// One byte an element; any byte that is not 0 means true.
    Bool,
    /// Two f16.
    C32,
    /// Two f32.
    C64,
    /// Two f64.
    C128,
}

/// dtype, burnpy's name, PyTorch's name, the storage class of old files, bytes an element.
type Row = (DType, &'static str, &'static str, &'static str, u8);

const TABLE: [Row; 22] = [
    (DType::F64, "f64", "float64", "DoubleStorage", 8),
    (DType::F32, "f32", "float32", "FloatStorage", 4),
    (DType::F16, "f16", "float16", "HalfStorage", 2),
    (DType::BF16, "bf16", "bfloat16", "BFloat16Storage", 2),
    (DType::F8E4M3FN, "f8e4m3fn", "float8_e4m3fn", "", 1),
    (DType::F8E5M2, "f8e5m2", "float8_e5m2", "", 1),
    (DType::F8E4M3FNUZ, "f8e4m3fnuz", "float8_e4m3fnuz", "", 1),
    (DType::F8E5M2FNUZ, "f8e5m2fnuz", "float8_e5m2fnuz", "", 1),
    (DType::F8E8M0FNU, "f8e8m0fnu", "float8_e8m0fnu", "", 1),
    (DType::F4E2M1FNx2, "f4e2m1fn_x2", "float4_e2m1fn_x2", "", 1),
    (DType::I64, "i64", "int64", "LongStorage", 8),
    (DType::I32, "i32", "int32", "IntStorage", 4),
    (DType::I16, "i16", "int16", "ShortStorage", 2),
    (DType::I8, "i8", "int8", "CharStorage", 1),
    (DType::U64, "u64", "uint64", "", 8),
    (DType::U32, "u32", "uint32", "", 4),
    (DType::U16, "u16", "uint16", "", 2),
    (DType::U8, "u8", "uint8", "ByteStorage", 1),
    (DType::Bool, "bool", "bool", "BoolStorage", 1),
    (DType::C32, "c32", "complex32", "ComplexHalfStorage", 4),
    (DType::C64, "c64", "complex64", "ComplexFloatStorage", 8),
    (DType::C128, "c128", "complex128", "ComplexDoubleStorage", 16),
];

impl DType {
    fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.0 == self).unwrap_or(&TABLE[0])
    }

    /// burnpy's name.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// PyTorch's name, without `torch.`; NumPy's too where it has the type.
    pub fn torch_name(self) -> &'static str {
        self.row().2
    }

    /// Bytes an element.
    pub fn size(self) -> usize {
        usize::from(self.row().4)
    }

    /// Bytes that are swapped together in a file of the other byte order.
    pub fn swap_size(self) -> usize {
        match self {
            Self::C32 | Self::C64 | Self::C128 => self.size() / 2,
            _ => self.size(),
        }
    }

    /// The type of `torch.<name>`.
    pub fn from_torch(name: &str) -> Option<Self> {
        let name = match name {
            "float" => "float32",
            "double" => "float64",
            "half" => "float16",
            "long" => "int64",
            "int" => "int32",
            "short" => "int16",
            "chalf" => "complex32",
            "cfloat" => "complex64",
            "cdouble" => "complex128",
            _ => name,
        };
        TABLE.iter().find(|row| row.2 == name).map(|row| row.0)
    }

    /// The name of the storage class that holds this type in old files.
    pub(crate) fn storage_class(self) -> &'static str {
        self.row().3
    }

    /// The element type of `torch.<class>`, a storage of one type.
    pub(crate) fn from_storage_class(class: &str) -> Option<Self> {
        TABLE.iter().find(|row| !row.3.is_empty() && row.3 == class).map(|row| row.0)
    }

    /// The type of a NumPy type string such as `f4`, without byte order.
    pub(crate) fn from_numpy(text: &str) -> Option<Self> {
        Some(match text {
            "f8" => Self::F64,
            "f4" => Self::F32,
            "f2" => Self::F16,
            "i8" => Self::I64,
            "i4" => Self::I32,
            "i2" => Self::I16,
            "i1" => Self::I8,
            "u8" => Self::U64,
            "u4" => Self::U32,
            "u2" => Self::U16,
            "u1" => Self::U8,
            "b1" | "bool" => Self::Bool,
            "c8" => Self::C64,
            "c16" => Self::C128,
            _ => return None,
        })
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_its_names() {
        for (dtype, name, torch, class, size) in TABLE {
            assert_eq!(DType::from_torch(torch), Some(dtype));
            assert_eq!(dtype.name(), name);
            assert_eq!(dtype.size(), usize::from(size));
            assert!(class.is_empty() || DType::from_storage_class(class) == Some(dtype));
        }
        assert_eq!(DType::from_storage_class(""), None);
        assert_eq!(DType::from_numpy("O8"), None);
    }
}
