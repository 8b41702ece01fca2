//! Quantized floats: stored as their scheme says, and dequantized when they are used.

use burnpy_buffer::{DType, QuantScheme, QuantStore, QuantValue, ScaleDType};
use half::{bf16, f16};

use crate::error::{Error, Result};
use crate::value::Value;

/// The numbers of a quantized value in f32: `x = (global · block scale) · q`, absent factors left out.
///
/// # Errors
/// `DType` if it is not quantized, or its scheme has no numbers (a lookup table never travels with a tensor).
pub(crate) fn dequantize(value: &Value) -> Result<Value> {
    let DType::QFloat(scheme) = value.dtype() else {
        return Err(Error::dtype("dequantize", format_args!("{} is not quantized", value.dtype().name())));
    };
    if scheme.mode != burnpy_buffer::QuantMode::Symmetric {
        return Err(Error::dtype("dequantize", format_args!("mode {} has no scales", scheme.mode.name())));
    }
    let payload = Payload::new(&scheme, value)?;
    Value::build(value.shape(), |out: &mut [f32]| payload.write(out))
}

/// A payload cut into its parts.
struct Payload<'a> {
    values: Packed<'a>,
    scales: Vec<f32>,
    global: Option<f32>,
    grid: Grid,
}

impl<'a> Payload<'a> {
    fn new(scheme: &QuantScheme, value: &'a Value) -> Result<Self> {
        let shape = value.shape();
        let grid = Grid::new(scheme, shape);
        let (scale_dtype, global_dtype) = match (scheme.block, scheme.tensor) {
            (Some(block), global) => (block.dtype, global),
            (None, Some(dtype)) => (dtype, None),
            (None, None) => (ScaleDType::F32, None),
        };
        let bytes: &[u8] = value.bytes();
        let global_len = global_dtype.map_or(0, |dtype| dtype.size() as usize);
        let scales_len = grid.count() * scale_dtype.size() as usize;
        // The length was checked against the scheme when the value was made.
        let values_len = bytes.len().checked_sub(global_len + scales_len);
        let (values, rest) = bytes.split_at(values_len.ok_or_else(|| too_short(bytes.len()))?);
        let (scales, global) = rest.split_at(scales_len);
        let scales =
            scales.chunks_exact(scale_dtype.size() as usize).map(|scale| decode_scale(scale_dtype, scale));
        let global = global_dtype.map(|dtype| decode_scale(dtype, global));
        Ok(Self { values: Packed::new(scheme, shape, values), scales: scales.collect(), global, grid })
    }

    fn write(&self, out: &mut [f32]) {
        let mut index = vec![0; self.grid.shape.len()];
        for (i, out) in out.iter_mut().enumerate() {
            let scale = self.scales[self.grid.block_of(&index)];
            let scale = self.global.map_or(scale, |global| global * scale);
            *out = scale * self.values.get(i, &index);
            self.grid.advance(&mut index);
        }
    }
}

fn too_short(len: usize) -> Error {
    Error::shape("dequantize", format_args!("a payload of {len} bytes is shorter than its scales"))
}

/// The blocks of a tensor, each with a scale of its own.
struct Grid {
    shape: Vec<usize>,
    extents: Vec<usize>,
    blocks: Vec<usize>,
}

impl Grid {
    fn new(scheme: &QuantScheme, shape: &[usize]) -> Self {
        let whole = scheme.block.is_none();
        let given = scheme.block.as_ref().and_then(|block| block.size.extents()).unwrap_or(&[]);
        let given = &given[given.len().saturating_sub(shape.len())..];
        let lead = shape.len() - given.len();
        let extents: Vec<usize> = (0..shape.len())
            .map(|axis| match axis.checked_sub(lead) {
                _ if whole => shape[axis].max(1),
                Some(i) => usize::from(given[i]).max(1),
                None => 1,
            })
            .collect();
        let blocks = shape.iter().zip(&extents).map(|(&size, &extent)| size.div_ceil(extent)).collect();
        Self { shape: shape.to_vec(), extents, blocks }
    }

    fn count(&self) -> usize {
        if self.shape.contains(&0) && self.extents == self.shape { 1 } else { self.blocks.iter().product() }
    }

    fn block_of(&self, index: &[usize]) -> usize {
        let axes = index.iter().zip(&self.extents).zip(&self.blocks);
        axes.fold(0, |block, ((&i, &extent), &count)| block * count + i / extent)
    }

    fn advance(&self, index: &mut [usize]) {
        for (i, &size) in index.iter_mut().zip(&self.shape).rev() {
            *i += 1;
            if *i < size {
                return;
            }
            *i = 0;
        }
    }
}

