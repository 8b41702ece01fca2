//! Data of tensors: where it is in the file, and contiguous copies of it.

use std::borrow::Cow;
use std::ops::Range;

use crate::checkpoint::Checkpoint;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::gather::gather;
use crate::inflate;
use crate::leaf::TensorLeaf;
use crate::limits::check;
use crate::storage::{BlobData, Located, Storage, StorageId};
use crate::tensor::TensorValue;
use crate::value::Blob;
use crate::zip::Method;

/// Where a tensor's data is. Getting one checks everything about a tensor but its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Bytes of a contiguous copy; not yet compared with the limit on copies.
    pub byte_len: u64,
    /// The bytes of its storage that the tensor reaches, from its first element to its last. Strides count
    /// from the start of this window.
    pub window: Range<u64>,
    /// The window in the file; `None` if the bytes have to be unpacked first.
    pub in_file: Option<Range<usize>>,
    /// Whether the window holds the elements one after another in row-major order.
    pub contiguous: bool,
    /// Whether its elements are big-endian.
    pub big_endian: bool,
}

/// A storage as it really is.
struct Extent {
    len: u64,
    in_file: Option<Range<usize>>,
}

impl Checkpoint {
    /// Where a tensor's data is, after all checks.
    ///
    /// # Errors
    /// `invalid tensor`, `missing storage`, `storage too short`, `truncated`, `over limit` (more elements
    /// than can be counted), `unsupported`, `malformed archive`; each with the tensor's name.
    pub fn placement(&self, file: &[u8], leaf: &TensorLeaf) -> Result<Placement> {
        self.place(file, &leaf.tensor).map_err(|error| error.with_tensor(&leaf.name))
    }

    /// The range of the file that is the tensor: contiguous, little-endian, neither packed nor in need of
    /// correction. `None` if a copy is needed. Reads no more than the bytes of a boolean tensor.
    ///
    /// # Errors
    /// As [`placement`](Self::placement).
    pub fn view_range(&self, file: &[u8], leaf: &TensorLeaf) -> Result<Option<Range<usize>>> {
        let placement = self.placement(file, leaf)?;
        let swapped = placement.big_endian && leaf.tensor.dtype.swap_size() > 1;
        let range = placement.in_file.filter(|_| placement.contiguous && !swapped);
        let clean = |range: &Range<usize>| {
            let bytes = file.get(range.clone()).unwrap_or_default();
            leaf.tensor.dtype != DType::Bool || bytes.iter().all(|byte| *byte <= 1)
        };
        Ok(range.filter(clean))
    }

    /// Bytes that a copy of a tensor takes: what to allocate for [`read_into`](Self::read_into).
    ///
    /// # Errors
    /// As [`placement`](Self::placement); `over limit` for a copy over the limit.
    pub fn copy_len(&self, file: &[u8], leaf: &TensorLeaf) -> Result<usize> {
        let byte_len = self.placement(file, leaf)?.byte_len;
        check("the size of a copy", byte_len, self.limits.max_tensor_bytes)
            .map_err(|kind| Error::from(kind).with_tensor(&leaf.name))?;
        Ok(usize::try_from(byte_len).unwrap_or(usize::MAX))
    }

    /// A contiguous, little-endian copy of a tensor, in row-major order.
    ///
    /// # Errors
    /// As [`copy_len`](Self::copy_len); `checksum` for a packed storage.
    pub fn read(&self, file: &[u8], leaf: &TensorLeaf) -> Result<Vec<u8>> {
        let mut out = vec![0; self.copy_len(file, leaf)?];
        self.read_into(file, leaf, &mut out)?;
        Ok(out)
    }

