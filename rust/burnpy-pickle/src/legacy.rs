//! The legacy stream: PyTorch 0.1.10 to 1.5, and later on request. Five pickles, then the storages.

use crate::checkpoint::{ArchiveInfo, Format, Opened};
use crate::error::{ErrorKind, Result};
use crate::heap::{Heap, Persistent};
use crate::input::Input;
use crate::limits::Limits;
use crate::machine::{self, Loaded};
use crate::sniff::MAGIC;
use crate::storage::Located;
use crate::value::{Value, ValueId};

/// The only version of the stream that there is.
const PROTOCOL_VERSION: i64 = 1001;

/// The stream, read pickle by pickle.
struct Stream<'a> {
    file: &'a [u8],
    limits: &'a Limits,
    heap: Heap,
    pos: usize,
}

pub(crate) fn open(file: &[u8], limits: &Limits) -> Result<Opened> {
    let mut stream = Stream { file, limits, heap: Heap::new(limits, file.len()), pos: 0 };
    stream.header()?;
    let start = stream.pos;
    let loaded = stream.pickle(Persistent::Storages)?;
    let pickle_len = stream.pos - start;
    let keys = stream.pickle(Persistent::Forbidden)?.root;
    let data_size = Some(file.len().saturating_sub(stream.pos) as u64);
    stream.storages(keys)?;
    let (heap, info) = (stream.heap, ArchiveInfo { data_size, ..ArchiveInfo::default() });
    Ok(Opened { format: Format::Legacy, heap, loaded, inflated: Vec::new(), info, pickle_len })
}

impl Stream<'_> {
    fn pickle(&mut self, persistent: Persistent<'_>) -> Result<Loaded> {
        let rest = self.file.get(self.pos..).unwrap_or_default();
        let loaded =
            machine::load(&mut self.heap, self.limits, Input::new(rest, Some(self.pos)), persistent)?;
        self.pos += loaded.end;
        Ok(loaded)
    }

    /// Magic number, version, and facts about the machine that wrote it.
    fn header(&mut self) -> Result<()> {
        let magic = self.pickle(Persistent::Forbidden)?.root;
        match self.heap.arena.get(magic) {
            Value::BigInt(int) if int.to_le_bytes() == MAGIC => {}
            _ => {
                return Err(self
                    .heap
                    .unexpected(magic, "the stream does not begin with the magic number")
                    .into());
            }
        }
        let version = self.pickle(Persistent::Forbidden)?.root;
        if *self.heap.arena.get(version) != Value::Int(PROTOCOL_VERSION) {
            return Err(self.heap.unexpected(version, "the version of the stream is not 1001").into());
        }
        let system = self.pickle(Persistent::Forbidden)?.root;
        Ok(self.heap.check_byte_order(system)?)
    }

    /// Finds the storages: for each key a count, then the elements.
    fn storages(&mut self, keys: ValueId) -> Result<()> {
        let Value::List(keys) = self.heap.arena.get(keys) else {
            return Err(self.heap.unexpected(keys, "the storage keys are no list").into());
        };
        for key in keys.clone() {
            let text = self
                .heap
                .key_text(key)
                .ok_or_else(|| self.heap.unexpected(key, "a storage key is no text"))?;
            let unknown = || ErrorKind::archive(format!("no tensor mentions the storage {text:?}"));
            let id = self.heap.storages.find(&text).ok_or_else(unknown)?;
            self.storage(id.index())?;
        }
        Ok(())
    }

    fn storage(&mut self, index: usize) -> Result<()> {
        let Some(storage) = self.heap.storages.list.get_mut(index) else { return Ok(()) };
        if storage.disputed || storage.located != Located::Unknown {
            return Err(ErrorKind::archive(format!("storage {:?} is described twice", storage.key)).into());
        }
        let Some(len) = storage.declared_bytes() else {
            return Err(ErrorKind::unsupported(format!(
                "a storage of class {}",
                storage.element.class_name()
            ))
            .into());
        };
        let start = self.pos.saturating_add(8);
        let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len)).unwrap_or(usize::MAX);
        let count = u64::try_from(storage.declared).ok();
        let complete = end <= self.file.len();
        storage.located =
            if complete { Located::InFile { range: start..end, count } } else { Located::Truncated };
        self.pos = end;
        Ok(())
    }
}

impl Heap {
    /// The error for a value that is not the one that belongs in its place.
    pub(crate) fn unexpected(&self, id: ValueId, what: &'static str) -> ErrorKind {
        match self.arena.class_of(id) {
            Some(class) => ErrorKind::unsafe_global(class.qualified()),
            None => ErrorKind::archive(what),
        }
    }

    /// Checks that a description of the machine says little-endian.
    pub(crate) fn check_byte_order(&self, system: ValueId) -> Result<(), ErrorKind> {
        match self.arena.lookup(system, "little_endian").map(|flag| self.arena.get(flag)) {
            Some(Value::Bool(true)) => Ok(()),
            Some(Value::Bool(false)) => {
                Err(ErrorKind::unsupported("a big-endian file from before zip archives"))
            }
            _ => Err(self.unexpected(system, "the file does not say which byte order it has")),
        }
    }
}
