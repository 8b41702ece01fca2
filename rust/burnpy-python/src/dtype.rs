//! What a container's dtype is in NumPy and in DLPack.

use burnpy_buffer::{BoolStore, DType};
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The element types that arrays have; flex32 is float32 there, a bool of four bytes uint32, and the payload of a
/// quantized tensor plain bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F64,
    F32,
    F16,
    BF16,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
    // From here on: foreign checkpoints alone.
    F8E4M3FN,
    F8E5M2,
    F8E4M3FNUZ,
    F8E5M2FNUZ,
    F8E8M0FNU,
    C64,
    C128,
}

impl Element {
    pub(crate) const COUNT: usize = Self::C128 as usize + 1;

    pub(crate) const fn of(dtype: DType) -> Self {
        match dtype {
            DType::F64 => Self::F64,
            DType::F32 | DType::Flex32 => Self::F32,
            DType::F16 => Self::F16,
            DType::BF16 => Self::BF16,
            DType::I64 => Self::I64,
            DType::I32 => Self::I32,
            DType::I16 => Self::I16,
            DType::I8 => Self::I8,
            DType::U64 => Self::U64,
            DType::U32 | DType::Bool(BoolStore::U32) => Self::U32,
            DType::U16 => Self::U16,
            DType::U8 | DType::QFloat(_) => Self::U8,
            DType::Bool(BoolStore::Native | BoolStore::U8) => Self::Bool,
        }
    }

    /// Bytes an element.
    pub(crate) const fn size(self) -> usize {
        match self {
            Self::C128 => 16,
            Self::F64 | Self::I64 | Self::U64 | Self::C64 => 8,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F16 | Self::BF16 | Self::I16 | Self::U16 => 2,
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::F8E4M3FN | Self::F8E5M2 | Self::F8E4M3FNUZ | Self::F8E5M2FNUZ | Self::F8E8M0FNU => 1,
        }
    }

    /// DLPack's code of the kind.
    pub(crate) const fn dlpack_code(self) -> u8 {
        match self {
            Self::I64 | Self::I32 | Self::I16 | Self::I8 => 0,
            Self::U64 | Self::U32 | Self::U16 | Self::U8 => 1,
            Self::F64 | Self::F32 | Self::F16 => 2,
            Self::BF16 => 4,
            Self::C64 | Self::C128 => 5,
            Self::Bool => 6,
            Self::F8E4M3FN => 10,
            Self::F8E4M3FNUZ => 11,
            Self::F8E5M2 => 12,
            Self::F8E5M2FNUZ => 13,
            Self::F8E8M0FNU => 14,
        }
    }

    /// Whether no buffer format means it: those types are `ml_dtypes`'.
    pub(crate) const fn is_added(self) -> bool {
        self.added_name().is_some()
    }

    /// NumPy's dtype, made once. `ml_dtypes` is imported when the first type comes that NumPy lacks.
    pub(crate) fn descr(self, py: Python<'_>) -> PyResult<&Bound<'_, PyArrayDescr>> {
        static DESCRS: [PyOnceLock<Py<PyArrayDescr>>; Element::COUNT] =
            [const { PyOnceLock::new() }; Element::COUNT];
        let descr = DESCRS[self as usize].get_or_try_init(py, || match self.added_name() {
            Some(name) => PyArrayDescr::new(py, py.import("ml_dtypes")?.getattr(name)?).map(Bound::unbind),
            None => PyArrayDescr::new(py, self.numpy_name()).map(Bound::unbind),
        })?;
        Ok(descr.bind(py))
    }

    const fn added_name(self) -> Option<&'static str> {
        Some(match self {
            Self::BF16 => "bfloat16",
            Self::F8E4M3FN => "float8_e4m3fn",
            Self::F8E5M2 => "float8_e5m2",
            Self::F8E4M3FNUZ => "float8_e4m3fnuz",
            Self::F8E5M2FNUZ => "float8_e5m2fnuz",
            Self::F8E8M0FNU => "float8_e8m0fnu",
            _ => return None,
        })
    }

    const fn numpy_name(self) -> &'static str {
        match self {
            Self::F64 => "float64",
            Self::F32 => "float32",
            Self::F16 => "float16",
            Self::C64 => "complex64",
            Self::C128 => "complex128",
            Self::I64 => "int64",
            Self::I32 => "int32",
            Self::I16 => "int16",
            Self::I8 => "int8",
            Self::U64 => "uint64",
            Self::U32 => "uint32",
            Self::U16 => "uint16",
            Self::Bool => "bool",
            // Those of `added_name` do not come here.
            _ => "uint8",
        }
    }
}

/// The shape of the array that a payload becomes: its own, or bytes in a row for a quantized tensor.
pub(crate) fn array_shape(dtype: DType, shape: &[u64], byte_len: u64) -> Vec<u64> {
    if matches!(dtype, DType::QFloat(_)) { vec![byte_len] } else { shape.to_vec() }
}