    /// The same into memory that is there already. Returns whether `out` had the right length, and fills it only
    /// then.
    ///
    /// # Errors
    /// As [`placement`](Self::placement); `checksum` for a packed storage.
    pub fn read_into(&self, file: &[u8], leaf: &TensorLeaf, out: &mut [u8]) -> Result<bool> {
        let placement = self.placement(file, leaf)?;
        if placement.byte_len != out.len() as u64 {
            return Ok(false);
        }
        self.fill(file, &leaf.tensor, &placement, out).map_err(|error| error.with_tensor(&leaf.name))?;
        Ok(true)
    }

    /// Reads the whole of a tensor's storage and compares its checksum, where the archive has one.
    ///
    /// # Errors
    /// `checksum`; as [`placement`](Self::placement).
    pub fn verify(&self, file: &[u8], leaf: &TensorLeaf) -> Result<()> {
        let verified = match self.located(leaf.tensor.storage) {
            Some(Located::Member(member)) => inflate::verify(file, member),
            _ => Ok(()),
        };
        verified.map_err(|error| error.with_tensor(&leaf.name))
    }

    /// Where all of a tensor's storage lies in an archive, and the CRC-32 that it should have there.
    ///
    /// `None` for a storage that is packed, and where there is no checksum.
    pub fn checksum(&self, file: &[u8], leaf: &TensorLeaf) -> Option<(Range<usize>, u32)> {
        match self.located(leaf.tensor.storage)? {
            Located::Member(member) if member.method == Method::Stored && member.crc != 0 => {
                Some((member.range(file).ok()?, member.crc))
            }
            _ => None,
        }
    }

    fn place(&self, file: &[u8], tensor: &TensorValue) -> Result<Placement> {
        if let Some(problem) = &tensor.problem {
            return Err((**problem).clone().into());
        }
        let num_elements = tensor.num_elements()?;
        let size = tensor.dtype.size() as u64;
        let end = tensor.end();
        if end == Some(0) {
            let window = 0..0;
            return Ok(Placement {
                byte_len: 0,
                window,
                in_file: Some(0..0),
                contiguous: true,
                big_endian: false,
            });
        }
        let extent = self.extent(file, tensor.storage)?;
        let found = extent.len.min(tensor.declared_bytes);
        let end = match end {
            Some(end) if end <= found => end,
            _ => {
                let kind = ErrorKind::StorageTooShort { needed: end.unwrap_or(u64::MAX), found };
                return Err(self.with_member(kind.into(), tensor.storage));
            }
        };
        let over = ErrorKind::OverLimit {
            what: "the size of a copy",
            found: u64::MAX,
            limit: self.limits.max_tensor_bytes,
        };
        let byte_len = num_elements.checked_mul(size).ok_or(over)?;
        let window = tensor.offset.saturating_mul(size)..end;
        let in_file = extent.in_file.and_then(|range| part(&range, &window));
        Ok(Placement {
            byte_len,
            contiguous: is_contiguous(tensor),
            window,
            in_file,
            big_endian: self.storage(tensor.storage).is_some_and(|storage| storage.big_endian),
        })
    }

    fn located(&self, id: StorageId) -> Option<&Located> {
        self.storage(id).map(|storage| &storage.located)
    }

    fn with_member(&self, error: Error, id: StorageId) -> Error {
        match self.storage(id).and_then(Storage::member) {
            Some(member) => error.with_member(member),
            None => error,
        }
    }

    fn extent(&self, file: &[u8], id: StorageId) -> Result<Extent> {
        match self.located(id) {
            Some(Located::InFile { range, count }) => {
                stored_count(file, range, *count)?;
                Ok(Extent { len: range.len() as u64, in_file: Some(range.clone()) })
            }
            Some(Located::Member(member)) => {
                let range = member.range(file)?;
                let in_file = (member.method == Method::Stored).then_some(range);
                Ok(Extent { len: member.unpacked, in_file })
            }
            Some(Located::Blob(blob)) => Ok(Extent { len: blob.len() as u64, in_file: blob_range(blob) }),
            Some(Located::Truncated) => {
                Err(ErrorKind::truncated("the file ends before its storage does").into())
            }
            _ => Err(self.with_member(ErrorKind::MissingStorage.into(), id)),
        }
    }

