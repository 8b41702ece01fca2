//! A checkpoint: what its pickle holds, and where its bytes are.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind, Result};
use crate::flatten;
use crate::heap::{Heap, Persistent};
use crate::input::Input;
use crate::key::key_name;
use crate::leaf::Leaves;
use crate::limits::Limits;
use crate::machine::{self, Loaded};
use crate::sniff::{Container, sniff};
use crate::storage::{BlobData, Storage, StorageId};
use crate::value::{Arena, Blob, Value, ValueId};
use crate::{legacy, tar, torch_zip};

/// What a checkpoint comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A zip archive: PyTorch 1.6 and later.
    Zip,
    /// A stream of pickles and storages: PyTorch 0.1.10 to 1.5.
    Legacy,
    /// A tar archive: before 0.1.10.
    Tar,
    /// One pickle, without storages.
    Pickle,
}

/// What an archive says about itself. Only zip archives have versions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArchiveInfo {
    /// The member `version`: that of the archive, not of PyTorch.
    pub version: Option<String>,
    /// The member `.format_version`.
    pub format_version: Option<String>,
    /// The member `.storage_alignment`.
    pub storage_alignment: Option<String>,
    /// Whether storages are big-endian.
    pub big_endian: bool,
    /// Bytes of all storages, with the counts between them in a legacy stream; `None` for a plain pickle.
    pub data_size: Option<u64>,
}

/// A checkpoint, opened: values, and places of storages. It holds none of the file's bytes; methods that need
/// them take the file again, which must be the very bytes that were opened.
#[derive(Debug)]
pub struct Checkpoint {
    format: Format,
    protocol: u8,
    root: ValueId,
    arena: Arena,
    pub(crate) storages: Vec<Storage>,
    info: ArchiveInfo,
    pub(crate) inflated: Vec<u8>,
    pickle_len: usize,
    pub(crate) limits: Limits,
}

/// What a container has when it is read.
pub(crate) struct Opened {
    pub(crate) format: Format,
    pub(crate) heap: Heap,
    pub(crate) loaded: Loaded,
    /// The pickle, if it had to be inflated.
    pub(crate) inflated: Vec<u8>,
    pub(crate) info: ArchiveInfo,
    pub(crate) pickle_len: usize,
}

/// Reads everything of a checkpoint but its storages. Nothing in the file is executed.
///
/// ```
/// use burnpy_pickle::{Limits, Scalar, open};
/// let file = b"\x80\x02}X\x05\x00\x00\x00epochK\x03s."; // what pickle.dumps({"epoch": 3}, 2) writes
/// let leaves = open(file, &Limits::default())?.leaves()?;
/// assert_eq!(leaves.scalars[0].name, "epoch");
/// assert_eq!(leaves.scalars[0].value, Scalar::Int(3));
///
/// let hostile = b"\x80\x02cos\nsystem\n(X\x02\x00\x00\x00lstR."; // os.system("ls")
/// let error = open(hostile, &Limits::default())?.leaves().unwrap_err();
/// assert_eq!(error.kind.name(), "unsafe global");
/// # Ok::<(), burnpy_pickle::Error>(())
/// ```
///
/// # Errors
/// The file is no checkpoint, is damaged, or asks for more than the limits allow. A tensor that cannot be
/// read is no error here: the others can.
pub fn open(file: &[u8], limits: &Limits) -> Result<Checkpoint> {
    let opened = match sniff(file)? {
        Container::Zip => torch_zip::open(file, limits)?,
        Container::Tar => tar::open(file, limits)?,
        Container::Legacy => legacy::open(file, limits)?,
        Container::Pickle => plain(file, limits)?,
    };
    Ok(Checkpoint {
        format: opened.format,
        protocol: opened.loaded.protocol,
        root: opened.loaded.root,
        arena: opened.heap.arena,
        storages: opened.heap.storages.list,
        info: opened.info,
        inflated: opened.inflated,
        pickle_len: opened.pickle_len,
        limits: limits.clone(),
    })
}

/// One plain pickle; what follows it is ignored.
fn plain(file: &[u8], limits: &Limits) -> Result<Opened> {
    let mut heap = Heap::new(limits, file.len());
    let loaded = machine::load(&mut heap, limits, Input::new(file, Some(0)), Persistent::Forbidden);
    let loaded = loaded.map_err(|error| plain_error(error, file))?;
    let (format, inflated, info) = (Format::Pickle, Vec::new(), ArchiveInfo::default());
    Ok(Opened { format, pickle_len: loaded.end, heap, loaded, inflated, info })
}

