//! Quantization schemes: what the bytes of a `QFloat` payload mean.

use crate::dtype::PayloadLenError;

/// The quantized value's type. Names are those in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the format's own, and say their width")]
pub enum QuantValue {
    Q8F,
    E5M2,
    E4M3,
    Q4F,
    E2M1,
    Q2F,
    Q8S,
    Q4S,
    Q2S,
}

impl QuantValue {
    /// All values, in the format's order.
    pub const ALL: [Self; 9] = [
        Self::Q8F,
        Self::E5M2,
        Self::E4M3,
        Self::Q4F,
        Self::E2M1,
        Self::Q2F,
        Self::Q8S,
        Self::Q4S,
        Self::Q2S,
    ];

    /// Bits of one value.
    pub const fn bits(self) -> u64 {
        match self {
            Self::Q8F | Self::Q8S | Self::E4M3 | Self::E5M2 => 8,
            Self::Q4F | Self::Q4S | Self::E2M1 => 4,
            Self::Q2F | Self::Q2S => 2,
        }
    }

    /// The name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Q8F => "Q8F",
            Self::E5M2 => "E5M2",
            Self::E4M3 => "E4M3",
            Self::Q4F => "Q4F",
            Self::E2M1 => "E2M1",
            Self::Q2F => "Q2F",
            Self::Q8S => "Q8S",
            Self::Q4S => "Q4S",
            Self::Q2S => "Q2S",
        }
    }
}

/// How values are stored; a packed dimension counts from the innermost, which is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuantStore {
    /// One byte a value, whatever its width.
    Native,
    /// Values share a native unit (two E2M1 in a byte).
    PackedNative(u64),
    /// Values share little-endian 32-bit words.
    PackedU32(u64),
}

/// How a scale maps values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuantMode {
    /// `x = scale · q`.
    Symmetric,
    /// A table; never travels as a tensor.
    Lookup,
}

impl QuantMode {
    /// The name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Symmetric => "Symmetric",
            Self::Lookup => "Lookup",
        }
    }
}

/// The type of a scale. Names are those in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the format's own")]
pub enum ScaleDType {
    F32,
    F16,
    BF16,
    UE8M0,
    UE4M3,
}

impl ScaleDType {
    /// All scale types, in the format's order.
    pub const ALL: [Self; 5] = [Self::F32, Self::F16, Self::BF16, Self::UE8M0, Self::UE4M3];

    /// Bytes of one scale.
    pub const fn size(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::BF16 => 2,
            Self::UE8M0 | Self::UE4M3 => 1,
        }
    }

    /// The name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::BF16 => "BF16",
            Self::UE8M0 => "UE8M0",
            Self::UE4M3 => "UE4M3",
        }
    }
}

/// A block's extents as the file holds them: five bytes, the first `len` in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockSize {
    /// The extents; unused ones are 1 in a canonical file.
    pub storage: [u8; 5],
    /// How many are in use. A file can hold any value here; over 5 is refused when the tensor is asked for.
    pub len: u8,
}

impl BlockSize {
    /// A block of these extents, leading 1s dropped, as Burn does; `None` for more than five. So a block of
    /// single values has no extents at all.
    pub fn new(extents: &[u8]) -> Option<Self> {
        let lead = extents.iter().take_while(|&&extent| extent == 1).count();
        let extents = &extents[lead..];
        let mut storage = [1; 5];
        storage.get_mut(..extents.len())?.copy_from_slice(extents);
        Some(Self { storage, len: extents.len() as u8 })
    }

    /// The extents in use; `None` when `len` is over 5.
    pub fn extents(&self) -> Option<&[u8]> {
        self.storage.get(..usize::from(self.len))
    }
}

/// The block level of a scheme: one scale a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockScale {
    /// Extents, aligned to the last dimensions.
    pub size: BlockSize,
    /// Type of each block's scale.
    pub dtype: ScaleDType,
}

/// A quantization scheme, with the file's five entries.
///
/// ```
/// use burnpy_buffer::{QuantScheme, QuantStore, QuantValue};
/// let scheme = QuantScheme { value: QuantValue::Q4F, ..QuantScheme::default() };
/// assert_eq!(scheme.payload_len(&[3, 3]), Ok(3 * 4 + 4)); // each row fills one 32-bit word
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QuantScheme {
    /// Type of the values.
    pub value: QuantValue,
    /// How they are stored.
    pub store: QuantStore,
    /// How they are scaled.
    pub mode: QuantMode,
    /// Type of the scale of the whole tensor, if there is one.
    pub tensor: Option<ScaleDType>,
    /// The block level, if there is one.
    pub block: Option<BlockScale>,
}

