//! The CBOR map behind the header: what it says, read tolerantly or strictly, and how it is written.

use std::collections::BTreeMap;
use std::ops::Range;

use burnpy_buffer::{
    BlockScale, BlockSize, BoolStore, DType, QuantMode, QuantScheme, QuantStore, QuantValue, ScaleDType,
};

use crate::cbor::{Cursor, put_float};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::plain::{self, PlainTensor};
use crate::scalar::Scalar;

/// What the metadata says of one tensor. Name and shape lie in the shared arenas of [`Metadata`]: with 100 000
/// tensors, an allocation for each would cost more than reading the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descriptor {
    name: (u32, u32),
    dims: (u32, u32),
    pub(crate) dtype: DType,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) param_id: Option<u64>,
}

/// The metadata, decoded. Descriptors stand in name order, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    names: String,
    dims: Vec<u64>,
    pub(crate) tensors: Vec<Descriptor>,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) scalars: BTreeMap<String, Scalar>,
}

fn range((start, len): (u32, u32)) -> Range<usize> {
    start as usize..start as usize + len as usize
}

impl Metadata {
    pub(crate) fn name(&self, descriptor: &Descriptor) -> &str {
        &self.names[range(descriptor.name)]
    }

    pub(crate) fn shape(&self, descriptor: &Descriptor) -> &[u64] {
        &self.dims[range(descriptor.dims)]
    }

    /// Where a name stands among the descriptors.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.tensors.binary_search_by(|descriptor| self.name(descriptor).cmp(name)).ok()
    }

    /// Reads the metadata. Strict mode also refuses unknown and duplicate keys, old forms and bytes that follow.
    pub(crate) fn decode(bytes: &[u8], limits: &Limits, strict: bool) -> Result<Self> {
        let mut decode =
            Decode { cursor: Cursor::new(bytes, limits.max_depth), limits, strict, out: Self::default() };
        decode.top()?;
        let end = decode.cursor.position();
        if strict && end != bytes.len() {
            return Err(Error::validation(format!("metadata ends at byte {end} of {}", bytes.len())));
        }
        let mut metadata = decode.out;
        metadata.sort(strict)?;
        if strict {
            metadata.check_form(bytes)?;
        }
        Ok(metadata)
    }

    /// Refuses metadata that says the same in another form than Burn writes: other order, wider numbers, tags, …
    fn check_form(&self, bytes: &[u8]) -> Result<()> {
        let expected =
            encode(self.tensors.iter().map(|tensor| self.described(tensor)), &self.metadata, &self.scalars);
        if expected == bytes {
            return Ok(());
        }
        let at = expected.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        Err(Error::validation(format!(
            "metadata differs from the form in which Burn writes it, from byte {at} on"
        )))
    }

    fn described(&self, tensor: &Descriptor) -> Described<'_> {
        let Descriptor { dtype, start, end, param_id, .. } = *tensor;
        Described { name: self.name(tensor), dtype, shape: self.shape(tensor), start, end, param_id }
    }

    /// Sorts by name; of equal names the last one wins, as in Burn.
    fn sort(&mut self, strict: bool) -> Result<()> {
        let mut tensors = std::mem::take(&mut self.tensors);
        if tensors.is_sorted_by(|a, b| self.name(a) < self.name(b)) {
            self.tensors = tensors;
            return Ok(());
        }
        tensors.reverse();
        tensors.sort_by(|a, b| self.name(a).cmp(self.name(b)));
        if strict
            && let Some(pair) = tensors.windows(2).find(|pair| self.name(&pair[0]) == self.name(&pair[1]))
        {
            return Err(Error::validation("its name stands twice").with_tensor(self.name(&pair[0])));
        }
        tensors.dedup_by(|b, a| self.name(a) == self.name(b));
        self.tensors = tensors;
        Ok(())
    }
}

/// Fewest bytes that a tensor takes in the metadata: the three keys alone are 25.
const MIN_TENSOR_BYTES: usize = 32;

struct Decode<'b, 'l> {
    cursor: Cursor<'b>,
    limits: &'l Limits,
    strict: bool,
    out: Metadata,
}

