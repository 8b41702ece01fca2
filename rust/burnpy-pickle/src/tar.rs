//! The tar container: PyTorch before 0.1.10.

use std::collections::HashMap;

use crate::checkpoint::{ArchiveInfo, Format, Opened};
use crate::error::{Error, ErrorKind, Result};
use crate::heap::{Heap, Persistent};
use crate::input::Input;
use crate::limits::{Limits, check};
use crate::machine::{self, Loaded};
use crate::storage::{Located, StorageRef};
use crate::tensor::{Claim, TensorValue};
use crate::value::{Value, ValueId};

const BLOCK: usize = 512;

pub(crate) fn open(file: &[u8], limits: &Limits) -> Result<Opened> {
    let members = members(file, limits)?;
    let part = |name: &'static str| {
        members.get(name).map(|&(start, bytes)| Part { input: bytes, start, pos: 0, limits, name })
    };
    let missing = |name: &str| ErrorKind::not_a_checkpoint(format!("a tar archive without {name}"));
    let pickle = part("pickle").ok_or_else(|| missing("pickle"))?;
    let mut heap = Heap::new(limits, file.len());
    if let Some(mut system) = part("sys_info") {
        let root = system.pickle(&mut heap, Persistent::Forbidden)?.root;
        heap.check_byte_order(root).map_err(|kind| Error::from(kind).with_member("sys_info"))?;
    }
    let storages = part("storages").ok_or_else(|| missing("storages"))?;
    let data_size = Some(storages.input.len() as u64);
    let storages = storages.storages(&mut heap)?;
    let tensors = part("tensors").map(|part| part.tensors(&mut heap, &storages)).transpose()?;
    let persistent = tensors.as_ref().map_or(Persistent::Storages, Persistent::Tensors);
    let pickle_len = pickle.input.len();
    let loaded = { pickle }.pickle(&mut heap, persistent)?;
    let info = ArchiveInfo { data_size, ..ArchiveInfo::default() };
    Ok(Opened { format: Format::Tar, heap, loaded, inflated: Vec::new(), info, pickle_len })
}

/// The members: where each begins, and its bytes.
fn members<'a>(file: &'a [u8], limits: &Limits) -> Result<HashMap<&'a str, (usize, &'a [u8])>> {
    let mut members = HashMap::new();
    let mut pos = 0;
    while let Some(header) = file.get(pos..pos + BLOCK).filter(|header| header[0] != 0) {
        let name = header[..100].split(|byte| *byte == 0).next().unwrap_or_default();
        let name =
            std::str::from_utf8(name).map_err(|_| ErrorKind::archive("the name of a member is not UTF-8"))?;
        let name = name.strip_prefix("./").unwrap_or(name);
        let len =
            size(&header[124..136]).ok_or(ErrorKind::archive(format!("member {name:?} has no size")))?;
        let start = pos + BLOCK;
        let end = start.checked_add(len).filter(|end| *end <= file.len());
        let cut = || Error::from(ErrorKind::truncated("the archive ends inside a member")).with_member(name);
        let end = end.ok_or_else(cut)?;
        check("the number of archive members", members.len() as u64 + 1, limits.max_members)?;
        members.entry(name).or_insert((start, &file[start..end]));
        pos = end.next_multiple_of(BLOCK);
    }
    Ok(members)
}

/// A size in octal digits.
fn size(field: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(field).ok()?.trim_matches(['\0', ' ']);
    usize::from_str_radix(text, 8).ok()
}

/// One member, read from front to back: pickles and numbers in turn.
struct Part<'a> {
    input: &'a [u8],
    /// Where the member begins in the file.
    start: usize,
    pos: usize,
    limits: &'a Limits,
    name: &'static str,
}

