//! The names of dtypes in the file, for those that are a name and nothing else.

use burnpy_buffer::DType;

const PLAIN_NAMES: [(&[u8], DType); 13] = [
    (b"F32", DType::F32),
    (b"F16", DType::F16),
    (b"BF16", DType::BF16),
    (b"F64", DType::F64),
    (b"I64", DType::I64),
    (b"I32", DType::I32),
    (b"I16", DType::I16),
    (b"I8", DType::I8),
    (b"U64", DType::U64),
    (b"U32", DType::U32),
    (b"U16", DType::U16),
    (b"U8", DType::U8),
    (b"Flex32", DType::Flex32),
];

/// The dtype of a name.
pub(crate) fn plain_dtype(name: &[u8]) -> Option<DType> {
    PLAIN_NAMES.iter().find(|(text, _)| *text == name).map(|&(_, dtype)| dtype)
}

/// The name of a dtype; `None` for those with a payload, `Bool` and `QFloat`.
pub(crate) fn plain_name(dtype: DType) -> Option<&'static [u8]> {
    PLAIN_NAMES.iter().find(|(_, plain)| *plain == dtype).map(|&(name, _)| name)
}
