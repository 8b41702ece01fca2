//! The bytes themselves: the format's worked examples, and every encoding that its tables list.

use burnpy_buffer::{
    BlockScale, BlockSize, BoolStore, Bytes, DType, QuantMode, QuantScheme, QuantStore, QuantValue,
    ScaleDType,
};
use burnpy_pack::{Header, Scalar, Tensor, Writer, data_start};
use sha2::{Digest, Sha256};

use crate::{f32_bytes, f32_tensor, open};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// The metadata of a file.
fn metadata_of(file: &[u8]) -> &[u8] {
    &file[10..10 + Header::from_bytes(file).unwrap().metadata_size as usize]
}

#[test]
fn the_worked_example_is_written_byte_by_byte() {
    let tensor = Tensor::new("w", DType::F32, vec![2], Some(7), f32_bytes(&[1.0, -2.5]));
    let file = Writer::new(vec![tensor])
        .with_metadata("producer", "burnpy")
        .with_scalar("lr", 0.001)
        .with_scalar("step", 300u32)
        .into_bytes()
        .unwrap();
    let mut expected = bytes_of(
        "4E 52 55 42 01 00 7D 00 00 00 A3 67 74 65 6E 73 6F 72 73 A1 61 77 A4 65 64 74 79 70 65 63 46 33
         32 65 73 68 61 70 65 81 02 6C 64 61 74 61 5F 6F 66 66 73 65 74 73 82 00 08 68 70 61 72 61 6D 5F
         69 64 07 68 6D 65 74 61 64 61 74 61 A1 68 70 72 6F 64 75 63 65 72 66 62 75 72 6E 70 79 67 73 63
         61 6C 61 72 73 A2 62 6C 72 A1 65 46 6C 6F 61 74 FB 3F 50 62 4D D2 F1 A9 FC 64 73 74 65 70 A1 64
         55 49 6E 74 19 01 2C",
    );
    expected.resize(256, 0);
    expected.extend(bytes_of("00 00 80 3F 00 00 20 C0"));
    assert_eq!(file[..], expected);
    assert_eq!(sha256(&file), "5254d356798cd97d7d971e8caef1c39252fdf8584c600304f09ee2046a2e0556");
}

#[test]
fn the_empty_pack_has_256_bytes() {
    let file = Writer::new(vec![]).into_bytes().unwrap();
    let mut expected = bytes_of("4E525542 0100 0A000000 A1 67 74656E736F7273 A0");
    expected.resize(256, 0);
    assert_eq!(file[..], expected);
    assert_eq!(sha256(&file), "d51cafc1a9901c1d26d289a9e29457bb4bb041f704ee783577e890d516927813");
}

#[test]
fn data_lies_in_the_order_given_and_descriptors_in_the_order_of_names() {
    let file = Writer::new(vec![
        Tensor::new("z", DType::U8, vec![3], None, Bytes::from(vec![1, 2, 3])),
        Tensor::new("e", DType::I64, vec![0, 4], None, Bytes::empty()),
        Tensor::new("s", DType::Bool(BoolStore::Native), vec![], None, Bytes::from(vec![1])),
    ])
    .into_bytes()
    .unwrap();
    assert_eq!(file.len(), 513);
    assert_eq!(sha256(&file), "6ed370aeeae21e24fa30e494a80e8660452d2d5914bddaa5e1e996a0535ce8cd");
    let reader = open(file.to_vec()).unwrap();
    assert_eq!((reader.header().metadata_size, reader.data_start()), (137, 256));
    assert_eq!(reader.names().collect::<Vec<_>>(), ["e", "s", "z"]);
    let places: Vec<_> = reader.entries().map(|entry| (entry.name(), entry.start(), entry.end())).collect();
    assert_eq!(places, [("z", 0, 3), ("e", 256, 256), ("s", 256, 257)]);
}