/// Values as they are stored.
struct Packed<'a> {
    bytes: &'a [u8],
    value: QuantValue,
    /// Bytes of a unit, and how many values it holds.
    unit: usize,
    group: usize,
    /// The axis along which values share units, and the sizes of the stored axes; none for a flat order.
    packed: Option<(usize, Vec<usize>)>,
}

impl<'a> Packed<'a> {
    fn new(scheme: &QuantScheme, shape: &[usize], bytes: &'a [u8]) -> Self {
        let bits = scheme.value.bits() as usize;
        let (unit_bits, dim) = match (scheme.store, scheme.value) {
            (QuantStore::PackedU32(dim), _) => (32, Some(dim)),
            (QuantStore::PackedNative(dim), QuantValue::E2M1) => (8, Some(dim)),
            (QuantStore::PackedNative(_) | QuantStore::Native, _) => (bits, None),
        };
        let group = unit_bits / bits;
        let axis = dim.and_then(|dim| shape.len().checked_sub(1 + dim as usize));
        let packed = axis.filter(|_| group > 1).map(|axis| {
            let mut stored = shape.to_vec();
            stored[axis] = stored[axis].div_ceil(group);
            (axis, stored)
        });
        Self { bytes, value: scheme.value, unit: unit_bits.div_ceil(8), group, packed }
    }

    /// The value at a position: element `flat` in row-major order, at `index`.
    fn get(&self, flat: usize, index: &[usize]) -> f32 {
        let (unit, slot) = match &self.packed {
            None => (flat / self.group, flat % self.group),
            Some((packed, stored)) => {
                let place =
                    |axis: usize| if axis == *packed { index[axis] / self.group } else { index[axis] };
                let unit = stored.iter().enumerate().fold(0, |unit, (axis, &size)| unit * size + place(axis));
                (unit, index[*packed] % self.group)
            }
        };
        let bytes = &self.bytes[unit * self.unit..(unit + 1) * self.unit];
        let word = bytes.iter().rev().fold(0u32, |word, &byte| word << 8 | u32::from(byte));
        decode_value(self.value, word >> (slot * self.value.bits() as usize), self.group > 1)
    }
}

/// `bits` holds the value in its lowest bits. Values that share a unit are as wide as their type says; alone in a
/// byte, integers fill it.
fn decode_value(value: QuantValue, bits: u32, shares: bool) -> f32 {
    let signed = |width: u32| f32::from(((bits << (32 - width)) as i32 >> (32 - width)) as i8);
    match value {
        QuantValue::Q8F | QuantValue::Q8S => signed(8),
        QuantValue::Q4F | QuantValue::Q4S => signed(if shares { 4 } else { 8 }),
        QuantValue::Q2F | QuantValue::Q2S => signed(if shares { 2 } else { 8 }),
        QuantValue::E4M3 => e4m3(bits as u8),
        QuantValue::E5M2 => f16::from_bits((bits as u16) << 8).to_f32(),
        QuantValue::E2M1 => {
            let magnitude = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][(bits & 7) as usize];
            if bits & 8 == 0 { magnitude } else { -magnitude }
        }
    }
}

/// Sign, four bits of exponent (bias 7), three of fraction; no infinities, all ones is NaN.
fn e4m3(bits: u8) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 3 & 15), f32::from(bits & 7));
    let magnitude = match (exponent, bits & 7) {
        (15, 7) => f32::NAN,
        (0, _) => fraction / 8.0 * 2f32.powi(-6),
        _ => (1.0 + fraction / 8.0) * 2f32.powi(exponent - 7),
    };
    if bits & 0x80 == 0 { magnitude } else { -magnitude }
}