impl Part<'_> {
    fn pickle(&mut self, heap: &mut Heap, persistent: Persistent<'_>) -> Result<Loaded> {
        let rest = self.input.get(self.pos..).unwrap_or_default();
        let input = Input::new(rest, Some(self.start + self.pos));
        let loaded = machine::load(heap, self.limits, input, persistent)
            .map_err(|error| error.with_member(self.name))?;
        self.pos += loaded.end;
        Ok(loaded)
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::from(kind).with_member(self.name)
    }

    fn bytes(&mut self, len: usize) -> Result<&[u8]> {
        let end = self.pos.checked_add(len).filter(|end| *end <= self.input.len());
        let end = end
            .ok_or_else(|| self.error(ErrorKind::truncated("the member ends inside a number or storage")))?;
        let bytes = &self.input[self.pos..end];
        self.pos = end;
        Ok(bytes)
    }

    fn i64(&mut self) -> Result<i64> {
        let mut out = [0; 8];
        out.copy_from_slice(self.bytes(8)?);
        Ok(i64::from_le_bytes(out))
    }

    /// A pickled count.
    fn count(&mut self, heap: &mut Heap) -> Result<i64> {
        let root = self.pickle(heap, Persistent::Forbidden)?.root;
        heap.arena.int(root).ok_or_else(|| self.error(heap.unexpected(root, "a count is no number")))
    }

    /// A pickled triple.
    fn triple(&mut self, heap: &mut Heap) -> Result<[ValueId; 3]> {
        let root = self.pickle(heap, Persistent::Forbidden)?.root;
        let parts = heap.arena.sequence(root).and_then(|items| <[ValueId; 3]>::try_from(items).ok());
        parts.ok_or_else(|| self.error(heap.unexpected(root, "a description has other than 3 parts")))
    }

    /// Storages by key: each a triple (key, location, class), a count and the elements; then views of them.
    fn storages(mut self, heap: &mut Heap) -> Result<HashMap<String, StorageRef>> {
        let mut found = HashMap::new();
        for _ in 0..self.count(heap)? {
            let [key, location, class] = self.triple(heap)?;
            let declared = self.i64()?;
            let count = heap.add(Value::Int(declared)).map_err(|kind| self.error(kind))?;
            let tag = heap.add(Value::Text("storage".into())).map_err(|kind| self.error(kind))?;
            let tuple = heap.add(Value::Tuple([tag, class, key, location, count].into()));
            let id =
                tuple.and_then(|tuple| heap.storage_reference(tuple)).map_err(|kind| self.error(kind))?;
            let Value::Storage(reference) = heap.arena.get(id) else {
                return Err(self.error(heap.unexpected(id, "a storage has no class")));
            };
            let reference = (**reference).clone();
            self.elements(heap, &reference)?;
            let key = heap.key_text(key).unwrap_or_default();
            found.insert(key, reference);
        }
        self.views(heap, &mut found)?;
        Ok(found)
    }

    /// The elements of the storage that was just described.
    fn elements(&mut self, heap: &mut Heap, reference: &StorageRef) -> Result<()> {
        let Some(storage) = heap.storages.list.get_mut(reference.storage.index()) else { return Ok(()) };
        if storage.located != Located::Unknown {
            return Err(self.error(ErrorKind::archive(format!("storage {:?} is there twice", storage.key))));
        }
        let len = storage.declared_bytes().and_then(|len| usize::try_from(len).ok());
        let len = len.ok_or_else(|| self.error(ErrorKind::archive("a storage has no size that is known")))?;
        self.bytes(len)?;
        let end = self.start + self.pos;
        storage.located = Located::InFile { range: end - len..end, count: None };
        Ok(())
    }

    /// Parts of storages that have a key of their own: a list of (view key, root key, offset, count).
    fn views(&mut self, heap: &mut Heap, found: &mut HashMap<String, StorageRef>) -> Result<()> {
        if self.pos == self.input.len() {
            return Ok(()); // older files have no such list
        }
        let root = self.pickle(heap, Persistent::Forbidden)?.root;
        let wrong = || ErrorKind::archive("a view of a storage is not described as it should be");
        let list = heap
            .arena
            .sequence(root)
            .ok_or_else(|| self.error(heap.unexpected(root, "the views are no list")))?;
        for view in list {
            let Some(&[key, root, offset, count]) = heap.arena.sequence(*view) else {
                return Err(self.error(wrong()));
            };
            let numbers = heap.arena.int(offset).zip(heap.arena.int(count));
            let names = heap.key_text(key).zip(heap.key_text(root));
            let ((key, root), numbers) = names.zip(numbers).ok_or_else(|| self.error(wrong()))?;
            let root = found.get(&root).ok_or_else(|| self.error(wrong()))?;
            let view = StorageRef { view: Some(numbers), ..root.clone() };
            found.insert(key, view);
        }
        Ok(())
    }

    /// Tensors by key: each a triple (key, storage key, class), a rank, sizes, strides and an offset.
    fn tensors(
        mut self,
        heap: &mut Heap,
        storages: &HashMap<String, StorageRef>,
    ) -> Result<HashMap<String, ValueId>> {
        let mut found = HashMap::new();
        for _ in 0..self.count(heap)? {
            let [key, storage, _class] = self.triple(heap)?;
            let unknown = || ErrorKind::archive("a tensor or its storage has no key that is known");
            let key = heap.key_text(key).ok_or_else(|| self.error(unknown()))?;
            let storage = heap
                .key_text(storage)
                .and_then(|key| storages.get(&key))
                .ok_or_else(|| self.error(unknown()))?;
            let tensor = self.tensor(storage)?;
            let id = heap.add(Value::Tensor(Box::new(tensor))).map_err(|kind| self.error(kind))?;
            found.insert(key, id);
        }
        Ok(found)
    }

    fn tensor(&mut self, storage: &StorageRef) -> Result<TensorValue> {
        let rank = i64::from(self.i64()? as i32); // the upper half is padding
        let rank = usize::try_from(rank).ok().filter(|rank| *rank <= 64);
        let rank =
            rank.ok_or_else(|| self.error(ErrorKind::archive("the rank of a tensor is not 0 to 64")))?;
        let sizes = (0..rank).map(|_| self.i64()).collect::<Result<Vec<_>>>()?;
        let strides = (0..rank).map(|_| self.i64()).collect::<Result<Vec<_>>>()?;
        let offset = self.i64()?;
        let crate::storage::Element::Typed(dtype) = storage.element else {
            let problem =
                ErrorKind::unsupported(format!("a storage of class {}", storage.element.class_name()));
            return Ok(TensorValue::broken(Some(storage), problem));
        };
        Ok(TensorValue::new(storage, &Claim { dtype, offset, sizes: &sizes, strides: &strides }))
    }
}
