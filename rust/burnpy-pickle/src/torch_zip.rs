//! The zip container: PyTorch 1.6 and later.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::checkpoint::{ArchiveInfo, Format, Opened};
use crate::error::{Error, ErrorKind, Result};
use crate::heap::{Heap, Persistent};
use crate::inflate;
use crate::input::Input;
use crate::limits::{Limits, check};
use crate::machine;
use crate::storage::Located;
use crate::zip::{self, Member, Method};

/// Bytes of a text member such as `byteorder`.
const MAX_TEXT: u64 = 4096;

/// An archive and the folder in it that PyTorch wrote.
struct Archive<'a> {
    file: &'a [u8],
    members: HashMap<&'a str, &'a Member>,
    top: &'a str,
}

pub(crate) fn open(file: &[u8], limits: &Limits) -> Result<Opened> {
    let members = zip::members(file, limits)?;
    let archive = Archive { file, top: top(&members)?, members: zip::by_name(&members) };
    archive.refuse_programs()?;
    let big_endian = archive.is_big_endian()?;
    let (member, pickle) = archive.pickle(limits)?;
    let (bytes, base) = match &pickle {
        Cow::Borrowed(stored) => (*stored, Some(member.range(file)?.start)),
        Cow::Owned(inflated) => (&**inflated, None),
    };
    let mut heap = Heap::new(limits, bytes.len());
    let loaded = machine::load(&mut heap, limits, Input::new(bytes, base), Persistent::Storages)
        .map_err(|error| error.with_member(&member.name))?;
    for storage in &mut heap.storages.list {
        archive.locate(storage, big_endian);
    }
    let info = ArchiveInfo {
        version: archive.text("version")?,
        format_version: archive.text(".format_version")?,
        storage_alignment: archive.text(".storage_alignment")?,
        big_endian,
        data_size: Some(archive.data_size()),
    };
    let pickle_len = bytes.len();
    let inflated = if base.is_none() { pickle.into_owned() } else { Vec::new() };
    Ok(Opened { format: Format::Zip, heap, loaded, inflated, info, pickle_len })
}

/// What precedes `data.pkl` in the shortest name that ends with it.
fn top(members: &[Member]) -> Result<&str> {
    let is_pickle = |name: &&str| *name == "data.pkl" || name.ends_with("/data.pkl");
    let names = || members.iter().map(|member| &*member.name);
    if let Some(name) = names().filter(is_pickle).min_by_key(|name| name.len()) {
        return Ok(name.strip_suffix("data.pkl").unwrap_or_default());
    }
    let of_export = |name: &str| {
        ["archive_format", "models/model.json", "serialized_exported_program.json"]
            .iter()
            .any(|end| name.ends_with(end))
    };
    if names().any(of_export) {
        return Err(ErrorKind::ExportedProgram.into());
    }
    Err(ErrorKind::not_a_checkpoint("a zip archive without data.pkl").into())
}

impl<'a> Archive<'a> {
    fn member(&self, name: &str) -> Option<&'a Member> {
        self.members.get(&*format!("{}{name}", self.top)).copied()
    }

    /// TorchScript archives have a `data.pkl` too, but of objects whose classes are code beside it.
    fn refuse_programs(&self) -> Result<()> {
        let code = format!("{}code/", self.top);
        if self.member("constants.pkl").is_some() || self.members.keys().any(|name| name.starts_with(&code)) {
            return Err(ErrorKind::TorchScript.into());
        }
        Ok(())
    }

    fn is_big_endian(&self) -> Result<bool> {
        match self.text("byteorder")?.as_deref() {
            None | Some("little") => Ok(false),
            Some("big") => Ok(true),
            Some(other) => Err(ErrorKind::unsupported(format!("byte order {other:?}")).into()),
        }
    }

    fn data_size(&self) -> u64 {
        let data = format!("{}data/", self.top);
        let sizes = self
            .members
            .iter()
            .filter(|(name, _)| name.starts_with(&data))
            .map(|(_, member)| member.unpacked);
        sizes.fold(0, u64::saturating_add)
    }

    /// The text of a small member.
    fn text(&self, name: &str) -> Result<Option<String>> {
        let Some(member) = self.member(name) else { return Ok(None) };
        let bytes = self.bytes(member, "the size of a text member", MAX_TEXT)?;
        Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()))
    }

    fn pickle(&self, limits: &Limits) -> Result<(&'a Member, Cow<'a, [u8]>)> {
        let member =
            self.member("data.pkl").ok_or(ErrorKind::not_a_checkpoint("a zip archive without data.pkl"))?;
        let limit = if member.method == Method::Stored { u64::MAX } else { limits.max_inflated_pickle };
        Ok((member, self.bytes(member, "the size of a compressed data.pkl", limit)?))
    }

    /// The bytes of a member, unpacked if need be.
    fn bytes(&self, member: &'a Member, what: &'static str, limit: u64) -> Result<Cow<'a, [u8]>> {
        check(what, member.unpacked, limit).map_err(|kind| Error::from(kind).with_member(&member.name))?;
        let range = member.range(self.file)?;
        if member.method == Method::Stored {
            return Ok(Cow::Borrowed(self.file.get(range).unwrap_or_default()));
        }
        inflate::whole(self.file, member, what, limit).map(Cow::Owned)
    }

    fn locate(&self, storage: &mut crate::storage::Storage, big_endian: bool) {
        if storage.located != Located::Unknown {
            return; // part of the pickle
        }
        storage.big_endian = big_endian;
        storage.located = match self.member(&format!("data/{}", storage.key)) {
            Some(member) => Located::Member(Box::new(member.clone())),
            None => Located::Missing(format!("{}data/{}", self.top, storage.key).into()),
        };
    }
}
