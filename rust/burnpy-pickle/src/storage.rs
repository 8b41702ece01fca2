//! Storages: the blocks of bytes that tensors are views of.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::dtype::DType;
use crate::value::Blob;
use crate::zip::Member;

/// A storage's place in [`Checkpoint::storages`](crate::Checkpoint::storages).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StorageId(pub(crate) u32);

impl StorageId {
    /// The place as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a storage's elements are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    /// Elements of one type.
    Typed(DType),
    /// Bytes; each tensor says what they are.
    Untyped,
    /// A class of storage that holds no plain numbers, with bytes an element where they are known.
    Other(Box<str>, Option<u8>),
}

impl Element {
    /// The elements of a storage class of the module `torch`.
    pub(crate) fn from_class(class: &str) -> Self {
        match class {
            "UntypedStorage" => Self::Untyped,
            "QInt32Storage" => Self::Other(class.into(), Some(4)),
            "QInt8Storage" | "QUInt8Storage" | "QUInt4x2Storage" | "QUInt2x4Storage" => {
                Self::Other(class.into(), Some(1))
            }
            _ => {
                DType::from_storage_class(class).map_or_else(|| Self::Other(class.into(), None), Self::Typed)
            }
        }
    }

    /// The name of the storage class.
    pub(crate) fn class_name(&self) -> String {
        match self {
            Self::Typed(dtype) => dtype.storage_class().to_owned(),
            Self::Untyped => "UntypedStorage".to_owned(),
            Self::Other(class, _) => class.to_string(),
        }
    }

    /// Bytes an element.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Typed(dtype) => Some(dtype.size() as u64),
            Self::Untyped => Some(1),
            Self::Other(_, size) => size.map(u64::from),
        }
    }
}

/// A pickle's reference to a storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageRef {
    /// The storage.
    pub storage: StorageId,
    /// What the reference says that the elements are.
    pub element: Element,
    /// Elements of the whole storage, as the reference has it.
    pub declared: i64,
    /// Offset and length, in elements, of the part that old files mean by it.
    pub view: Option<(i64, i64)>,
}

/// A block of bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Storage {
    /// Its key: a number or an address, as text; empty for the data of a NumPy array.
    pub key: Box<str>,
    /// Where it lived, such as `cpu` or `cuda:0`.
    pub location: Box<str>,
    /// What the first reference says that the elements are.
    pub element: Element,
    /// How many elements the first reference says that there are.
    pub declared: i64,
    /// Whether a later reference said otherwise.
    pub(crate) disputed: bool,
    /// Whether elements are big-endian.
    pub big_endian: bool,
    /// Where the bytes are.
    pub(crate) located: Located,
}

impl Storage {
    /// The archive member, where the storage is one.
    pub fn member(&self) -> Option<&str> {
        match &self.located {
            Located::Member(member) => Some(&member.name),
            Located::Missing(name) => Some(name),
            _ => None,
        }
    }

    /// Bytes that the first reference declares.
    pub(crate) fn declared_bytes(&self) -> Option<u64> {
        u64::try_from(self.declared).ok()?.checked_mul(self.element.size()?)
    }
}

/// Where a storage's bytes are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Located {
    /// Nobody looked yet.
    Unknown,
    /// A range of the file. In a legacy stream eight bytes before it repeat the number of elements.
    InFile { range: Range<usize>, count: Option<u64> },
    /// A member of a zip archive.
    Member(Box<Member>),
    /// Bytes inside the pickle.
    Blob(Blob),
    /// An archive member that is not there.
    Missing(Box<str>),
    /// Beyond the end of the file.
    Truncated,
}

/// Where the bytes of a [`Blob`] are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BlobData {
    /// In memory.
    Owned(Arc<[u8]>),
    /// In the file, or in the inflated pickle. Latin-1 text is UTF-8 there and has to be decoded.
    Span { in_file: bool, range: Range<usize>, latin1: bool },
}

/// All storages of a checkpoint, found by their key.
#[derive(Debug, Default)]
pub(crate) struct Storages {
    pub(crate) list: Vec<Storage>,
    by_key: HashMap<Box<str>, StorageId>,
}

impl Storages {
    /// The storage with this key, made at its first mention; `None` when the numbers are used up.
    pub(crate) fn mention(
        &mut self,
        key: &str,
        element: &Element,
        location: &str,
        declared: i64,
    ) -> Option<StorageId> {
        if let Some(&id) = self.by_key.get(key) {
            let known = &mut self.list[id.index()];
            known.disputed |= known.declared != declared || known.element.size() != element.size();
            return Some(id);
        }
        let id = self.push(Storage {
            key: key.into(),
            location: location.into(),
            element: element.clone(),
            declared,
            disputed: false,
            big_endian: false,
            located: Located::Unknown,
        })?;
        self.by_key.insert(key.into(), id);
        Some(id)
    }

    /// Adds a storage that has no key.
    pub(crate) fn push(&mut self, storage: Storage) -> Option<StorageId> {
        let id = StorageId(u32::try_from(self.list.len()).ok()?);
        self.list.push(storage);
        Some(id)
    }

    /// The storage with this key.
    pub(crate) fn find(&self, key: &str) -> Option<StorageId> {
        self.by_key.get(key).copied()
    }
}
