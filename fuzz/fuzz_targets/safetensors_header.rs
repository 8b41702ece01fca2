//! Any bytes as a safetensors file: what is accepted tiles the file, and is accepted again when it is written again.
#![no_main]

use burnpy_safetensors::{Header, LENGTH_BYTES, Spec, header_end, plan};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // The bytes as they are, and as a header whose length is right.
    check(data, data.len() as u64);
    let mut framed = (data.len() as u64).to_le_bytes().to_vec();
    framed.extend_from_slice(data);
    for payload in [0, 8, 1 << 20] {
        check(&framed, framed.len() as u64 + payload);
    }
});

fn check(head: &[u8], file_len: u64) {
    let Ok(end) = header_end(head, file_len) else { return };
    let Some(json) = head.get(LENGTH_BYTES..end as usize) else { return };
    let Ok(header) = Header::decode(json, file_len) else { return };
    let mut at = end;
    for entry in &header.entries {
        assert_eq!(entry.range.start, at, "the tensors tile the file");
        at = entry.range.end;
    }
    assert_eq!(at, file_len);
    let spec = |name: &str, dtype, shape: &[u64]| Spec { name: name.to_owned(), dtype, shape: shape.to_vec() };
    let specs: Vec<_> = header.entries.iter().map(|entry| spec(&entry.name, entry.dtype, &entry.shape)).collect();
    let plan = plan(&specs, header.metadata.as_ref()).expect("what was read can be written");
    let again = Header::decode(&plan.head[LENGTH_BYTES..], plan.total).expect("what was written can be read");
    assert_eq!(again.metadata, header.metadata);
    assert_eq!(again.entries.len(), header.entries.len());
}
