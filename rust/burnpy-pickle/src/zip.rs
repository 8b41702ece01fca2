//! The directory of a zip archive, and the place of each member.
//!
//! Our own parser rather than a crate's: a stored member must be found as a range of the mapped file, so that
//! tensors are views of it, and hostile directories (overlaps, duplicates, sizes that lie) must be refused.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Limits, check};

const LOCAL_HEADER: [u8; 4] = *b"PK\x03\x04";
const DIRECTORY_ENTRY: [u8; 4] = *b"PK\x01\x02";
const DIRECTORY_END: [u8; 4] = *b"PK\x05\x06";
const ZIP64_END: [u8; 4] = *b"PK\x06\x06";
const ZIP64_LOCATOR: [u8; 4] = *b"PK\x06\x07";
/// Bytes of the parts of fixed size.
const LOCAL_LEN: usize = 30;
const ENTRY_LEN: usize = 46;
const END_LEN: usize = 22;
const LOCATOR_LEN: usize = 20;

/// How a member is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Stored,
    Deflated,
    Other(u16),
}

/// One member, as the directory has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: Box<str>,
    pub(crate) method: Method,
    pub(crate) encrypted: bool,
    pub(crate) crc: u32,
    /// Bytes in the archive.
    pub(crate) packed: u64,
    /// Bytes once unpacked.
    pub(crate) unpacked: u64,
    header: usize,
    /// Where the next member, or the directory, begins.
    bound: usize,
}

impl Member {
    /// Where the packed bytes are in the file. Reads the local header, so that opening a file touches only
    /// its directory.
    pub(crate) fn range(&self, file: &[u8]) -> Result<Range<usize>> {
        let bad = |what: &'static str| Error::from(ErrorKind::archive(what)).with_member(&self.name);
        let header =
            part(file, self.header, LOCAL_LEN).ok_or_else(|| bad("the local header leaves the file"))?;
        if !header.starts_with(&LOCAL_HEADER) {
            return Err(bad("there is no local header where the directory says"));
        }
        let (name_len, extra_len) = (u16_at(header, 26), u16_at(header, 28));
        if part(file, self.header + LOCAL_LEN, name_len) != Some(self.name.as_bytes()) {
            return Err(bad("the local header has another name"));
        }
        let start = self.header + LOCAL_LEN + name_len + extra_len;
        let end = usize::try_from(self.packed).ok().and_then(|len| start.checked_add(len));
        let end = end.filter(|end| *end <= self.bound.min(file.len()));
        let end = end.ok_or_else(|| bad("its bytes reach into the next member or beyond the file"))?;
        if self.encrypted {
            return Err(Error::from(ErrorKind::unsupported("an encrypted archive")).with_member(&self.name));
        }
        match self.method {
            // Deflate packs 1032 bytes into one at best.
            Method::Deflated if self.unpacked / 1040 > self.packed => {
                Err(bad("it claims to unpack to more than it can"))
            }
            Method::Stored if self.packed != self.unpacked => {
                Err(bad("its two sizes differ, and it is not compressed"))
            }
            Method::Other(method) => {
                let what = format!("compression method {method}");
                Err(Error::from(ErrorKind::unsupported(what)).with_member(&self.name))
            }
            _ => Ok(start..end),
        }
    }
}

/// Reads the directory.
pub(crate) fn members(file: &[u8], limits: &Limits) -> Result<Vec<Member>> {
    let directory = directory(file)?;
    check("the number of archive members", directory.count, limits.max_members)?;
    let mut rest = &file[directory.range.clone()];
    let mut members = Vec::new();
    for _ in 0..directory.count {
        let (member, len) = entry(rest, directory.range.start)?;
        members.push(member);
        rest = &rest[len..];
    }
    bound_members(&mut members, directory.range.start)?;
    Ok(members)
}

/// The members by name.
pub(crate) fn by_name(members: &[Member]) -> HashMap<&str, &Member> {
    members.iter().map(|member| (&*member.name, member)).collect()
}

struct Directory {
    range: Range<usize>,
    count: u64,
}

/// Finds the directory from the end of the file.
fn directory(file: &[u8]) -> Result<Directory> {
    let incomplete =
        || ErrorKind::truncated("the archive has no end of central directory, the file is incomplete");
    let end = find_end(file).ok_or_else(incomplete)?;
    let record = part(file, end, END_LEN).ok_or_else(incomplete)?;
    let (mut count, mut len, mut start) =
        (u16_at(record, 10) as u64, u64::from(u32_at(record, 12)), u64::from(u32_at(record, 16)));
    let mut bound = end;
    if let Some((zip64, at)) = zip64_end(file, end)? {
        (count, len, start) = (u64_at(zip64, 32), u64_at(zip64, 40), u64_at(zip64, 48));
        bound = at;
    }
    let range =
        usize::try_from(start).ok().zip(start.checked_add(len).and_then(|end| usize::try_from(end).ok()));
    match range {
        Some((start, end)) if start <= end && end <= bound => Ok(Directory { range: start..end, count }),
        _ => Err(ErrorKind::archive(format!(
            "the central directory of {len} bytes at {start} does not lie before its end record at {bound}"
        ))
        .into()),
    }
}

