//! What a file that is no burnpack really is.

/// Names the format of a file from its first bytes; `None` when they say nothing.
///
/// ```
/// assert_eq!(burnpy_pack::sniff(b"PK\x03\x04...."), Some("a zip archive: a PyTorch checkpoint?"));
/// assert_eq!(burnpy_pack::sniff(b"????????????"), None);
/// ```
pub fn sniff(start: &[u8]) -> Option<&'static str> {
    const SIGNATURES: [(&[u8], &str); 11] = [
        (b"PK\x03\x04", "a zip archive: a PyTorch checkpoint?"),
        (b"version https://git-lfs", "a Git LFS pointer: the content itself was not fetched"),
        (b"BURN", "a burnpack with a byte-swapped magic number"),
        (b"\x89HDF", "an HDF5 file"),
        (b"\x93NUMPY", "a NumPy array (.npy)"),
        (b"\x1f\x8b", "a gzip-compressed file"),
        (b"\x28\xb5\x2f\xfd", "a zstd-compressed file"),
        (b"GGUF", "a GGUF file"),
        (b"<!DOCTYPE", "an HTML page: a download that failed?"),
        (b"<html", "an HTML page: a download that failed?"),
        (b"{", "a JSON file"),
    ];
    if start.is_empty() {
        return Some("the file is empty");
    }
    if let [0x80, 2..=5, ..] = start {
        return Some("a pickle: an old PyTorch checkpoint?");
    }
    let signature = SIGNATURES.iter().find(|(magic, _)| start.starts_with(magic)).map(|&(_, name)| name);
    signature.or_else(|| is_safetensors(start).then_some("a safetensors file"))
}

/// A safetensors file is a 64-bit length and a JSON object of at most 100 MB.
fn is_safetensors(start: &[u8]) -> bool {
    let Some((length, [b'{', ..])) = start.split_first_chunk::<8>() else { return false };
    (2..=100_000_000).contains(&u64::from_le_bytes(*length))
}

#[cfg(test)]
mod tests {
    use super::sniff;

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        let mut safetensors = 48u64.to_le_bytes().to_vec();
        safetensors.extend(b"{\"w\":");
        for (start, expected) in [
            (&b""[..], "empty"),
            (b"PK\x03\x04\x00", "PyTorch"),
            (b"\x80\x02\x8a\x0a", "pickle"),
            (b"version https://git-lfs.github.com/spec/v1\n", "LFS"),
            (&safetensors, "safetensors"),
            (b"BURN\x00\x01", "byte-swapped"),
        ] {
            assert!(
                sniff(start).is_some_and(|name| name.contains(expected)),
                "{expected}: {:?}",
                sniff(start)
            );
        }
        assert_eq!(sniff(b"\x00\x00\x00\x00\x00\x00\x00\x00{"), None);
    }
}
