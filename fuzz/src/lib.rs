//! What must hold for any container that opens.

use burnpy_buffer::Bytes;
use burnpy_pack::{Limits, ReadOptions, Reader, Result, Tensor, Writer};

/// The tolerant options, or the strict ones.
pub fn options(strict: bool) -> ReadOptions {
    ReadOptions { strict, ..ReadOptions::default() }
}

/// Opens tolerantly and strictly, reads all there is, and holds the two against each other.
pub fn check(file: &[u8]) {
    let tolerant = open(file, false);
    if let Ok(reader) = &tolerant {
        read_all(reader);
    }
    let Ok(strict) = open(file, true) else { return };
    read_all(&strict);
    assert!(tolerant.is_ok(), "strict mode takes what the tolerant one refuses: {:?}", tolerant.err());
    if strict.problems(&Limits::default()).is_ok_and(|problems| problems.is_empty()) {
        assert!(written_again(strict)[..] == *file, "what strict mode takes is written again in other bytes");
    }
}

/// Opens bytes.
pub fn open(file: &[u8], strict: bool) -> Result<Reader> {
    Reader::from_bytes(Bytes::from(file.to_vec()), &options(strict))
}

fn read_all(reader: &Reader) {
    for entry in reader.entries() {
        let found = reader.get(entry.name()).expect("a name that is listed is found");
        assert_eq!((found.start(), found.end()), (entry.start(), entry.end()));
        if let Ok(bytes) = reader.bytes(&entry) {
            assert_eq!(bytes.len() as u64, entry.byte_len());
        }
    }
    // Errors are fine here; crashes are not.
    drop(reader.problems(&Limits::default()));
    drop(reader.copy_all());
    if let Err(error) = reader.entry("no such name") {
        assert!(error.to_string().len() < 100_000, "a message of {} bytes", error.to_string().len());
    }
}

/// The bytes of the same content, written in data order.
pub fn written_again(reader: Reader) -> Vec<u8> {
    let tensors: Result<Vec<Tensor>> = reader.entries().map(|entry| reader.tensor(&entry)).collect();
    let mut writer = Writer::new(tensors.expect("strict mode has checked every tensor"));
    for (key, value) in reader.metadata() {
        writer = writer.with_metadata(key, value);
    }
    for (key, value) in reader.scalars() {
        writer = writer.with_scalar(key, *value);
    }
    writer.into_bytes().expect("what was read can be written").to_vec()
}
