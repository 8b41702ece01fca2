//! What a container's dtype is in NumPy and in DLPack.

use burnpy_buffer::{BoolStore, DType};
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The element types that arrays have; flex32 is float32 there, a bool of four bytes uint32, and the payload of a
/// quantized tensor plain bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
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
}

impl Element {
    pub(crate) const COUNT: usize = Self::Bool as usize + 1;

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
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F16 | Self::BF16 | Self::I16 | Self::U16 => 2,
            Self::I8 | Self::U8 | Self::Bool => 1,
        }
    }

    /// DLPack's code of the kind.
    pub(crate) const fn dlpack_code(self) -> u8 {
        match self {
            Self::I64 | Self::I32 | Self::I16 | Self::I8 => 0,
            Self::U64 | Self::U32 | Self::U16 | Self::U8 => 1,
            Self::F64 | Self::F32 | Self::F16 => 2,
            Self::BF16 => 4,
            Self::Bool => 6,
        }
    }

    /// NumPy's dtype, made once. `ml_dtypes` is imported when the first bf16 comes.
    pub(crate) fn descr(self, py: Python<'_>) -> PyResult<&Bound<'_, PyArrayDescr>> {
        static DESCRS: [PyOnceLock<Py<PyArrayDescr>>; Element::COUNT] =
            [const { PyOnceLock::new() }; Element::COUNT];
        let descr = DESCRS[self as usize].get_or_try_init(py, || match self.numpy_name() {
            Some(name) => PyArrayDescr::new(py, name).map(Bound::unbind),
            None => PyArrayDescr::new(py, py.import("ml_dtypes")?.getattr("bfloat16")?).map(Bound::unbind),
        })?;
        Ok(descr.bind(py))
    }

    const fn numpy_name(self) -> Option<&'static str> {
        Some(match self {
            Self::F64 => "float64",
            Self::F32 => "float32",
            Self::F16 => "float16",
            Self::BF16 => return None,
            Self::I64 => "int64",
            Self::I32 => "int32",
            Self::I16 => "int16",
            Self::I8 => "int8",
            Self::U64 => "uint64",
            Self::U32 => "uint32",
            Self::U16 => "uint16",
            Self::U8 => "uint8",
            Self::Bool => "bool",
        })
    }
}

/// The shape of the array that a payload becomes: its own, or bytes in a row for a quantized tensor.
pub(crate) fn array_shape(dtype: DType, shape: &[u64], byte_len: u64) -> Vec<u64> {
    if matches!(dtype, DType::QFloat(_)) { vec![byte_len] } else { shape.to_vec() }
}