/// The keys of a struct that were seen, to refuse a second one and to miss one that must be there.
struct Keys<'k> {
    names: &'k [&'static str],
    seen: u32,
}

impl<'k> Keys<'k> {
    const fn new(names: &'k [&'static str]) -> Self {
        Self { names, seen: 0 }
    }

    /// The known name of a key; `None` for an unknown one.
    fn take(&mut self, cursor: &Cursor<'_>, key: &[u8]) -> Result<Option<&'static str>> {
        let Some(index) = self.names.iter().position(|name| name.as_bytes() == key) else { return Ok(None) };
        if self.seen & 1 << index != 0 {
            return Err(cursor.fail(format!("key {:?} stands twice", self.names[index])));
        }
        self.seen |= 1 << index;
        Ok(Some(self.names[index]))
    }

    fn require(&self, cursor: &Cursor<'_>, count: usize) -> Result<()> {
        match (0..count).find(|index| self.seen & 1 << index == 0) {
            Some(index) => Err(cursor.fail(format!("key {:?} is missing", self.names[index]))),
            None => Ok(()),
        }
    }
}

impl<'b> Decode<'b, '_> {
    fn top(&mut self) -> Result<()> {
        let (mut remaining, depth) = self.cursor.map(0)?;
        let mut keys = Keys::new(&["tensors", "metadata", "scalars"]);
        while self.cursor.more(&mut remaining)? {
            let key = self.cursor.key(depth)?;
            match keys.take(&self.cursor, key)? {
                Some("tensors") => self.tensors(depth)?,
                Some("metadata") => self.texts(depth)?,
                Some(_) => self.scalars(depth)?,
                None => self.unknown(key, depth)?,
            }
        }
        keys.require(&self.cursor, 1)
    }

    /// Passes over the value of an unknown key, or refuses it.
    fn unknown(&mut self, key: &[u8], depth: u32) -> Result<()> {
        if self.strict {
            return Err(Error::validation(format!(
                "unknown key {:?} in the metadata",
                String::from_utf8_lossy(key)
            )));
        }
        self.cursor.skip(depth)
    }

    fn tensors(&mut self, depth: u32) -> Result<()> {
        let (mut remaining, depth) = self.cursor.map(depth)?;
        let limit = self.limits.max_tensors;
        if let Some(count) = remaining.filter(|&count| self.strict && count > limit) {
            return Err(Error::over("the number of tensors", count, limit));
        }
        // What is declared is believed only as far as there are bytes for it.
        let believed =
            remaining.unwrap_or(0).min(limit).min((self.cursor.rest().len() / MIN_TENSOR_BYTES) as u64);
        self.out.tensors.reserve(believed as usize);
        while self.cursor.more(&mut remaining)? {
            // Counted on the way: a hostile file must not fill the memory before it is refused.
            let count = self.out.tensors.len() as u64 + 1;
            if count > limit {
                return Err(Error::over("the number of tensors", count + remaining.unwrap_or(0), limit));
            }
            if !self.plain_tensor(depth)? {
                self.tensor(depth)?;
            }
        }
        Ok(())
    }

    /// Takes a tensor in the form in which Burn writes it; `false` leaves one in another form where it is.
    fn plain_tensor(&mut self, depth: u32) -> Result<bool> {
        // Descriptor and shape are two levels; a limit below is for the tolerant path to tell.
        if !self.cursor.has_room(depth, 2) {
            return Ok(false);
        }
        let first_dim = self.out.dims.len();
        let Some(plain) = plain::read(self.cursor.rest(), &mut self.out.dims) else {
            self.out.dims.truncate(first_dim);
            return Ok(false);
        };
        let name = arena_range(&self.cursor, self.out.names.len(), plain.name.len())?;
        let dims = arena_range(&self.cursor, first_dim, self.out.dims.len() - first_dim)?;
        self.out.names.push_str(plain.name);
        let PlainTensor { dtype, start, end, param_id, .. } = plain;
        self.out.tensors.push(Descriptor { name, dims, dtype, start, end, param_id });
        self.cursor.set_position(self.cursor.position() + plain.len);
        Ok(true)
    }

    fn tensor(&mut self, depth: u32) -> Result<()> {
        let name = self.cursor.text(depth)?;
        let name_at = arena_range(&self.cursor, self.out.names.len(), name.len())?;
        self.out.names.push_str(&name);
        let descriptor = self.descriptor(name_at, depth).map_err(|error| error.with_tensor(&name))?;
        self.out.tensors.push(descriptor);
        Ok(())
    }

    fn descriptor(&mut self, name: (u32, u32), depth: u32) -> Result<Descriptor> {
        let (mut remaining, depth) = self.cursor.map(depth)?;
        let mut keys = Keys::new(&["dtype", "shape", "data_offsets", "param_id"]);
        let mut descriptor =
            Descriptor { name, dims: (0, 0), dtype: DType::F32, start: 0, end: 0, param_id: None };
        while self.cursor.more(&mut remaining)? {
            let key = self.cursor.key(depth)?;
            match keys.take(&self.cursor, key)? {
                Some("dtype") => descriptor.dtype = self.dtype(depth)?,
                Some("shape") => descriptor.dims = self.shape(depth)?,
                Some("data_offsets") => (descriptor.start, descriptor.end) = self.offsets(depth)?,
                Some(_) => descriptor.param_id = self.param_id(depth)?,
                None => self.unknown(key, depth)?,
            }
        }
        keys.require(&self.cursor, 3)?;
        Ok(descriptor)
    }

    fn shape(&mut self, depth: u32) -> Result<(u32, u32)> {
        let start = self.out.dims.len();
        self.cursor.unsigned_list(depth, |dim| self.out.dims.push(dim))?;
        arena_range(&self.cursor, start, self.out.dims.len() - start)
    }

    /// Unlike Burn: three offsets are refused, where its reader depends on what follows them.
    fn offsets(&mut self, depth: u32) -> Result<(u64, u64)> {
        let (mut offsets, mut count) = ([0; 2], 0usize);
        self.cursor.unsigned_list(depth, |value| {
            if let Some(offset) = offsets.get_mut(count) {
                *offset = value;
            }
            count += 1;
        })?;
        match count {
            2 => Ok((offsets[0], offsets[1])),
            _ => Err(self.cursor.fail(format!("data_offsets has {count} entries, not 2"))),
        }
    }

    fn param_id(&mut self, depth: u32) -> Result<Option<u64>> {
        if self.cursor.null()? { Ok(None) } else { self.cursor.unsigned(depth).map(Some) }
    }

    fn dtype(&mut self, depth: u32) -> Result<DType> {
        let (name, payload) = self.cursor.variant(depth)?;
        match (name, payload) {
            (b"Bool", Some(depth)) => self.bool_store(depth).map(DType::Bool),
            (b"QFloat", Some(depth)) => self.scheme(depth).map(DType::QFloat),
            // Files of Burn 0.19 and 0.20. Unlike Burn: today's reader refuses them.
            (b"Bool", None) if !self.strict => Ok(DType::Bool(BoolStore::Native)),
            (_, None) => plain_dtype(name).ok_or_else(|| self.unknown_name("dtype", name)),
            (_, Some(_)) => Err(self.unknown_name("dtype with a payload", name)),
        }
    }

    fn bool_store(&mut self, depth: u32) -> Result<BoolStore> {
        match self.cursor.variant(depth)? {
            (b"Native", None) => Ok(BoolStore::Native),
            (b"U8", None) => Ok(BoolStore::U8),
            (b"U32", None) => Ok(BoolStore::U32),
            (name, _) => Err(self.unknown_name("bool store", name)),
        }
    }

    fn unknown_name(&self, what: &str, name: &[u8]) -> Error {
        self.cursor.fail(format!("{:?} is no {what}", String::from_utf8_lossy(name)))
    }

    fn named<T: Copy>(
        &mut self,
        depth: u32,
        what: &str,
        all: &[T],
        name_of: fn(T) -> &'static str,
    ) -> Result<T> {
        let (name, payload) = self.cursor.variant(depth)?;
        let found = all.iter().copied().find(|&one| payload.is_none() && name_of(one).as_bytes() == name);
        found.ok_or_else(|| self.unknown_name(what, name))
    }

    fn scale_dtype(&mut self, depth: u32) -> Result<ScaleDType> {
        self.named(depth, "scale dtype", &ScaleDType::ALL, ScaleDType::name)
    }

    fn scheme(&mut self, depth: u32) -> Result<QuantScheme> {
        let (mut remaining, depth) = self.cursor.map(depth)?;
        let mut keys = Keys::new(&["value", "store", "mode", "tensor", "block"]);
        let (mut scheme, mut old) = (QuantScheme::default(), OldScheme::default());
        while self.cursor.more(&mut remaining)? {
            let key = self.cursor.key(depth)?;
            match keys.take(&self.cursor, key)? {
                Some("value") => {
                    scheme.value = self.named(depth, "quantized value", &QuantValue::ALL, QuantValue::name)?
                }
                Some("store") => scheme.store = self.quant_store(depth)?,
                Some("mode") => scheme.mode = self.quant_mode(depth)?,
                Some("tensor") if self.cursor.null()? => {}
                Some("tensor") => scheme.tensor = Some(self.scale_dtype(depth)?),
                Some(_) if self.cursor.null()? => {}
                Some(_) => scheme.block = Some(self.block_scale(depth)?),
                None => self.old_scheme_key(key, depth, &mut old)?,
            }
        }
        keys.require(&self.cursor, 3)?;
        Ok(old.complete(scheme))
    }

    fn quant_store(&mut self, depth: u32) -> Result<QuantStore> {
        match self.cursor.variant(depth)? {
            (b"Native", None) => Ok(QuantStore::Native),
            (b"PackedNative", Some(depth)) => self.cursor.unsigned(depth).map(QuantStore::PackedNative),
            (b"PackedU32", Some(depth)) => self.cursor.unsigned(depth).map(QuantStore::PackedU32),
            (name, _) => Err(self.unknown_name("quantization store", name)),
        }
    }

    fn quant_mode(&mut self, depth: u32) -> Result<QuantMode> {
        self.named(depth, "quantization mode", &[QuantMode::Symmetric, QuantMode::Lookup], QuantMode::name)
    }

    fn block_scale(&mut self, depth: u32) -> Result<BlockScale> {
        let (mut remaining, depth) = self.cursor.map(depth)?;
        let mut keys = Keys::new(&["size", "dtype"]);
        let (mut size, mut dtype) = (BlockSize { storage: [1; 5], len: 0 }, ScaleDType::F32);
        while self.cursor.more(&mut remaining)? {
            let key = self.cursor.key(depth)?;
            match keys.take(&self.cursor, key)? {
                Some("size") => size = self.block_size(depth)?,
                Some(_) => dtype = self.scale_dtype(depth)?,
                None => self.unknown(key, depth)?,
            }
        }
        keys.require(&self.cursor, 2)?;
        Ok(BlockScale { size, dtype })
    }

    fn block_size(&mut self, depth: u32) -> Result<BlockSize> {
        let (mut remaining, depth) = self.cursor.map(depth)?;
        let mut keys = Keys::new(&["storage", "len"]);
        let mut size = BlockSize { storage: [1; 5], len: 0 };
        while self.cursor.more(&mut remaining)? {
            let key = self.cursor.key(depth)?;
            match keys.take(&self.cursor, key)? {
                Some("storage") => size.storage = self.block_storage(depth)?,
                Some(_) => size.len = self.byte(depth)?,
                None => self.unknown(key, depth)?,
            }
        }
        keys.require(&self.cursor, 2)?;
        Ok(size)
    }

    fn byte(&mut self, depth: u32) -> Result<u8> {
        let value = self.cursor.unsigned(depth)?;
        u8::try_from(value).map_err(|_| self.cursor.fail(format!("{value} is over 255")))
    }

    fn block_storage(&mut self, depth: u32) -> Result<[u8; 5]> {
        let mut extents = Vec::new();
        // One more than wanted is enough to tell: the rest of a long list is not kept.
        self.cursor.unsigned_list(depth, |extent| extents.extend((extents.len() < 6).then_some(extent)))?;
        let bytes: Option<Vec<u8>> = extents.iter().map(|&extent| u8::try_from(extent).ok()).collect();
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| self.cursor.fail(format!("a block's storage is {extents:?}, not five bytes")))
    }

    /// `param` and `level`, the keys of Burn 0.20 and 0.21. A value that is neither is ignored, as Burn ignores both.
    fn old_scheme_key(&mut self, key: &[u8], depth: u32, old: &mut OldScheme) -> Result<()> {
        if self.strict || !matches!(key, b"param" | b"level") {
            return self.unknown(key, depth);
        }
        let position = self.cursor.position();
        let read = if key == b"param" {
            self.scale_dtype(depth).map(|dtype| old.param = Some(dtype))
        } else {
            self.old_level(depth).map(|level| old.level = Some(level))
        };
        read.or_else(|_| {
            self.cursor.set_position(position);
            self.cursor.skip(depth)
        })
    }

    fn old_level(&mut self, depth: u32) -> Result<OldLevel> {
        match self.cursor.variant(depth)? {
            (b"Tensor", None) => Ok(OldLevel::Tensor),
            (b"Block", Some(depth)) => Ok(OldLevel::Block { size: self.block_size(depth)?, global: None }),
            (b"BlockTensor", Some(depth)) => self.old_block_tensor(depth),
            (name, _) => Err(self.unknown_name("quantization level", name)),
        }
    }

    fn old_block_tensor(&mut self, depth: u32) -> Result<OldLevel> {
        let (mut remaining, depth) = self.cursor.map(depth)?;
        let mut keys = Keys::new(&["block", "global"]);
        let (mut size, mut global) = (BlockSize { storage: [1; 5], len: 0 }, None);
        while self.cursor.more(&mut remaining)? {
            let key = self.cursor.key(depth)?;
            match keys.take(&self.cursor, key)? {
                Some("block") => size = self.block_size(depth)?,
                Some(_) => global = Some(self.scale_dtype(depth)?),
                None => self.cursor.skip(depth)?,
            }
        }
        keys.require(&self.cursor, 2)?;
        Ok(OldLevel::Block { size, global })
    }

    fn texts(&mut self, depth: u32) -> Result<()> {
        let (mut remaining, depth) = self.cursor.map(depth)?;
        while self.cursor.more(&mut remaining)? {
            let key = self.cursor.text(depth)?.into_owned();
            let value = self.cursor.text(depth)?.into_owned();
            self.refuse_twice(self.out.metadata.contains_key(&key), "metadata", &key)?;
            self.out.metadata.insert(key, value);
        }
        Ok(())
    }

    fn scalars(&mut self, depth: u32) -> Result<()> {
        let (mut remaining, depth) = self.cursor.map(depth)?;
        while self.cursor.more(&mut remaining)? {
            let key = self.cursor.text(depth)?.into_owned();
            let value = self.scalar(depth)?;
            self.refuse_twice(self.out.scalars.contains_key(&key), "scalar", &key)?;
            self.out.scalars.insert(key, value);
        }
        Ok(())
    }

    fn refuse_twice(&self, twice: bool, what: &str, key: &str) -> Result<()> {
        if self.strict && twice {
            return Err(Error::validation(format!("{what} key {key:?} stands twice")));
        }
        Ok(())
    }

    fn scalar(&mut self, depth: u32) -> Result<Scalar> {
        match self.cursor.variant(depth)? {
            (b"Int", Some(depth)) => self.cursor.signed(depth).map(Scalar::Int),
            (b"UInt", Some(depth)) => self.cursor.unsigned(depth).map(Scalar::UInt),
            (b"Float", Some(depth)) => self.cursor.float(depth).map(Scalar::Float),
            (b"Bool", Some(depth)) => self.cursor.bool(depth).map(Scalar::Bool),
            (name, _) => Err(self.unknown_name("kind of scalar", name)),
        }
    }
}

