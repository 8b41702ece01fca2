//! Unpacking and checking archive members, never past a stated number of bytes.

use std::io::Read;
use std::ops::Range;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use crate::checksum::crc32;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::check;
use crate::zip::{Member, Method};

/// Bytes unpacked at a time; also how far an allocation runs ahead of bytes that are really there.
const CHUNK: usize = 1 << 16;

/// The whole of a deflated member.
pub(crate) fn whole(file: &[u8], member: &Member, what: &'static str, limit: u64) -> Result<Vec<u8>> {
    check(what, member.unpacked, limit).map_err(|kind| Error::from(kind).with_member(&member.name))?;
    let len = usize::try_from(member.unpacked).unwrap_or(usize::MAX);
    window(file, member, 0..len)
}

/// A range of the unpacked bytes of a deflated member. What is before it is unpacked and dropped. The CRC is
/// compared if the range is all there is.
pub(crate) fn window(file: &[u8], member: &Member, range: Range<usize>) -> Result<Vec<u8>> {
    let packed = member.range(file)?;
    let mut decoder = DeflateDecoder::new(file.get(packed).unwrap_or_default());
    let mut chunk = vec![0; CHUNK.min(range.end)];
    let mut out = Vec::new();
    let mut done = 0;
    while done < range.end {
        let want = chunk.len().min(range.end - done);
        let got = decoder.read(&mut chunk[..want]).unwrap_or(0);
        if got == 0 {
            let what = format!("the member unpacks to {done} bytes, {} are needed", range.end);
            return Err(Error::from(ErrorKind::truncated(what)).with_member(&member.name));
        }
        let skip = range.start.saturating_sub(done).min(got);
        out.extend_from_slice(&chunk[skip..got]);
        done += got;
    }
    if out.len() as u64 == member.unpacked {
        compare(member, crc32(&[&out]))?;
    }
    Ok(out)
}

/// Reads a whole member and compares its CRC. A CRC of 0 means that none was computed.
pub(crate) fn verify(file: &[u8], member: &Member) -> Result<()> {
    if member.crc == 0 {
        return Ok(());
    }
    let packed = file.get(member.range(file)?).unwrap_or_default();
    if member.method == Method::Stored {
        return compare(member, crc32(&[packed]));
    }
    let mut crc = Crc::new();
    let mut decoder = DeflateDecoder::new(packed);
    let mut chunk = vec![0; CHUNK];
    let mut left = member.unpacked;
    while left > 0 {
        let got = decoder.read(&mut chunk).unwrap_or(0);
        if got == 0 {
            let what = format!("the member lacks {left} of its {} bytes", member.unpacked);
            return Err(Error::from(ErrorKind::truncated(what)).with_member(&member.name));
        }
        let got = got.min(usize::try_from(left).unwrap_or(usize::MAX));
        crc.update(&chunk[..got]);
        left -= got as u64;
    }
    compare(member, crc.sum())
}

fn compare(member: &Member, found: u32) -> Result<()> {
    if member.crc != 0 && member.crc != found {
        let kind = ErrorKind::Checksum { found, expected: member.crc };
        return Err(Error::from(kind).with_member(&member.name));
    }
    Ok(())
}
