//! Any bytes as the metadata of a file with 4 KiB of data. A whole container is a seed too: its header is left out.
#![no_main]

use burnpy_pack::{HEADER_SIZE, Header, data_start};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let metadata = match Header::from_bytes(data) {
        Ok(header) => {
            let rest = &data[HEADER_SIZE..];
            &rest[..rest.len().min(header.metadata_size as usize)]
        }
        Err(_) => data,
    };
    let size = metadata.len() as u32;
    let mut file = [&Header::new(size).into_bytes()[..], metadata].concat();
    file.resize(data_start(size.into()).expect("a small start") as usize + 4096, 0);
    burnpy_fuzz::check(&file);
});