    fn fill(&self, file: &[u8], tensor: &TensorValue, placement: &Placement, out: &mut [u8]) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        let window = self.window(file, tensor.storage, placement)?;
        let narrow = |numbers: &[u64]| {
            numbers.iter().map(|n| usize::try_from(*n).unwrap_or(usize::MAX)).collect::<Vec<_>>()
        };
        // Every element lies in the window, which is in memory: sizes and strides that matter fit in a
        // `usize`.
        gather(&window, &narrow(&tensor.shape), &narrow(&tensor.strides), tensor.dtype.size(), out);
        if placement.big_endian && tensor.dtype.swap_size() > 1 {
            out.chunks_exact_mut(tensor.dtype.swap_size()).for_each(<[u8]>::reverse);
        }
        if tensor.dtype == DType::Bool {
            out.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(())
    }

    /// The bytes of a tensor's window, unpacked if need be.
    fn window<'a>(&'a self, file: &'a [u8], id: StorageId, placement: &Placement) -> Result<Cow<'a, [u8]>> {
        let gone = || ErrorKind::truncated("the file is not the one that was opened");
        if let Some(range) = &placement.in_file {
            return Ok(Cow::Borrowed(file.get(range.clone()).ok_or_else(gone)?));
        }
        let (start, end) = (usize::try_from(placement.window.start), usize::try_from(placement.window.end));
        let range = start.ok().zip(end.ok()).map(|(start, end)| start..end).ok_or_else(gone)?;
        match self.located(id) {
            Some(Located::Member(member)) => {
                check("the part of a packed storage", range.len() as u64, self.limits.max_tensor_bytes)?;
                inflate::window(file, member, range).map(Cow::Owned)
            }
            Some(Located::Blob(blob)) => match self.blob(file, blob)? {
                Cow::Borrowed(bytes) => Ok(Cow::Borrowed(bytes.get(range).ok_or_else(gone)?)),
                Cow::Owned(bytes) => Ok(Cow::Owned(bytes.get(range).ok_or_else(gone)?.to_vec())),
            },
            _ => Err(ErrorKind::MissingStorage.into()),
        }
    }
}

/// In a legacy stream the number of elements stands before them once more.
fn stored_count(file: &[u8], range: &Range<usize>, declared: Option<u64>) -> Result<()> {
    let Some(declared) = declared else { return Ok(()) };
    let stored = range.start.checked_sub(8).and_then(|at| file.get(at..)?.first_chunk::<8>());
    match stored.map(|bytes| u64::from_le_bytes(*bytes)) {
        Some(stored) if stored == declared => Ok(()),
        Some(stored) => {
            let what =
                format!("its storage has {stored} elements where it lies, {declared} where it is described");
            Err(ErrorKind::archive(what).into())
        }
        None => Err(ErrorKind::truncated("the file ends before its storage does").into()),
    }
}

fn blob_range(blob: &Blob) -> Option<Range<usize>> {
    match &blob.data {
        BlobData::Span { in_file: true, range, latin1: false } => Some(range.clone()),
        _ => None,
    }
}

/// A range inside a range; `None` if it leaves it.
fn part(outer: &Range<usize>, inner: &Range<u64>) -> Option<Range<usize>> {
    let start = outer.start.checked_add(usize::try_from(inner.start).ok()?)?;
    let end = outer.start.checked_add(usize::try_from(inner.end).ok()?)?;
    (start <= end && end <= outer.end).then_some(start..end)
}

fn is_contiguous(tensor: &TensorValue) -> bool {
    let mut step = 1u64;
    for (size, stride) in tensor.shape.iter().zip(&tensor.strides).rev() {
        if *size != 1 && *stride != step {
            return false;
        }
        step = step.saturating_mul(*size);
    }
    true
}