/// A stretch of an arena, in the 32 bits that a descriptor has for it.
fn arena_range(cursor: &Cursor<'_>, start: usize, len: usize) -> Result<(u32, u32)> {
    match (u32::try_from(start), u32::try_from(len), u32::try_from(start + len)) {
        (Ok(start), Ok(len), Ok(_)) => Ok((start, len)),
        _ => Err(cursor.fail("names or shapes are over 4 GiB in total")),
    }
}

#[derive(Default)]
struct OldScheme {
    param: Option<ScaleDType>,
    level: Option<OldLevel>,
}

enum OldLevel {
    Tensor,
    Block { size: BlockSize, global: Option<ScaleDType> },
}

impl OldScheme {
    /// Today's form of a scheme that has the old keys and none of the new.
    fn complete(self, mut scheme: QuantScheme) -> QuantScheme {
        if scheme.tensor.is_some() || scheme.block.is_some() {
            return scheme;
        }
        let dtype = self.param.unwrap_or(ScaleDType::F32);
        match self.level {
            None => {}
            Some(OldLevel::Tensor) => scheme.tensor = Some(dtype),
            Some(OldLevel::Block { size, global }) => {
                scheme.tensor = global;
                scheme.block = Some(BlockScale { size, dtype });
            }
        }
        scheme
    }
}

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