fn decode_scale(dtype: ScaleDType, bytes: &[u8]) -> f32 {
    match (dtype, bytes) {
        (ScaleDType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
        (ScaleDType::F16, &[a, b]) => f16::from_le_bytes([a, b]).to_f32(),
        (ScaleDType::BF16, &[a, b]) => bf16::from_le_bytes([a, b]).to_f32(),
        // The exponent of a power of two; 0 is the smallest, below the normal numbers.
        (ScaleDType::UE8M0, &[255]) => f32::NAN,
        (ScaleDType::UE8M0, &[0]) => f32::from_bits(1 << 22),
        (ScaleDType::UE8M0, &[code]) => f32::from_bits(u32::from(code) << 23),
        (ScaleDType::UE4M3, &[code]) => e4m3(code),
        _ => f32::NAN,
    }
}

#[cfg(test)]
mod tests {
    use burnpy_buffer::{BlockScale, BlockSize, Bytes, Layout};

    use super::*;

    const NATIVE: QuantScheme = QuantScheme {
        value: QuantValue::Q8S,
        store: QuantStore::Native,
        mode: burnpy_buffer::QuantMode::Symmetric,
        tensor: None,
        block: None,
    };

    fn numbers(scheme: QuantScheme, shape: &[usize], payload: &[&[u8]]) -> Vec<f32> {
        let bytes = Bytes::from(payload.concat());
        let value = Value::new(bytes, DType::QFloat(scheme), Layout::contiguous(shape).unwrap()).unwrap();
        dequantize(&value).unwrap().as_slice::<f32>().unwrap().to_vec()
    }

    #[test]
    fn one_scale_multiplies_all_values() {
        let scale = 0.5f32.to_le_bytes();
        assert_eq!(numbers(NATIVE, &[2, 2], &[&[0, 2, 127, 0x81], &scale]), [0.0, 1.0, 63.5, -63.5]);
        assert_eq!(numbers(NATIVE, &[0, 2], &[&scale]), [0.0; 0]);
    }

    #[test]
    fn quantized_floats_go_with_floats_of_any_width_that_are_computed_in_single_precision() {
        let bytes = [&[2u8, 4][..], &0.5f32.to_le_bytes()].concat();
        let layout = burnpy_buffer::Layout::contiguous([2]).unwrap();
        let q = crate::Tensor::from(Value::new(bytes.into(), DType::QFloat(NATIVE), layout).unwrap());
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            let x = crate::Tensor::ones(&[2], dtype).unwrap();
            for sum in [x.add(&q).unwrap(), q.add(&x).unwrap()] {
                assert_eq!((sum.dtype(), super::super::check::doubles(sum.value())), (dtype, vec![2.0, 3.0]));
            }
        }
        assert_eq!(q.add(&q).unwrap().dtype(), DType::F32);
    }

    #[test]
    fn packed_values_share_words_line_by_line() {
        let scheme = QuantScheme { store: QuantStore::PackedU32(0), ..NATIVE };
        let words = [2147287680u32, 55].map(u32::to_le_bytes).concat();
        let scale = 1f32.to_le_bytes();
        assert_eq!(numbers(scheme, &[5], &[&words, &scale]), [-128.0, 2.0, -3.0, 127.0, 55.0]);
        let nibbles = QuantScheme { value: QuantValue::Q4F, ..scheme };
        let rows = [0x0000_0f87u32, 0x0000_0321].map(u32::to_le_bytes).concat();
        assert_eq!(numbers(nibbles, &[2, 3], &[&rows, &scale]), [7.0, -8.0, -1.0, 1.0, 2.0, 3.0]);
        let along_first = QuantScheme { store: QuantStore::PackedU32(1), ..nibbles };
        let columns = [0x21u32, 0x43, 0x65].map(u32::to_le_bytes).concat();
        assert_eq!(numbers(along_first, &[2, 3], &[&columns, &scale]), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    }

    #[test]
    fn blocks_have_scales_of_their_own_and_a_common_one() {
        let block = |dtype| Some(BlockScale { size: BlockSize::new(&[4]).unwrap(), dtype });
        let one_level = QuantScheme { block: block(ScaleDType::UE8M0), ..NATIVE };
        let values = [1u8, 2, 3, 4, 1, 2, 3, 4];
        let expected = [0.25, 0.5, 0.75, 1.0, 8.0, 16.0, 24.0, 32.0];
        assert_eq!(numbers(one_level, &[8], &[&values, &[125, 130]]), expected);
        let two_levels =
            QuantScheme { block: block(ScaleDType::UE4M3), tensor: Some(ScaleDType::F32), ..NATIVE };
        let found = numbers(two_levels, &[8], &[&values, &[0x30, 0x20], &2f32.to_le_bytes()]);
        assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 0.25, 0.5, 0.75, 1.0]);
    }

    #[test]
    fn small_floats_are_decoded() {
        let codes: Vec<f32> = (0..16).map(|bits| decode_value(QuantValue::E2M1, bits, true)).collect();
        assert_eq!(codes[..8], [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
        assert_eq!((codes[9], e4m3(0x7e), e4m3(0xfe), e4m3(1)), (-0.5, 448.0, -448.0, 2f32.powi(-9)));
        assert!(e4m3(0x7f).is_nan());
        assert_eq!(decode_value(QuantValue::E5M2, 0x7b, false), 57344.0);
        assert_eq!(decode_scale(ScaleDType::UE8M0, &[0]), 2f32.powi(-127));
    }
}
