//! Any bytes as a header, and as the first bytes of a file of any kind.
#![no_main]

use burnpy_pack::{HEADER_SIZE, Header, align_up, data_start, sniff};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = sniff(data);
    match Header::from_bytes(data) {
        Ok(header) => {
            assert_eq!(header.into_bytes()[..], data[..HEADER_SIZE]);
            let start = data_start(header.metadata_size.into()).expect("32 bits are no overflow");
            assert!(
                start >= u64::from(header.metadata_size) + HEADER_SIZE as u64
                    && align_up(start) == Some(start)
            );
        }
        Err(error) => assert!(["InvalidHeader", "InvalidMagicNumber"].contains(&error.kind_name())),
    }
    if let Some(&number) = data.first_chunk::<8>() {
        let number = u64::from_le_bytes(number);
        assert!(align_up(number).is_none_or(|aligned| aligned >= number && aligned % 256 == 0));
    }
});