/// A pickle is all that speaks for such a file: if it is not whole it is malformed, and if it does not even
/// begin as binary pickles do, it is probably something else.
fn plain_error(error: Error, file: &[u8]) -> Error {
    let kind = match error.kind {
        ErrorKind::Truncated { what } => ErrorKind::MalformedPickle { what },
        kind => kind,
    };
    let kind = match kind {
        ErrorKind::MalformedPickle { what } if file.first() != Some(&0x80) => {
            ErrorKind::not_a_checkpoint(format!("neither a zip nor a tar, and as a pickle malformed: {what}"))
        }
        kind => kind,
    };
    Error { kind, ..error }
}

impl Checkpoint {
    /// What the checkpoint comes in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The pickle's protocol; 0 if it states none.
    pub fn protocol(&self) -> u8 {
        self.protocol
    }

    /// What the archive says about itself.
    pub fn info(&self) -> &ArchiveInfo {
        &self.info
    }

    /// The value that was saved.
    pub fn root(&self) -> ValueId {
        self.root
    }

    /// All values.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// All storages; a tensor's is `storages()[tensor.storage.index()]`.
    pub fn storages(&self) -> &[Storage] {
        &self.storages
    }

    /// The storage with this number; `None` for a tensor that has none.
    pub fn storage(&self, id: StorageId) -> Option<&Storage> {
        self.storages.get(id.index())
    }

    /// Everything that the checkpoint holds, by full dotted name.
    ///
    /// # Errors
    /// `unsafe global` or `unsupported` if it is nothing but one object that is not built, `name clash` if
    /// two tensors have one name, `malformed pickle` if a container holds itself, `over limit`.
    pub fn leaves(&self) -> Result<Leaves> {
        self.leaves_of(self.root)
    }

    /// Everything inside one value, by dotted name from there on: `leaves_of(get(root, "state_dict"))`.
    ///
    /// # Errors
    /// As [`leaves`](Self::leaves).
    pub fn leaves_of(&self, value: ValueId) -> Result<Leaves> {
        flatten::leaves(&self.arena, value, &self.limits, self.pickle_len)
    }

    /// The value of a key in a dict: a string, or a number in digits.
    pub fn get(&self, dict: ValueId, key: &str) -> Option<ValueId> {
        let Value::Dict(dict) = self.arena.get(dict) else { return None };
        let is = |id: ValueId| matches!(self.arena.get(id), Value::Text(_) | Value::Int(_));
        let found = dict.entries.iter().rev();
        let mut found = found.filter(|(k, _)| is(*k) && key_name(&self.arena, *k).as_deref() == Some(key));
        found.next().map(|&(_, value)| value)
    }

    /// The names of a dict's keys, in file order; `None` if the value is no dict. Keys that only a call could
    /// make are left out.
    pub fn keys(&self, dict: ValueId) -> Option<Vec<String>> {
        let Value::Dict(dict) = self.arena.get(dict) else { return None };
        let mut names = std::collections::HashSet::new();
        let keys = dict.entries.iter().filter_map(|(key, _)| key_name(&self.arena, *key));
        Some(keys.filter(|name| names.insert(name.clone())).map(Cow::into_owned).collect())
    }

    /// The bytes of a bytes object, or of a long string.
    ///
    /// # Errors
    /// `truncated` if this is not the file that was opened.
    pub fn blob<'a>(&'a self, file: &'a [u8], blob: &'a Blob) -> Result<Cow<'a, [u8]>> {
        let (in_file, range, latin1) = match &blob.data {
            BlobData::Owned(bytes) => return Ok(Cow::Borrowed(bytes)),
            BlobData::Span { in_file, range, latin1 } => (*in_file, range.clone(), *latin1),
        };
        let source = if in_file { file } else { &self.inflated };
        let bytes =
            source.get(range).ok_or(ErrorKind::truncated("the file is not the one that was opened"))?;
        if !latin1 {
            return Ok(Cow::Borrowed(bytes));
        }
        let text = crate::text::from_utf8(bytes)?;
        let decoded = crate::text::to_latin1(&text)
            .ok_or(ErrorKind::pickle("a string that stands for bytes is none"))?;
        Ok(Cow::Owned(decoded))
    }
}
