//! Reads the metadata, tolerantly or strictly. Dtypes are read in `decode_dtype`.

use burnpy_buffer::DType;

use crate::cbor::Cursor;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::metadata::{Descriptor, Metadata};
use crate::plain::{self, PlainTensor};
use crate::scalar::Scalar;

/// The metadata as it stands in the file, not sorted yet, and where it ends.
pub(crate) fn decode(bytes: &[u8], limits: &Limits, strict: bool) -> Result<(Metadata, usize)> {
    let cursor = Cursor::new(bytes, limits.max_depth);
    let mut decode = Decode { cursor, limits, strict, out: Metadata::default() };
    decode.top()?;
    Ok((decode.out, decode.cursor.position()))
}

/// Fewest bytes that a tensor takes in the metadata: the three keys alone are 25.
const MIN_TENSOR_BYTES: usize = 32;

/// The decoder at work.
pub(crate) struct Decode<'b, 'l> {
    pub(crate) cursor: Cursor<'b>,
    limits: &'l Limits,
    pub(crate) strict: bool,
    out: Metadata,
}

/// The keys of a struct that were seen, to refuse a second one and to miss one that must be there.
pub(crate) struct Keys<'k> {
    names: &'k [&'static str],
    seen: u32,
}

impl<'k> Keys<'k> {
    pub(crate) const fn new(names: &'k [&'static str]) -> Self {
        Self { names, seen: 0 }
    }

    /// The known name of a key; `None` for an unknown one.
    pub(crate) fn take(&mut self, cursor: &Cursor<'_>, key: &[u8]) -> Result<Option<&'static str>> {
        let Some(index) = self.names.iter().position(|name| name.as_bytes() == key) else { return Ok(None) };
        if self.seen & 1 << index != 0 {
            return Err(cursor.fail(format!("key {:?} stands twice", self.names[index])));
        }
        self.seen |= 1 << index;
        Ok(Some(self.names[index]))
    }

    pub(crate) fn require(&self, cursor: &Cursor<'_>, count: usize) -> Result<()> {
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
    pub(crate) fn unknown(&mut self, key: &[u8], depth: u32) -> Result<()> {
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