pub(crate) fn plain_dtype(name: &[u8]) -> Option<DType> {
    PLAIN_NAMES.iter().find(|(text, _)| *text == name).map(|&(_, dtype)| dtype)
}

/// What the writer says of one tensor.
pub(crate) struct Described<'t> {
    pub(crate) name: &'t str,
    pub(crate) dtype: DType,
    pub(crate) shape: &'t [u64],
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) param_id: Option<u64>,
}

/// Writes the metadata as Burn does: fixed order of keys, maps sorted by key, empty maps left out.
/// `tensors` must come in name order.
pub(crate) fn encode<'t>(
    tensors: impl ExactSizeIterator<Item = Described<'t>>,
    metadata: &BTreeMap<String, String>,
    scalars: &BTreeMap<String, Scalar>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + 80 * tensors.len());
    put_head(&mut out, MAP, 1 + u64::from(!metadata.is_empty()) + u64::from(!scalars.is_empty()));
    put_text(&mut out, "tensors");
    put_head(&mut out, MAP, tensors.len() as u64);
    tensors.for_each(|tensor| put_tensor(&mut out, &tensor));
    if !metadata.is_empty() {
        put_text(&mut out, "metadata");
        put_head(&mut out, MAP, metadata.len() as u64);
        for (key, value) in metadata {
            put_text(&mut out, key);
            put_text(&mut out, value);
        }
    }
    if !scalars.is_empty() {
        put_text(&mut out, "scalars");
        put_head(&mut out, MAP, scalars.len() as u64);
        for (key, value) in scalars {
            put_text(&mut out, key);
            put_scalar(&mut out, *value);
        }
    }
    out
}