#[test]
fn a_header_round_trips_and_names_what_is_wrong() {
    let header = Header::new(1234);
    assert_eq!(header.into_bytes()[..], bytes_of("4E525542 0100 D2040000"));
    assert_eq!(Header::from_bytes(&header.into_bytes()).unwrap(), header);
    assert_eq!(Header::from_bytes(&[0; 4]).unwrap_err().kind_name(), "InvalidHeader");
    let wrong = Header { magic: 0xDEAD_BEEF, ..header }.into_bytes();
    assert_eq!(Header::from_bytes(&wrong).unwrap_err().kind_name(), "InvalidMagicNumber");
    // Version and length are for the reader to judge.
    let odd = Header { version: 9, metadata_size: u32::MAX, ..header };
    assert_eq!(Header::from_bytes(&odd.into_bytes()).unwrap(), odd);
}

#[test]
fn the_data_section_starts_on_a_multiple_of_256() {
    for (size, start) in [(0, 256), (1, 256), (10, 256), (245, 256), (246, 256), (247, 512), (4096, 4352)] {
        assert_eq!(data_start(size), Some(start), "metadata of {size} bytes");
    }
    assert_eq!(data_start(u64::MAX - 9), None);
}

#[test]
fn every_tensor_starts_on_a_multiple_of_256() {
    let tensors = [("a", 3), ("b", 1), ("c", 2), ("d", 64), ("e", 65)];
    let tensors = tensors.map(|(name, count)| f32_tensor(name, &vec![1.0; count]));
    let reader = open(Writer::new(tensors.into()).into_bytes().unwrap().to_vec()).unwrap();
    let starts: Vec<_> = reader.entries().map(|entry| entry.start()).collect();
    assert_eq!(starts, [0, 256, 512, 768, 1024]);
}

/// The metadata up to a dtype, for a tensor named "".
const BEFORE_DTYPE: &str = "A1 67 74656E736F7273 A1 60 A3 65 6474797065";

#[track_caller]
fn assert_dtype_encoding(dtype: DType, shape: &[u64], expected: &str) {
    let len = dtype.payload_len(shape).unwrap() as usize;
    let tensor = Tensor::new("", dtype, shape.to_vec(), None, Bytes::from(vec![0; len]));
    let file = Writer::new(vec![tensor]).into_bytes().unwrap();
    let expected = [bytes_of(BEFORE_DTYPE), bytes_of(expected)].concat();
    assert_eq!(metadata_of(&file)[..expected.len()], expected, "{dtype:?}");
    assert_eq!(open(file.to_vec()).unwrap().at(0).dtype(), dtype);
}

#[test]
fn every_dtype_has_its_encoding_and_its_size() {
    for (dtype, encoding, size, name) in [
        (DType::F64, "63 463634", 8, "f64"),
        (DType::F32, "63 463332", 4, "f32"),
        (DType::Flex32, "66 466C65783332", 4, "flex32"),
        (DType::F16, "63 463136", 2, "f16"),
        (DType::BF16, "64 42463136", 2, "bf16"),
        (DType::I64, "63 493634", 8, "i64"),
        (DType::I32, "63 493332", 4, "i32"),
        (DType::I16, "63 493136", 2, "i16"),
        (DType::I8, "62 4938", 1, "i8"),
        (DType::U64, "63 553634", 8, "u64"),
        (DType::U32, "63 553332", 4, "u32"),
        (DType::U16, "63 553136", 2, "u16"),
        (DType::U8, "62 5538", 1, "u8"),
        (DType::Bool(BoolStore::Native), "A1 64 426F6F6C 66 4E6174697665", 1, "bool"),
        (DType::Bool(BoolStore::U8), "A1 64 426F6F6C 62 5538", 1, "bool(u8)"),
        (DType::Bool(BoolStore::U32), "A1 64 426F6F6C 63 553332", 4, "bool(u32)"),
    ] {
        assert_eq!((dtype.size(), dtype.name()), (Some(size), name));
        assert_dtype_encoding(dtype, &[3], encoding);
    }
}

