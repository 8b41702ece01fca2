//! Which container a file is, from its first bytes.

use crate::error::{ErrorKind, Result};

/// What PyTorch's checkpoints come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Zip,
    Tar,
    Legacy,
    Pickle,
}

/// The ten bytes of the legacy stream's magic number, as protocol 2 and later write it.
pub(crate) const MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];
/// The same number in digits, as protocols 0 and 1 write it.
const MAGIC_DIGITS: &[u8] = b"119547037146038801333356";
/// How far from the start the magic number may be.
const MAGIC_WITHIN: usize = 64;

/// Which container a file is.
pub(crate) fn sniff(file: &[u8]) -> Result<Container, ErrorKind> {
    let start = &file[..file.len().min(MAGIC_WITHIN)];
    if file.is_empty() {
        return Err(ErrorKind::not_a_checkpoint("the file is empty (0 bytes)"));
    }
    if file.starts_with(b"PK\x03\x04") || file.starts_with(b"PK\x05\x06") || matches!(file, b"PK" | b"PK\x03")
    {
        return Ok(Container::Zip);
    }
    if file.get(257..262) == Some(b"ustar") {
        return Ok(Container::Tar);
    }
    let has = |magic: &[u8]| start.windows(magic.len()).any(|window| window == magic);
    if has(&MAGIC) || has(MAGIC_DIGITS) {
        return Ok(Container::Legacy);
    }
    if is_start_of_legacy(file) {
        return Err(ErrorKind::truncated("the file ends inside the magic number"));
    }
    match start {
        _ if is_safetensors(file) => Err(ErrorKind::not_a_checkpoint("a safetensors file")),
        [0x80 | b'(' | b'}' | b']' | b'c', ..] => Ok(Container::Pickle),
        _ => Err(ErrorKind::not_a_checkpoint(looks_like(file))),
    }
}

/// Whether a file is a legacy stream that ends before its magic number does.
fn is_start_of_legacy(file: &[u8]) -> bool {
    let [0x80, protocol @ 2..=5, rest @ ..] = file else { return false };
    let rest = match rest {
        [0x95, frame @ ..] if *protocol >= 4 => frame.get(8..).unwrap_or_default(),
        rest => rest,
    };
    let number = [&[0x8a, 10], &MAGIC[..]].concat();
    !rest.is_empty() && number.starts_with(rest)
}

/// A safetensors file is a 64-bit length and a JSON object of at most 100 MB.
fn is_safetensors(file: &[u8]) -> bool {
    let Some((length, [b'{', ..])) = file.split_first_chunk::<8>() else { return false };
    (2..=100_000_000).contains(&u64::from_le_bytes(*length))
}

fn looks_like(file: &[u8]) -> &'static str {
    const SIGNATURES: [(&[u8], &str); 9] = [
        (b"version https://git-lfs", "a Git LFS pointer, the content itself was not fetched"),
        (b"<!doctype", "an HTML page, a download that failed?"),
        (b"<html", "an HTML page, a download that failed?"),
        (b"\x93NUMPY", "a NumPy array (.npy)"),
        (b"\x89HDF", "an HDF5 file"),
        (b"\x1f\x8b", "a gzip-compressed file"),
        (b"\x28\xb5\x2f\xfd", "a zstd-compressed file"),
        (b"GGUF", "a GGUF file"),
        (b"{", "a JSON file"),
    ];
    let is = |magic: &[u8]| file.get(..magic.len()).is_some_and(|start| start.eq_ignore_ascii_case(magic));
    SIGNATURES
        .iter()
        .find(|(magic, _)| is(magic))
        .map_or("neither a zip, a tar nor a pickle", |&(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_told_by_their_first_bytes() {
        let mut tar = vec![b'a'; 512];
        tar[257..262].copy_from_slice(b"ustar");
        for (file, container) in [
            (&b"PK\x03\x04"[..], Container::Zip),
            (&tar, Container::Tar),
            (b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02", Container::Legacy),
            (b"L119547037146038801333356L\n.", Container::Legacy),
            (b"\x80\x02}.", Container::Pickle),
        ] {
            assert_eq!(sniff(file), Ok(container));
        }
    }

    #[test]
    fn a_cut_magic_number_is_no_plain_pickle() {
        assert_eq!(sniff(b"\x80\x02\x8a\x0al\xfc\x9c").unwrap_err().name(), "truncated");
        assert_eq!(sniff(b"\x80\x04\x95\x0d\0\0\0\0\0\0\0\x8a").unwrap_err().name(), "truncated");
        assert_eq!(sniff(b"\x80\x02"), Ok(Container::Pickle));
    }

    #[test]
    fn other_files_are_named() {
        for (file, word) in [
            (&b""[..], "empty"),
            (b"<!DOCTYPE html>", "HTML"),
            (b"version https://git-lfs.github.com/spec/v1", "LFS"),
            (b"\x93NUMPY\x01", "NumPy"),
            (b"\x30\0\0\0\0\0\0\0{\"w\":", "safetensors"),
            (b"abc", "neither"),
        ] {
            assert!(sniff(file).unwrap_err().to_string().contains(word));
        }
    }
}
