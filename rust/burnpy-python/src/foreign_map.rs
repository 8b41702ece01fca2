//! A file of another format as memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use burnpy_buffer::{Bytes, MapMode, map_file};
use burnpy_pack::{FileSource, Identity, Source};

use crate::failure::Failure;

/// The bytes of a file, mapped where that is possible, and which file it is.
#[derive(Clone)]
pub(crate) struct ForeignMap {
    pub(crate) bytes: Bytes,
    identity: Option<Identity>,
}

impl ForeignMap {
    /// Maps a file. What is no regular file, or is on a file system without maps, is read into memory.
    ///
    /// # Errors
    /// Whatever the system says; a folder is `IsADirectory`.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(is_a_directory());
        }
        // Files that the system makes up as they are read, as in /proc, say that they are empty.
        let has_bytes = metadata.is_file() && metadata.len() > 0;
        let mapped = if has_bytes { map_file(&file, MapMode::Shared).ok() } else { None };
        match mapped {
            Some(bytes) => Ok(Self { bytes, identity: FileSource::new(file)?.identity() }),
            None => {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes)?;
                Ok(Self { bytes: bytes.into(), identity: None })
            }
        }
    }

    /// What is in memory already.
    pub(crate) const fn of(bytes: Bytes) -> Self {
        Self { bytes, identity: None }
    }

    /// A map of the same file that may be written without anybody else seeing it; `None` if the path leads to
    /// another file by now.
    pub(crate) fn private(&self, path: &Path) -> Option<Bytes> {
        let identity = self.identity.as_ref()?;
        let file = File::open(path).ok()?;
        let map = map_file(&file, MapMode::Private).ok()?;
        let source = FileSource::new(file).ok()?;
        let same = source.identity().as_ref() == Some(identity) && map.len() == self.bytes.len();
        same.then_some(map)
    }

    /// Tells whether the bytes are still those of the opened file, as far as the path leads to it.
    ///
    /// # Errors
    /// `changed`: the file has another length or time of change. One that took its place has no say.
    pub(crate) fn check_unchanged(&self, path: &Path) -> Result<(), Failure> {
        let Some(Identity::File { device, inode, modified_ns }) = self.identity else { return Ok(()) };
        let Some(source) = File::open(path).ok().and_then(|file| FileSource::new(file).ok()) else {
            return Ok(());
        };
        match source.identity() {
            Some(Identity::File { device: d, inode: i, modified_ns: m })
                if (d, i) == (device, inode)
                    && (m != modified_ns || source.len() != self.bytes.len() as u64) =>
            {
                Err(Failure::Changed)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(unix)]
fn is_a_directory() -> io::Error {
    const EISDIR: i32 = 21;
    io::Error::from_raw_os_error(EISDIR)
}

#[cfg(not(unix))]
fn is_a_directory() -> io::Error {
    io::ErrorKind::IsADirectory.into()
}
