//! Reads a header, with every check that the format asks for.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result};
use crate::json::Json;

/// Bytes in front of the header: its length, little-endian.
pub const LENGTH_BYTES: usize = 8;
/// The longest header that is read or written.
pub const MAX_HEADER_BYTES: u64 = 100_000_000;
/// The entry of a header that is no tensor.
pub const METADATA_KEY: &str = "__metadata__";

/// What a header says of one tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Shape.
    pub shape: Vec<u64>,
    /// Bytes in the file, counted from its start.
    pub range: Range<u64>,
}

/// A header, checked: the tensors tile the file from the end of the header to its last byte.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// Tensors in the order of their bytes.
    pub entries: Vec<Entry>,
    /// The text metadata, if the file has some.
    pub metadata: Option<BTreeMap<String, String>>,
}

/// Where the header ends, told from the first bytes of a file of `file_len` bytes.
///
/// ```
/// use burnpy_safetensors::{Kind, header_end};
/// assert_eq!(header_end(&[16, 0, 0, 0, 0, 0, 0, 0, b'{'], 1000).unwrap(), 24);
/// assert_eq!(header_end(&[0xFF; 9], 1000).unwrap_err().kind, Kind::OverLimit); // hostile, and nothing is allocated
/// ```
///
/// # Errors
/// `Truncated`, `OverLimit`, or `NotSafetensors` where the bytes are plainly those of another format.
pub fn header_end(start: &[u8], file_len: u64) -> Result<u64> {
    let Some((length, after)) = start.split_first_chunk::<LENGTH_BYTES>() else {
        let what =
            format!("truncated: the file has {file_len} bytes, fewer than the 8 of the header's length");
        return Err(Error::new(Kind::Truncated, what).numbers(file_len, LENGTH_BYTES as u64));
    };
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER_BYTES.min(file_len)
        && let Some(what) = other_format(start)
    {
        return Err(Error::new(
            Kind::NotSafetensors,
            format!("not a safetensors file: it looks like {what}"),
        ));
    }
    if length > MAX_HEADER_BYTES {
        let what = format!("the header's length is {length}, over the limit of {MAX_HEADER_BYTES}");
        return Err(Error::new(Kind::OverLimit, what).numbers(length, MAX_HEADER_BYTES));
    }
    if length == 0 && after.starts_with(&[0]) {
        return Err(Error::new(Kind::NotSafetensors, "not a safetensors file: it begins with zeros"));
    }
    let end = length + LENGTH_BYTES as u64;
    if end > file_len {
        let what = format!(
            "truncated: a header of {length} bytes ends at byte {end}, but the file has {file_len} bytes"
        );
        return Err(Error::new(Kind::Truncated, what).numbers(file_len, end));
    }
    Ok(end)
}

/// What a file really is whose first bytes, read as a length, are too large.
fn other_format(start: &[u8]) -> Option<&'static str> {
    let text = start.trim_ascii_start();
    let begins =
        |prefix: &[u8]| text.get(..prefix.len()).is_some_and(|text| text.eq_ignore_ascii_case(prefix));
    match start {
        [b'P', b'K', 3 | 5, 4 | 6, ..] => Some("a zip archive: a PyTorch checkpoint?"),
        [0x80, 2..=5, ..] => Some("a pickle: an old PyTorch checkpoint?"),
        _ if begins(b"version https://git-lfs") => {
            Some("a Git LFS pointer: the content itself was not fetched")
        }
        _ if begins(b"<!doctype") || begins(b"<html") => Some("an HTML page: a download that failed?"),
        [b'N', b'R', b'U', b'B', ..] => Some("a burnpack file"),
        _ => None,
    }
}

impl Header {
    /// Reads a header from its JSON text, `head[8..end]`, in a file of `file_len` bytes.
    ///
    /// # Errors
    /// Every kind but `Unwritable`.
    pub fn decode(json: &[u8], file_len: u64) -> Result<Self> {
        let text = std::str::from_utf8(json).map_err(|error| {
            Error::new(Kind::MalformedHeader, format!("the header is not UTF-8: {error}"))
        })?;
        let parsed: Json = serde_json::from_str(text)
            .map_err(|error| Error::new(Kind::MalformedHeader, format!("the header is not JSON: {error}")))?;
        let Json::Object(fields) = parsed else {
            return Err(Error::new(Kind::MalformedHeader, format!("the header is {parsed}, not an object")));
        };
        let data_start = (LENGTH_BYTES + json.len()) as u64;
        let mut header = Self::default();
        let mut names = HashSet::with_capacity(fields.len());
        for (name, _) in &fields {
            if !names.insert(name.as_str()) {
                return Err(Error::new(Kind::DuplicateName, "its name stands twice").of(name));
            }
        }
        for (name, value) in &fields {
            if name == METADATA_KEY {
                header.metadata = Some(metadata(value)?);
            } else {
                header.entries.push(entry(name, value, data_start).map_err(|error| error.of(name))?);
            }
        }
        header.entries.sort_by_key(|entry| (entry.range.start, entry.range.end));
        check_tiling(&header.entries, data_start, file_len)?;
        Ok(header)
    }
}

fn metadata(value: &Json) -> Result<BTreeMap<String, String>> {
    let malformed = |what: String| Error::new(Kind::MalformedHeader, what);
    let Json::Object(fields) = value else {
        return Err(malformed(format!("{METADATA_KEY} is {value}, not an object")));
    };
    let mut metadata = BTreeMap::new();
    for (key, value) in fields {
        let Json::Text(text) = value else {
            return Err(malformed(format!("{METADATA_KEY}[{key:?}] is {value}, not text")));
        };
        if metadata.insert(key.clone(), text.clone()).is_some() {
            return Err(Error::new(Kind::DuplicateKey, format!("{METADATA_KEY} has the key {key:?} twice")));
        }
    }
    Ok(metadata)
}

