//! Element types of other formats, by the text form that all of burnpy uses.

use crate::dtype::Element;

/// An element type of a foreign checkpoint.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ForeignDType {
    /// The text form.
    pub(crate) name: &'static str,
    /// Bits of one element.
    pub(crate) bits: u64,
    /// What it is in NumPy; `None` where elements are packed, so that an array of them is their bytes in a row.
    pub(crate) element: Option<Element>,
    /// The attribute of `torch` that NumPy or DLPack cannot tell torch of.
    pub(crate) torch: Option<&'static str>,
}

const fn plain(name: &'static str, bits: u64, element: Element) -> ForeignDType {
    ForeignDType { name, bits, element: Some(element), torch: None }
}

const fn by_name(
    name: &'static str,
    bits: u64,
    element: Option<Element>,
    torch: &'static str,
) -> ForeignDType {
    ForeignDType { name, bits, element, torch: Some(torch) }
}

const fn packed(name: &'static str, bits: u64) -> ForeignDType {
    ForeignDType { name, bits, element: None, torch: None }
}

static TABLE: [ForeignDType; 25] = [
    plain("f64", 64, Element::F64),
    plain("f32", 32, Element::F32),
    plain("f16", 16, Element::F16),
    plain("bf16", 16, Element::BF16),
    plain("i64", 64, Element::I64),
    plain("i32", 32, Element::I32),
    plain("i16", 16, Element::I16),
    plain("i8", 8, Element::I8),
    plain("u64", 64, Element::U64),
    plain("u32", 32, Element::U32),
    plain("u16", 16, Element::U16),
    plain("u8", 8, Element::U8),
    plain("bool", 8, Element::Bool),
    plain("c64", 64, Element::C64),
    plain("c128", 128, Element::C128),
    by_name("f8e4m3fn", 8, Some(Element::F8E4M3FN), "float8_e4m3fn"),
    by_name("f8e5m2", 8, Some(Element::F8E5M2), "float8_e5m2"),
    by_name("f8e4m3fnuz", 8, Some(Element::F8E4M3FNUZ), "float8_e4m3fnuz"),
    by_name("f8e5m2fnuz", 8, Some(Element::F8E5M2FNUZ), "float8_e5m2fnuz"),
    by_name("f8e8m0fnu", 8, Some(Element::F8E8M0FNU), "float8_e8m0fnu"),
    by_name("f4e2m1fn_x2", 8, None, "float4_e2m1fn_x2"),
    by_name("c32", 32, None, "complex32"),
    packed("f4e2m1fn", 4),
    packed("f6e2m3fn", 6),
    packed("f6e3m2fn", 6),
];

impl ForeignDType {
    /// The type of a text form.
    pub(crate) fn from_name(name: &str) -> Option<&'static Self> {
        TABLE.iter().find(|dtype| dtype.name == name)
    }

    /// Bytes of so many elements, as far as a number holds them.
    pub(crate) fn byte_len(&self, num_elements: u64) -> u64 {
        match self.bits % 8 {
            0 => num_elements.saturating_mul(self.bits / 8),
            _ => num_elements.saturating_mul(self.bits).div_ceil(8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_the_other_formats_is_known() {
        for name in ["f32", "f8e8m0fnu", "f4e2m1fn_x2", "c32", "f6e3m2fn"] {
            assert_eq!(ForeignDType::from_name(name).map(|dtype| dtype.name), Some(name));
        }
    }

    #[test]
    fn elements_are_as_long_in_numpy_as_in_the_file() {
        for dtype in &TABLE {
            if let Some(element) = dtype.element {
                assert_eq!(element.size() as u64 * 8, dtype.bits, "{}", dtype.name);
            }
        }
    }
}