impl Default for QuantScheme {
    fn default() -> Self {
        Self {
            value: QuantValue::Q8F,
            store: QuantStore::PackedU32(0),
            mode: QuantMode::Symmetric,
            tensor: None,
            block: None,
        }
    }
}

impl QuantScheme {
    /// Bytes of a payload of this shape: values, then block scales, then the tensor's scale.
    ///
    /// # Errors
    /// [`PayloadLenError::Scheme`] for a block of more than five extents or an extent of 0, or a packed
    /// dimension that the shape does not have; [`PayloadLenError::Overflow`].
    pub fn payload_len(&self, shape: &[u64]) -> Result<u64, PayloadLenError> {
        let values = self.stored_values(shape)?.checked_mul(self.stored_bits().div_ceil(8));
        let scales = self.scale_count(shape)?.checked_mul(self.scale_dtype().size());
        let global = match (self.tensor, self.block) {
            (Some(dtype), Some(_)) => dtype.size(),
            _ => 0,
        };
        values
            .zip(scales)
            .and_then(|(values, scales)| values.checked_add(scales)?.checked_add(global))
            .ok_or(PayloadLenError::Overflow)
    }

    /// Bits of one stored unit: a value, a packed native unit or a word.
    const fn stored_bits(&self) -> u64 {
        match (self.store, self.value) {
            (QuantStore::PackedU32(_), _) => 32,
            (QuantStore::PackedNative(_), QuantValue::E2M1) => 8,
            _ => self.value.bits(),
        }
    }

    fn stored_values(&self, shape: &[u64]) -> Result<u64, PayloadLenError> {
        let group = self.stored_bits() / self.value.bits();
        let packed = match self.store {
            QuantStore::PackedNative(dim) | QuantStore::PackedU32(dim) => Some(dim),
            QuantStore::Native => None,
        };
        let Some(dim) = packed.filter(|_| !shape.is_empty()) else {
            return Ok(product(shape.iter().copied())?.div_ceil(group));
        };
        let axis =
            u64::try_from(shape.len() - 1).ok().and_then(|last| last.checked_sub(dim)).ok_or_else(|| {
                PayloadLenError::Scheme(format!("packed dimension {dim} is outside of rank {}", shape.len()))
            })?;
        product(shape.iter().zip(0u64..).map(|(&n, i)| if i == axis { n.div_ceil(group) } else { n }))
    }

    fn scale_count(&self, shape: &[u64]) -> Result<u64, PayloadLenError> {
        let Some(block) = self.block else { return Ok(1) };
        let extents = block.size.extents().ok_or_else(|| {
            PayloadLenError::Scheme(format!("a block has {} extents; at most 5 are possible", block.size.len))
        })?;
        if extents.contains(&0) {
            return Err(PayloadLenError::Scheme(format!("a block of {extents:?} has an extent of 0")));
        }
        let padded = std::iter::repeat_n(&1u8, shape.len().saturating_sub(extents.len())).chain(
            // Right-aligned to the shape; extents before its first dimension have nothing to divide.
            &extents[extents.len().saturating_sub(shape.len())..],
        );
        product(shape.iter().zip(padded).map(|(&n, &extent)| n.div_ceil(u64::from(extent))))
    }

    fn scale_dtype(&self) -> ScaleDType {
        match (self.block, self.tensor) {
            (Some(block), _) => block.dtype,
            (None, Some(dtype)) => dtype,
            (None, None) => ScaleDType::F32,
        }
    }
}