fn entry(name: &str, value: &Json, data_start: u64) -> Result<Entry> {
    let malformed = |what: String| Error::new(Kind::MalformedHeader, what);
    let Json::Object(fields) = value else {
        return Err(malformed(format!("its entry is {value}, not an object")));
    };
    let (dtype, shape, offsets) =
        (field(fields, "dtype")?, field(fields, "shape")?, field(fields, "data_offsets")?);
    if let Some((key, _)) =
        fields.iter().find(|(key, _)| !matches!(&**key, "dtype" | "shape" | "data_offsets"))
    {
        return Err(malformed(format!("its entry has the unknown field {key:?}")));
    }
    let Json::Text(dtype) = dtype else { return Err(malformed(format!("its dtype is {dtype}, not text"))) };
    let dtype = Dtype::from_name(dtype).ok_or_else(|| {
        Error::new(Kind::UnknownDtype, format!("unknown dtype {dtype:?}; names are upper case"))
    })?;
    let shape = numbers("shape", shape)?;
    let [begin, end] = numbers("data_offsets", offsets)?[..] else {
        return Err(malformed(format!("its data_offsets are {offsets}, not of 2")));
    };
    if end < begin {
        let what = format!("its data_offsets {begin}..{end} end before they begin");
        return Err(Error::new(Kind::InvalidOffsets, what).numbers(end, begin));
    }
    check_length(dtype, &shape, end - begin)?;
    let absolute = |offset: u64| {
        offset
            .checked_add(data_start)
            .ok_or_else(|| Error::new(Kind::Overflow, format!("offset {offset} overflows")))
    };
    Ok(Entry { name: name.to_owned(), dtype, shape, range: absolute(begin)?..absolute(end)? })
}

fn field<'f>(fields: &'f [(String, Json)], wanted: &str) -> Result<&'f Json> {
    let mut found = fields.iter().filter(|(key, _)| key == wanted);
    let Some((_, value)) = found.next() else {
        return Err(Error::new(Kind::MalformedHeader, format!("its entry has no {wanted}")));
    };
    match found.next() {
        None => Ok(value),
        Some(_) => Err(Error::new(Kind::DuplicateField, format!("its entry has {wanted} twice"))),
    }
}

fn numbers(what: &str, value: &Json) -> Result<Vec<u64>> {
    let Json::List(items) = value else {
        return Err(Error::new(Kind::MalformedHeader, format!("its {what} is {value}, not a list")));
    };
    let number = |item: &Json| match item {
        Json::Unsigned(number) => Ok(*number),
        _ => Err(Error::new(
            Kind::MalformedHeader,
            format!("its {what} holds {item}, no unsigned 64-bit integer"),
        )),
    };
    items.iter().map(number).collect()
}

/// Bytes that a tensor needs.
///
/// # Errors
/// `Overflow`; `Misaligned` when elements of 4 or 6 bits do not fill whole bytes.
pub(crate) fn payload_len(dtype: Dtype, shape: &[u64]) -> Result<u64> {
    let bits = shape.iter().try_fold(dtype.bits(), |bits, &dim| bits.checked_mul(dim));
    let bits = bits.ok_or_else(|| {
        Error::new(
            Kind::Overflow,
            format!("the size of shape {shape:?} of {} overflows 64 bits", dtype.name()),
        )
    })?;
    if bits % 8 != 0 {
        let what =
            format!("shape {shape:?} of {} has {bits} bits, which do not fill whole bytes", dtype.name());
        return Err(Error::new(Kind::Misaligned, what));
    }
    Ok(bits / 8)
}

fn check_length(dtype: Dtype, shape: &[u64], found: u64) -> Result<()> {
    let needed = payload_len(dtype, shape)?;
    if needed == found {
        return Ok(());
    }
    let what = format!("it has {found} bytes, but shape {shape:?} of {} needs {needed}", dtype.name());
    Err(Error::new(Kind::LengthMismatch, what).numbers(found, needed))
}

/// Entries, sorted, must cover the data without overlap or hole, up to the end of the file.
fn check_tiling(entries: &[Entry], data_start: u64, file_len: u64) -> Result<()> {
    let mut end = data_start;
    for entry in entries {
        let start = entry.range.start;
        if start != end {
            let (kind, what) = if start < end { (Kind::Overlap, "overlap") } else { (Kind::Gap, "a gap") };
            let (at, previous) = (start - data_start, end - data_start);
            let what = format!("it begins at {at}, but the tensor before it ends at {previous}: {what}");
            return Err(Error::new(kind, what).numbers(at, previous).of(&entry.name));
        }
        end = entry.range.end;
    }
    if end > file_len {
        let what = format!("truncated: the data ends at byte {end}, but the file has {file_len} bytes");
        let error = Error::new(Kind::Truncated, what).numbers(file_len, end);
        return Err(match entries.iter().find(|entry| entry.range.end > file_len) {
            Some(entry) => error.of(&entry.name),
            None => error,
        });
    }
    if end < file_len {
        let what =
            format!("{} trailing bytes: the data ends at {end}, the file at {file_len}", file_len - end);
        return Err(Error::new(Kind::TrailingBytes, what).numbers(file_len, end));
    }
    Ok(())
}
