//! Element types of safetensors 0.8.

/// The element type of a tensor, named as in the file. The order is the format's: a file lists wide types first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, non_camel_case_types, reason = "the names are the format's own")]
pub enum Dtype {
    BOOL,
    F4,
    F6_E2M3,
    F6_E3M2,
    U8,
    I8,
    F8_E5M2,
    F8_E4M3,
    F8_E8M0,
    F8_E4M3FNUZ,
    F8_E5M2FNUZ,
    I16,
    U16,
    F16,
    BF16,
    I32,
    U32,
    F32,
    C64,
    F64,
    I64,
    U64,
}

/// Dtype, its name in the file, bits of an element, and the name that burnpy gives it.
const TABLE: [(Dtype, &str, u64, &str); 22] = [
    (Dtype::BOOL, "BOOL", 8, "bool"),
    (Dtype::F4, "F4", 4, "f4e2m1fn"),
    (Dtype::F6_E2M3, "F6_E2M3", 6, "f6e2m3fn"),
    (Dtype::F6_E3M2, "F6_E3M2", 6, "f6e3m2fn"),
    (Dtype::U8, "U8", 8, "u8"),
    (Dtype::I8, "I8", 8, "i8"),
    (Dtype::F8_E5M2, "F8_E5M2", 8, "f8e5m2"),
    (Dtype::F8_E4M3, "F8_E4M3", 8, "f8e4m3fn"),
    (Dtype::F8_E8M0, "F8_E8M0", 8, "f8e8m0fnu"),
    (Dtype::F8_E4M3FNUZ, "F8_E4M3FNUZ", 8, "f8e4m3fnuz"),
    (Dtype::F8_E5M2FNUZ, "F8_E5M2FNUZ", 8, "f8e5m2fnuz"),
    (Dtype::I16, "I16", 16, "i16"),
    (Dtype::U16, "U16", 16, "u16"),
    (Dtype::F16, "F16", 16, "f16"),
    (Dtype::BF16, "BF16", 16, "bf16"),
    (Dtype::I32, "I32", 32, "i32"),
    (Dtype::U32, "U32", 32, "u32"),
    (Dtype::F32, "F32", 32, "f32"),
    (Dtype::C64, "C64", 64, "c64"),
    (Dtype::F64, "F64", 64, "f64"),
    (Dtype::I64, "I64", 64, "i64"),
    (Dtype::U64, "U64", 64, "u64"),
];

impl Dtype {
    /// The name in the file.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Bits of one element; 4 and 6 are packed without gaps.
    pub fn bits(self) -> u64 {
        self.row().2
    }

    /// The name that burnpy uses for it elsewhere: `f32`, `bf16`, `f8e4m3fn`, …
    pub fn text(self) -> &'static str {
        self.row().3
    }

    /// The dtype of a file's name.
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The dtype of burnpy's name.
    pub fn from_text(text: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.3 == text).map(|row| row.0)
    }

    fn row(self) -> &'static (Self, &'static str, u64, &'static str) {
        // The table is in the order of the enum; a test holds it there.
        &TABLE[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.0 as usize, index);
            assert_eq!(Dtype::from_name(row.1), Some(row.0));
            assert_eq!(Dtype::from_text(row.3), Some(row.0));
        }
    }
}