fn product(dims: impl Iterator<Item = u64>) -> Result<u64, PayloadLenError> {
    dims.into_iter().try_fold(1u64, u64::checked_mul).ok_or(PayloadLenError::Overflow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheme(value: QuantValue, store: QuantStore) -> QuantScheme {
        QuantScheme { value, store, ..QuantScheme::default() }
    }

    fn blocks(extents: &[u8], dtype: ScaleDType) -> Option<BlockScale> {
        Some(BlockScale { size: BlockSize::new(extents).unwrap(), dtype })
    }

    #[test]
    fn payload_lengths_are_values_then_block_scales_then_the_tensors_scale() {
        use QuantStore::{Native, PackedNative, PackedU32};
        use QuantValue::{E2M1, Q2F, Q4F, Q4S, Q8F, Q8S};
        let native = scheme(Q8S, Native);
        let cases: [(&str, QuantScheme, &[u64], u64); 17] = [
            ("four in a word", scheme(Q8F, PackedU32(0)), &[4], 4 + 4),
            ("five in two words", scheme(Q8F, PackedU32(0)), &[5], 8 + 4),
            ("a word a row", scheme(Q4F, PackedU32(0)), &[3, 3], 12 + 4),
            ("packed along the other axis", scheme(Q4F, PackedU32(1)), &[9, 3], 2 * 3 * 4 + 4),
            ("one value", scheme(Q4F, PackedU32(0)), &[], 4 + 4),
            ("a byte a value", native, &[2, 3], 6 + 4),
            ("a byte a value of 4 bits", scheme(Q4S, Native), &[2, 3], 6 + 4),
            ("a byte a value of 2 bits", scheme(Q2F, Native), &[3], 3 + 4),
            ("two E2M1 in a byte, by row", scheme(E2M1, PackedNative(0)), &[2, 3], 4 + 4),
            ("nothing else is packed in a byte", scheme(Q4S, PackedNative(0)), &[2, 3], 6 + 4),
            ("no values", native, &[0, 5], 4),
            ("f16 scale", QuantScheme { tensor: Some(ScaleDType::F16), ..native }, &[8], 8 + 2),
            ("UE8M0 blocks", QuantScheme { block: blocks(&[4], ScaleDType::UE8M0), ..native }, &[8], 8 + 2),
            (
                "a block of one value, which has no extents",
                QuantScheme { block: blocks(&[1], ScaleDType::BF16), ..native },
                &[8, 4],
                32 + 32 * 2,
            ),
            (
                "two levels",
                QuantScheme {
                    tensor: Some(ScaleDType::F32),
                    block: blocks(&[4], ScaleDType::UE4M3),
                    ..native
                },
                &[8],
                8 + 2 + 4,
            ),
            (
                "two levels, BF16",
                QuantScheme {
                    tensor: Some(ScaleDType::BF16),
                    block: blocks(&[4], ScaleDType::UE4M3),
                    ..native
                },
                &[8],
                8 + 2 + 2,
            ),
            (
                "blocks are aligned to the last axes, parts count whole",
                QuantScheme { block: blocks(&[2, 4], ScaleDType::F32), ..native },
                &[3, 5, 9],
                135 + 3 * 3 * 3 * 4,
            ),
        ];
        for (name, scheme, shape, expected) in cases {
            assert_eq!(scheme.payload_len(shape), Ok(expected), "{name}");
        }
    }

    #[test]
    fn impossible_schemes_say_what_is_wrong() {
        let block = |storage, len| {
            let size = BlockSize { storage, len };
            QuantScheme { block: Some(BlockScale { size, dtype: ScaleDType::F32 }), ..Default::default() }
        };
        let cases = [
            (block([1; 5], 6), "a block has 6 extents; at most 5 are possible"),
            (block([4, 0, 1, 1, 1], 2), "a block of [4, 0] has an extent of 0"),
            (scheme(QuantValue::Q4F, QuantStore::PackedU32(2)), "packed dimension 2 is outside of rank 2"),
        ];
        for (scheme, message) in cases {
            assert_eq!(scheme.payload_len(&[8, 8]), Err(PayloadLenError::Scheme(message.into())));
        }
    }

    #[test]
    fn lengths_over_64_bits_are_an_overflow() {
        let native = scheme(QuantValue::Q8S, QuantStore::Native);
        assert_eq!(native.payload_len(&[1 << 33, 1 << 33]), Err(PayloadLenError::Overflow));
        // The values alone would fit; the scale does not.
        assert_eq!(native.payload_len(&[u64::MAX]), Err(PayloadLenError::Overflow));
    }

    #[test]
    fn a_new_block_drops_leading_ones() {
        assert_eq!(BlockSize::new(&[1, 1, 32]).unwrap().extents(), Some(&[32][..]));
        assert_eq!(BlockSize::new(&[1]).unwrap(), BlockSize { storage: [1; 5], len: 0 });
        assert_eq!(BlockSize::new(&[2, 3, 4, 5, 6, 7]), None);
        assert_eq!(BlockSize { storage: [1; 5], len: 6 }.extents(), None);
    }

    #[test]
    fn names_are_those_of_the_variants() {
        assert!(QuantValue::ALL.iter().all(|value| format!("{value:?}") == value.name()));
        assert!(ScaleDType::ALL.iter().all(|dtype| format!("{dtype:?}") == dtype.name()));
        assert_eq!(QuantMode::Symmetric.name(), "Symmetric");
        assert_eq!(QuantMode::Lookup.name(), "Lookup");
    }
}
