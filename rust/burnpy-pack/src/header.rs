//! The ten bytes in front, and where the data section starts.

use crate::error::{Error, ErrorKind, Result};

/// "BURN" as a big-endian number; on disk, little-endian, the bytes read `NRUB`.
pub const MAGIC_NUMBER: u32 = 0x4255_524E;
/// The version that is written, and the newest that is read.
pub const FORMAT_VERSION: u16 = 1;
/// Bytes of the header.
pub const HEADER_SIZE: usize = 10;
/// Every tensor starts on a multiple of this, counted from the start of the file.
pub const ALIGNMENT: u64 = 256;
/// The extension of a burnpack file, without its dot.
pub const EXTENSION: &str = "bpk";

/// The next multiple of [`ALIGNMENT`], `None` where that is over 2⁶⁴ − 1.
pub fn align_up(n: u64) -> Option<u64> {
    n.checked_next_multiple_of(ALIGNMENT)
}

/// Where the data section starts: the first multiple of [`ALIGNMENT`] after header and metadata.
///
/// ```
/// assert_eq!(burnpy_pack::data_start(246), Some(256));
/// assert_eq!(burnpy_pack::data_start(247), Some(512));
/// assert_eq!(burnpy_pack::data_start(u64::MAX), None); // a hostile length is not a panic
/// ```
pub fn data_start(metadata_size: u64) -> Option<u64> {
    align_up(metadata_size.checked_add(HEADER_SIZE as u64)?)
}

/// The fixed header: magic number, version, length of the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// [`MAGIC_NUMBER`].
    pub magic: u32,
    /// Format version; 0 is read like 1.
    pub version: u16,
    /// Length of the CBOR that follows, padding not counted.
    pub metadata_size: u32,
}

impl Header {
    /// A header of today's version.
    pub const fn new(metadata_size: u32) -> Self {
        Self { magic: MAGIC_NUMBER, version: FORMAT_VERSION, metadata_size }
    }

    /// The bytes on disk.
    pub fn into_bytes(self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        bytes[..4].copy_from_slice(&self.magic.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.version.to_le_bytes());
        bytes[6..].copy_from_slice(&self.metadata_size.to_le_bytes());
        bytes
    }

    /// Reads a header; the version and the length are for the reader to judge.
    ///
    /// # Errors
    /// `InvalidHeader` for fewer than ten bytes, `InvalidMagicNumber`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let &[m0, m1, m2, m3, v0, v1, s0, s1, s2, s3, ..] = bytes else {
            let found = bytes.len() as u64;
            let what = crate::sniff::sniff(bytes).unwrap_or("not a burnpack file");
            return Err(ErrorKind::InvalidHeader { what, expected: HEADER_SIZE as u64, found }.into());
        };
        let magic = u32::from_le_bytes([m0, m1, m2, m3]);
        if magic != MAGIC_NUMBER {
            let looks_like = crate::sniff::sniff(bytes);
            return Err(ErrorKind::InvalidMagicNumber { found: magic, looks_like }.into());
        }
        let version = u16::from_le_bytes([v0, v1]);
        Ok(Self { magic, version, metadata_size: u32::from_le_bytes([s0, s1, s2, s3]) })
    }

    /// Refuses a version that this reader does not know.
    pub(crate) fn check_version(&self) -> Result<(), Error> {
        match self.version {
            0..=FORMAT_VERSION => Ok(()),
            found => Err(ErrorKind::InvalidVersion { found, newest: FORMAT_VERSION }.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_section_starts_on_the_first_multiple_after_the_metadata() {
        for (size, start) in [(0, 256), (1, 256), (10, 256), (245, 256), (246, 256), (247, 512), (4096, 4352)]
        {
            assert_eq!(data_start(size), Some(start), "metadata of {size} bytes");
        }
    }

    #[test]
    fn a_header_round_trips_and_a_wrong_one_is_named() {
        let header = Header::new(1234);
        assert_eq!(Header::from_bytes(&header.into_bytes()).unwrap(), header);
        assert_eq!(Header::from_bytes(&[0; 4]).unwrap_err().kind_name(), "InvalidHeader");
        let wrong = Header { magic: 0xDEAD_BEEF, ..header };
        assert_eq!(Header::from_bytes(&wrong.into_bytes()).unwrap_err().kind_name(), "InvalidMagicNumber");
    }
}
