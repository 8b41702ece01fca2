//! What a pickle holds, as plain data: an arena of values that refer to each other by number.
//!
//! References are numbers, not owners, so a container that holds itself leaks nothing, and dropping a list of
//! a million nested lists is one loop. A value that two places share is one value, as it is in Python.

use std::sync::Arc;

use crate::bigint::BigInt;
use crate::dtype::DType;
use crate::leaf::Scalar;
use crate::storage::{BlobData, StorageRef};
use crate::tensor::TensorValue;

/// A value's place in its [`Arena`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub(crate) u32);

/// One value of a pickle. Containers hold [`ValueId`]s; who walks them bounds depth and cycles.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// `None`.
    None,
    /// A boolean.
    Bool(bool),
    /// An integer that fits.
    Int(i64),
    /// Any other integer.
    BigInt(Box<BigInt>),
    /// A float.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(Box<[f64; 2]>),
    /// A string. Lone surrogates, which Python allows, became U+FFFD.
    Text(Box<str>),
    /// A string over 1 MiB, left where it is.
    LongText(Box<LongText>),
    /// A `bytes` or `bytearray`.
    Bytes(Box<Blob>),
    /// A list.
    List(Vec<ValueId>),
    /// A tuple.
    Tuple(Box<[ValueId]>),
    /// A `torch.Size`.
    Size(Box<[ValueId]>),
    /// A set or frozenset.
    Set(Box<SetValue>),
    /// A `dict`, `OrderedDict`, `defaultdict` or `Counter`.
    Dict(Box<Dict>),
    /// A class or function: a name, never more.
    Global(Box<Global>),
    /// A storage, not yet part of a tensor.
    Storage(Box<StorageRef>),
    /// A tensor, parameter or NumPy array.
    Tensor(Box<TensorValue>),
    /// A `torch.device`, such as `cuda:0`.
    Device(Box<str>),
    /// A `numpy.dtype`.
    NumpyDType(Box<NumpyDType>),
    /// A NumPy scalar.
    NumpyScalar(Box<NumpyScalar>),
    /// Anything that Python would build by calling something: kept as data, never built.
    Object(Box<Object>),
}

/// A dict: pairs in file order, a key perhaps more than once (the last counts).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dict {
    /// Keys and values.
    pub entries: Vec<(ValueId, ValueId)>,
    /// Attributes set on the dict, such as `_metadata` of a `state_dict`.
    pub state: Option<ValueId>,
}

/// A set.
#[derive(Debug, Clone, PartialEq)]
pub struct SetValue {
    /// The members, in file order.
    pub items: Vec<ValueId>,
    /// Whether it is a `frozenset`.
    pub frozen: bool,
}

/// The name of a class or function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Global {
    /// The module, as in the file (old files say `__builtin__`).
    pub module: Box<str>,
    /// The name in it, perhaps with dots.
    pub name: Box<str>,
}

impl Global {
    /// Module and name, joined by a dot.
    pub fn qualified(&self) -> String {
        format!("{}.{}", self.module, self.name)
    }

    pub(crate) fn is(&self, module: &str, name: &str) -> bool {
        &*self.module == module && &*self.name == name
    }
}

/// What a call would have made, had it been made.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The class or function.
    pub class: Global,
    /// Its arguments: a tuple.
    pub args: ValueId,
    /// Its keyword arguments, a dict, where there are some.
    pub kwargs: Option<ValueId>,
    /// What would go to `__setstate__` or into `__dict__`.
    pub state: Option<ValueId>,
    /// What would be appended.
    pub items: Vec<ValueId>,
    /// What would be set by key.
    pub entries: Vec<(ValueId, ValueId)>,
}

impl Object {
    pub(crate) fn new(class: Global, args: ValueId) -> Self {
        Self { class, args, kwargs: None, state: None, items: Vec::new(), entries: Vec::new() }
    }
}