const UNSIGNED: u8 = 0x00;
const NEGATIVE: u8 = 0x20;
const TEXT: u8 = 0x60;
const ARRAY: u8 = 0x80;
const MAP: u8 = 0xA0;
const NULL: u8 = 0xF6;

/// A CBOR head in its shortest form. Written here and not through the library's encoder, which is generic over
/// fallible sinks: a vector never fails, and 100 000 descriptors are 2 million heads.
fn put_head(out: &mut Vec<u8>, major: u8, value: u64) {
    match value {
        0..=23 => out.push(major | value as u8),
        24..=0xFF => out.extend([major | 24, value as u8]),
        0x100..=0xFFFF => {
            out.push(major | 25);
            out.extend((value as u16).to_be_bytes());
        }
        0x1_0000..=0xFFFF_FFFF => {
            out.push(major | 26);
            out.extend((value as u32).to_be_bytes());
        }
        _ => {
            out.push(major | 27);
            out.extend(value.to_be_bytes());
        }
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_head(out, TEXT, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn put_tensor(out: &mut Vec<u8>, tensor: &Described<'_>) {
    put_text(out, tensor.name);
    put_head(out, MAP, 3 + u64::from(tensor.param_id.is_some()));
    // Heads and keys that never differ go out as one.
    out.extend_from_slice(b"\x65dtype");
    put_dtype(out, tensor.dtype);
    out.extend_from_slice(b"\x65shape");
    put_head(out, ARRAY, tensor.shape.len() as u64);
    tensor.shape.iter().for_each(|&dim| put_head(out, UNSIGNED, dim));
    out.extend_from_slice(b"\x6Cdata_offsets\x82");
    put_head(out, UNSIGNED, tensor.start);
    put_head(out, UNSIGNED, tensor.end);
    if let Some(id) = tensor.param_id {
        out.extend_from_slice(b"\x68param_id");
        put_head(out, UNSIGNED, id);
    }
}

fn put_dtype(out: &mut Vec<u8>, dtype: DType) {
    match dtype {
        DType::Bool(store) => {
            put_head(out, MAP, 1);
            put_text(out, "Bool");
            put_text(out, bool_store_name(store));
        }
        DType::QFloat(scheme) => {
            put_head(out, MAP, 1);
            put_text(out, "QFloat");
            put_scheme(out, &scheme);
        }
        _ => match PLAIN_NAMES.iter().find(|(_, plain)| *plain == dtype) {
            Some((name, _)) => {
                put_head(out, TEXT, name.len() as u64);
                out.extend_from_slice(name);
            }
            None => unreachable!("every dtype but Bool and QFloat has a plain name"),
        },
    }
}

const fn bool_store_name(store: BoolStore) -> &'static str {
    match store {
        BoolStore::Native => "Native",
        BoolStore::U8 => "U8",
        BoolStore::U32 => "U32",
    }
}

fn put_scheme(out: &mut Vec<u8>, scheme: &QuantScheme) {
    put_head(out, MAP, 5);
    put_text(out, "value");
    put_text(out, scheme.value.name());
    put_text(out, "store");
    match scheme.store {
        QuantStore::Native => put_text(out, "Native"),
        QuantStore::PackedNative(dim) => put_packed(out, "PackedNative", dim),
        QuantStore::PackedU32(dim) => put_packed(out, "PackedU32", dim),
    }
    put_text(out, "mode");
    put_text(out, scheme.mode.name());
    put_text(out, "tensor");
    match scheme.tensor {
        Some(dtype) => put_text(out, dtype.name()),
        None => out.push(NULL),
    }
    put_text(out, "block");
    match scheme.block {
        Some(block) => put_block(out, &block),
        None => out.push(NULL),
    }
}

fn put_packed(out: &mut Vec<u8>, name: &str, dim: u64) {
    put_head(out, MAP, 1);
    put_text(out, name);
    put_head(out, UNSIGNED, dim);
}

fn put_block(out: &mut Vec<u8>, block: &BlockScale) {
    put_head(out, MAP, 2);
    put_text(out, "size");
    put_head(out, MAP, 2);
    put_text(out, "storage");
    put_head(out, ARRAY, 5);
    block.size.storage.iter().for_each(|&extent| put_head(out, UNSIGNED, u64::from(extent)));
    put_text(out, "len");
    put_head(out, UNSIGNED, u64::from(block.size.len));
    put_text(out, "dtype");
    put_text(out, block.dtype.name());
}

fn put_scalar(out: &mut Vec<u8>, scalar: Scalar) {
    put_head(out, MAP, 1);
    put_text(out, scalar.kind());
    match scalar {
        Scalar::Int(value) if value < 0 => put_head(out, NEGATIVE, !(value as u64)),
        Scalar::Int(value) => put_head(out, UNSIGNED, value as u64),
        Scalar::UInt(value) => put_head(out, UNSIGNED, value),
        Scalar::Float(value) => put_float(out, value),
        Scalar::Bool(value) => out.push(if value { 0xF5 } else { 0xF4 }),
    }
}