/// The last end record whose comment fits in the file.
fn find_end(file: &[u8]) -> Option<usize> {
    let first = file.len().saturating_sub(END_LEN + usize::from(u16::MAX));
    let tail = &file[first..];
    let found = tail.windows(4).rposition(|window| window == DIRECTORY_END);
    found.map(|at| first + at)
}

/// The record that replaces the end record of an archive beyond 4 GiB or 65 535 members, and its place.
fn zip64_end(file: &[u8], end: usize) -> Result<Option<(&[u8], usize)>> {
    let locator = end.checked_sub(LOCATOR_LEN).and_then(|at| part(file, at, LOCATOR_LEN));
    let Some(locator) = locator.filter(|locator| locator.starts_with(&ZIP64_LOCATOR)) else {
        return Ok(None);
    };
    let at = usize::try_from(u64_at(locator, 8)).ok().filter(|at| *at < end);
    let record = at.and_then(|at| part(file, at, 56)).filter(|record| record.starts_with(&ZIP64_END));
    let found =
        record.zip(at).ok_or(ErrorKind::archive("the zip64 end record is not where its locator says"))?;
    Ok(Some(found))
}

/// One entry of the directory, and its length.
fn entry(bytes: &[u8], directory: usize) -> Result<(Member, usize)> {
    let fixed = part(bytes, 0, ENTRY_LEN).filter(|entry| entry.starts_with(&DIRECTORY_ENTRY));
    let fixed = fixed.ok_or(ErrorKind::archive("the central directory has fewer entries than it says"))?;
    let (name_len, extra_len, comment_len) = (u16_at(fixed, 28), u16_at(fixed, 30), u16_at(fixed, 32));
    let len = ENTRY_LEN + name_len + extra_len + comment_len;
    let variable = part(bytes, ENTRY_LEN, name_len + extra_len + comment_len);
    let variable = variable.ok_or(ErrorKind::archive("an entry of the central directory is cut off"))?;
    let (name, extra) = variable.split_at(name_len);
    let name =
        std::str::from_utf8(name).map_err(|_| ErrorKind::archive("the name of a member is not UTF-8"))?;
    let mut wide = [u64::from(u32_at(fixed, 24)), u64::from(u32_at(fixed, 20)), u64::from(u32_at(fixed, 42))];
    widen(&mut wide, &extra[..extra_len]);
    let [unpacked, packed, header] = wide;
    let header = usize::try_from(header).ok().filter(|header| *header < directory);
    let header = header.ok_or(ErrorKind::archive(format!("member {name:?} begins behind the directory")))?;
    let method = match u16_at(fixed, 10) {
        0 => Method::Stored,
        8 => Method::Deflated,
        other => Method::Other(other as u16),
    };
    let encrypted = u16_at(fixed, 8) & 1 == 1;
    let crc = u32_at(fixed, 16);
    Ok((
        Member { name: name.into(), method, encrypted, crc, packed, unpacked, header, bound: directory },
        len,
    ))
}

/// Replaces the numbers that are all ones by those of the zip64 extra field.
fn widen(numbers: &mut [u64; 3], mut extra: &[u8]) {
    while let [a, b, c, d, rest @ ..] = extra {
        let (tag, len) = (u16::from_le_bytes([*a, *b]), usize::from(u16::from_le_bytes([*c, *d])));
        let Some((mut field, after)) = rest.split_at_checked(len) else { return };
        if tag == 1 {
            for number in numbers.iter_mut().filter(|number| **number == u64::from(u32::MAX)) {
                let Some((wide, rest)) = field.split_first_chunk::<8>() else { return };
                *number = u64::from_le_bytes(*wide);
                field = rest;
            }
            return;
        }
        extra = after;
    }
}

/// Notes where each member must end, and refuses two that overlap or have one name.
fn bound_members(members: &mut [Member], directory: usize) -> Result<()> {
    let mut names = HashSet::with_capacity(members.len());
    if let Some(twice) = members.iter().find(|member| !names.insert(&*member.name)) {
        return Err(ErrorKind::archive(format!("two members are named {:?}", twice.name)).into());
    }
    members.sort_by_key(|member| member.header);
    let mut bound = directory;
    for member in members.iter_mut().rev() {
        let least = (member.header + LOCAL_LEN + member.name.len()) as u64;
        if least.checked_add(member.packed).is_none_or(|end| end > bound as u64) {
            let what = "it overlaps the next member or the directory";
            return Err(Error::from(ErrorKind::archive(what)).with_member(&member.name));
        }
        member.bound = bound;
        bound = member.header;
    }
    Ok(())
}

fn part(bytes: &[u8], start: usize, len: usize) -> Option<&[u8]> {
    bytes.get(start..start.checked_add(len)?)
}

/// A little-endian number inside a record of fixed size; 0 beyond its end.
fn number_at<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    record.get(at..).and_then(|rest| rest.first_chunk::<N>()).copied().unwrap_or([0; N])
}

fn u16_at(record: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes(number_at(record, at)))
}

fn u32_at(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(number_at(record, at))
}

fn u64_at(record: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(number_at(record, at))
}