/// A `numpy.dtype`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumpyDType {
    /// The type string without byte order, such as `f4`, `O8` or `U12`.
    pub text: Box<str>,
    /// Whether elements are big-endian.
    pub big_endian: bool,
}

impl NumpyDType {
    /// The element type, unless it is one of objects, strings, dates or records.
    pub fn dtype(&self) -> Option<DType> {
        DType::from_numpy(&self.text).or_else(|| match &*self.text {
            "bfloat16" => Some(DType::BF16),
            "float8_e4m3fn" | "float8_e5m2" => DType::from_torch(&self.text),
            _ => None,
        })
    }
}

/// A NumPy scalar: its type and its bytes, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumpyScalar {
    /// The type.
    pub dtype: DType,
    /// The bytes; as many count as the type has.
    pub bytes: [u8; 16],
}

/// A long string.
#[derive(Debug, Clone, PartialEq)]
pub struct LongText {
    /// Its UTF-8 bytes.
    pub blob: Blob,
    /// How many characters there are, if Latin-1 has them all: such a string may be bytes in disguise.
    pub(crate) latin1_len: Option<usize>,
}

impl LongText {
    pub(crate) fn new(text: &str, blob: Blob) -> Self {
        let latin1 = text.chars().all(|c| u32::from(c) < 256);
        Self { blob, latin1_len: latin1.then(|| text.chars().count()) }
    }
}

impl NumpyScalar {
    /// The value as a plain scalar: narrow numbers are widened, which is exact.
    pub fn value(&self) -> Scalar {
        let [a, b, c, d, e, f, g, h, imaginary @ ..] = self.bytes;
        let wide = [a, b, c, d, e, f, g, h];
        let single = |bytes: [u8; 4]| f64::from(f32::from_le_bytes(bytes));
        match self.dtype {
            DType::F64 => Scalar::Float(f64::from_le_bytes(wide)),
            DType::F32 => Scalar::Float(single([a, b, c, d])),
            DType::BF16 => Scalar::Float(single([0, 0, a, b])),
            DType::F16 => Scalar::Float(half(u16::from_le_bytes([a, b]))),
            DType::I64 => Scalar::Int(i64::from_le_bytes(wide)),
            DType::I32 => Scalar::Int(i64::from(i32::from_le_bytes([a, b, c, d]))),
            DType::I16 => Scalar::Int(i64::from(i16::from_le_bytes([a, b]))),
            DType::I8 => Scalar::Int(i64::from(i8::from_le_bytes([a]))),
            DType::U64 => unsigned(u64::from_le_bytes(wide)),
            DType::U32 => Scalar::Int(i64::from(u32::from_le_bytes([a, b, c, d]))),
            DType::U16 => Scalar::Int(i64::from(u16::from_le_bytes([a, b]))),
            DType::Bool => Scalar::Bool(a != 0),
            DType::C64 => Scalar::Complex(single([a, b, c, d]), single([e, f, g, h])),
            DType::C128 => Scalar::Complex(f64::from_le_bytes(wide), f64::from_le_bytes(imaginary)),
            // 8-bit floats as their bits.
            _ => Scalar::Int(i64::from(a)),
        }
    }
}

fn unsigned(int: u64) -> Scalar {
    i64::try_from(int).map_or_else(
        |_| Scalar::BigInt(BigInt::from_le_bytes(&[&int.to_le_bytes()[..], &[0]].concat())),
        Scalar::Int,
    )
}

/// The value of an IEEE half.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// Bytes that the file holds, or that had to be decoded.
#[derive(Debug, Clone, PartialEq)]
pub struct Blob {
    /// Where the bytes are.
    pub(crate) data: BlobData,
    /// How many bytes there are, once decoded.
    pub(crate) len: usize,
}