#[test]
fn the_default_scheme_and_a_scheme_of_two_levels_have_their_encoding() {
    let default = "A1 66 51466C6F6174 A5 65 76616C7565 63 513846 65 73746F7265 A1 69 5061636B6564553332 00
        64 6D6F6465 69 53796D6D6574726963 66 74656E736F72 F6 65 626C6F636B F6";
    assert_dtype_encoding(DType::QFloat(QuantScheme::default()), &[8], default);
    let block = BlockScale { size: BlockSize::new(&[16]).unwrap(), dtype: ScaleDType::UE4M3 };
    let scheme = QuantScheme {
        value: QuantValue::Q8S,
        store: QuantStore::Native,
        mode: QuantMode::Symmetric,
        tensor: Some(ScaleDType::F32),
        block: Some(block),
    };
    let two_levels = "A1 66 51466C6F6174 A5 65 76616C7565 63 513853 65 73746F7265 66 4E6174697665
        64 6D6F6465 69 53796D6D6574726963 66 74656E736F72 63 463332 65 626C6F636B A2 64 73697A65
        A2 67 73746F72616765 85 10 01 01 01 01 63 6C656E 01 65 6474797065 65 5545344D33";
    assert_dtype_encoding(DType::QFloat(scheme), &[32], two_levels);
}

#[test]
fn quantized_payloads_have_the_lengths_of_the_formats_examples() {
    let q8s = QuantScheme { value: QuantValue::Q8S, store: QuantStore::Native, ..QuantScheme::default() };
    let block = |dtype| Some(BlockScale { size: BlockSize::new(&[4]).unwrap(), dtype });
    let words = QuantScheme { value: QuantValue::Q4F, ..QuantScheme::default() };
    let two_levels = QuantScheme { tensor: Some(ScaleDType::F32), block: block(ScaleDType::UE4M3), ..q8s };
    let one_level = QuantScheme { block: block(ScaleDType::UE8M0), ..q8s };
    for (scheme, shape, len) in [
        (QuantScheme::default(), &[4][..], 4 + 4),
        (QuantScheme::default(), &[5], 8 + 4),
        (words, &[3, 3], 12 + 4),
        (two_levels, &[8], 8 + 2 + 4),
        (q8s, &[2, 3], 6 + 4),
        (one_level, &[8], 8 + 2),
    ] {
        assert_eq!(scheme.payload_len(shape), Ok(len), "{scheme:?} {shape:?}");
    }
}

#[test]
fn every_scalar_has_its_shortest_encoding() {
    for (scalar, expected) in [
        (Scalar::Int(0), "63 496E74 00"),
        (Scalar::Int(23), "63 496E74 17"),
        (Scalar::Int(24), "63 496E74 1818"),
        (Scalar::Int(255), "63 496E74 18FF"),
        (Scalar::Int(256), "63 496E74 190100"),
        (Scalar::Int(65535), "63 496E74 19FFFF"),
        (Scalar::Int(65536), "63 496E74 1A00010000"),
        (Scalar::Int(i64::MAX), "63 496E74 1B7FFFFFFFFFFFFFFF"),
        (Scalar::Int(-1), "63 496E74 20"),
        (Scalar::Int(-24), "63 496E74 37"),
        (Scalar::Int(-25), "63 496E74 3818"),
        (Scalar::Int(-257), "63 496E74 390100"),
        (Scalar::Int(i64::MIN), "63 496E74 3B7FFFFFFFFFFFFFFF"),
        (Scalar::UInt(u64::MAX), "64 55496E74 1BFFFFFFFFFFFFFFFF"),
        (Scalar::Float(-0.0), "65 466C6F6174 F98000"),
        (Scalar::Float(0.001), "65 466C6F6174 FB3F50624DD2F1A9FC"),
        (Scalar::from(0.1f32), "65 466C6F6174 FA3DCCCCCD"),
        (Scalar::Bool(true), "64 426F6F6C F5"),
        (Scalar::Bool(false), "64 426F6F6C F4"),
    ] {
        let file = Writer::new(vec![]).with_scalar("", scalar).into_bytes().unwrap();
        let before = bytes_of("A2 67 74656E736F7273 A0 67 7363616C617273 A1 60 A1");
        assert_eq!(metadata_of(&file), [before, bytes_of(expected)].concat(), "{scalar}");
        assert_eq!(open(file.to_vec()).unwrap().scalars()[""], scalar);
    }
}
