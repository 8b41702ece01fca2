//! Reads dtypes and quantization schemes, today's and those of older Burns.

use burnpy_buffer::{
    BlockScale, BlockSize, BoolStore, DType, QuantMode, QuantScheme, QuantStore, QuantValue, ScaleDType,
};

use crate::decode::{Decode, Keys};
use crate::dtype_name::plain_dtype;
use crate::error::{Error, Result};

impl Decode<'_, '_> {
    pub(crate) fn dtype(&mut self, depth: u32) -> Result<DType> {
        let (name, payload) = self.cursor.variant(depth)?;
        match (name, payload) {
            (b"Bool", Some(depth)) => self.bool_store(depth).map(DType::Bool),
            (b"QFloat", Some(depth)) => self.scheme(depth).map(DType::QFloat),
            // Unlike Burn: files of 0.19 and 0.20 are read, which today's reader refuses.
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

    pub(crate) fn unknown_name(&self, what: &str, name: &[u8]) -> Error {
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
}

/// What the keys of Burn 0.20 and 0.21 said of a scheme.
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