impl Blob {
    /// Bytes of its own.
    pub(crate) fn owned(bytes: &[u8]) -> Self {
        Self { data: BlobData::Owned(Arc::from(bytes)), len: bytes.len() }
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes, if they need no file: those up to 4 KiB. [`Checkpoint::blob`](crate::Checkpoint::blob)
    /// gives any.
    pub fn as_owned(&self) -> Option<&[u8]> {
        match &self.data {
            BlobData::Owned(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// All values of a checkpoint.
#[derive(Debug, Default)]
pub struct Arena {
    values: Vec<Value>,
}

impl Arena {
    /// The value with this number; `None` for a number of another arena.
    pub fn get(&self, id: ValueId) -> &Value {
        self.values.get(id.0 as usize).unwrap_or(&Value::None)
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Replaces a value: everybody who refers to it sees the new one.
    pub(crate) fn set(&mut self, id: ValueId, value: Value) {
        if let Some(place) = self.values.get_mut(id.0 as usize) {
            *place = value;
        }
    }

    pub(crate) fn get_mut(&mut self, id: ValueId) -> Option<&mut Value> {
        self.values.get_mut(id.0 as usize)
    }

    /// Adds a value; `None` when the numbers are used up.
    pub(crate) fn push(&mut self, value: Value) -> Option<ValueId> {
        let id = u32::try_from(self.values.len()).ok()?;
        self.values.push(value);
        Some(ValueId(id))
    }

    /// The text of a string value.
    pub(crate) fn text(&self, id: ValueId) -> Option<&str> {
        match self.get(id) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// An integer value; booleans count as 0 and 1, as in Python.
    pub(crate) fn int(&self, id: ValueId) -> Option<i64> {
        match self.get(id) {
            Value::Int(int) => Some(*int),
            Value::Bool(bool) => Some(i64::from(*bool)),
            _ => None,
        }
    }

    /// The members of a tuple, list or `torch.Size`.
    pub(crate) fn sequence(&self, id: ValueId) -> Option<&[ValueId]> {
        match self.get(id) {
            Value::Tuple(items) | Value::Size(items) => Some(items),
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The value of a string key in a dict: the last one.
    pub(crate) fn lookup(&self, dict: ValueId, key: &str) -> Option<ValueId> {
        let Value::Dict(dict) = self.get(dict) else { return None };
        dict.entries.iter().rev().find(|(k, _)| self.text(*k) == Some(key)).map(|&(_, value)| value)
    }

    /// The class or function behind a value that is one or was made by one.
    pub(crate) fn class_of(&self, id: ValueId) -> Option<&Global> {
        match self.get(id) {
            Value::Global(global) => Some(global),
            Value::Object(object) => Some(&object.class),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_small() {
        assert!(size_of::<Value>() <= 32, "{}", size_of::<Value>());
    }

    #[test]
    fn numpy_scalars_are_widened_exactly() {
        let value = |dtype, bytes: &[u8]| {
            let mut all = [0; 16];
            all[..bytes.len()].copy_from_slice(bytes);
            NumpyScalar { dtype, bytes: all }.value()
        };
        assert_eq!(value(DType::F16, &[0x01, 0x00]), Scalar::Float(2f64.powi(-24)));
        assert_eq!(value(DType::F16, &[0x00, 0xbe]), Scalar::Float(-1.5));
        assert_eq!(value(DType::F16, &[0x00, 0x7c]), Scalar::Float(f64::INFINITY));
        assert_eq!(value(DType::BF16, &[0xc0, 0x3f]), Scalar::Float(1.5));
        assert_eq!(value(DType::I8, &[0xff]), Scalar::Int(-1));
        assert_eq!(value(DType::U32, &[0xff; 4]), Scalar::Int(4_294_967_295));
        let Scalar::BigInt(int) = value(DType::U64, &[0xff; 8]) else { panic!("no big integer") };
        assert_eq!(int.to_u64(), Some(u64::MAX));
    }

    #[test]
    fn a_foreign_number_is_none() {
        assert_eq!(Arena::default().get(ValueId(7)), &Value::None);
    }
}
