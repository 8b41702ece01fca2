//! Archives that are built by hand: what is read, and what is refused.

#![allow(unreachable_pub, reason = "a test has no outside")]

#[path = "support/archive.rs"]
mod archive;

use archive::{Member, deflated, matrix_bytes, matrix_pickle, matrix_pickle_with, stored, tar, zip};
use burnpy_pickle::{Error, Format, Limits, open};

/// The bytes of tensor `w`.
fn read(file: &[u8]) -> Result<Vec<u8>, Error> {
    let checkpoint = open(file, &Limits::default())?;
    let leaves = checkpoint.leaves()?;
    checkpoint.verify(file, &leaves.tensors[0])?;
    checkpoint.read(file, &leaves.tensors[0])
}

#[track_caller]
fn refuses(file: &[u8], kind: &str, word: &str) {
    let error = read(file).unwrap_err();
    assert_eq!(error.kind.name(), kind, "{error}");
    assert!(error.to_string().contains(word), "{error}");
}

/// The usual members, with the storage in another form.
fn members(data: Member) -> Vec<Member> {
    vec![stored("top/data.pkl", &matrix_pickle()), stored("top/byteorder", b"little\n"), data]
}

fn matrix() -> Member {
    stored("top/data/0", &matrix_bytes())
}

#[test]
fn stored_and_deflated_members_and_zip64_give_the_same_tensor() {
    for data in [matrix(), deflated("top/data/0", &matrix_bytes())] {
        for wide in [false, true] {
            let member = Member { extra: vec![0; 9], ..stored("top/data/0", b"") };
            let data = Member { extra: member.extra, packed: data.packed.clone(), ..data };
            let file = zip(&members(data), wide);
            assert_eq!(read(&file).unwrap(), matrix_bytes());
        }
    }
}

#[test]
fn a_stored_tensor_is_a_range_of_the_file_and_a_deflated_one_is_not() {
    for (data, stored) in [(matrix(), true), (deflated("top/data/0", &matrix_bytes()), false)] {
        let file = zip(&members(data), false);
        let checkpoint = open(&file, &Limits::default()).unwrap();
        let leaves = checkpoint.leaves().unwrap();
        let range = checkpoint.view_range(&file, &leaves.tensors[0]).unwrap();
        assert_eq!(range.map(|range| file[range].to_vec()), stored.then(matrix_bytes));
        assert_eq!(
            checkpoint.storage(leaves.tensors[0].tensor.storage).unwrap().member(),
            Some("top/data/0")
        );
    }
}

#[test]
fn a_deflated_pickle_is_read_at_any_folder() {
    let file = zip(&[deflated("data.pkl", &matrix_pickle()), stored("data/0", &matrix_bytes())], false);
    assert_eq!(read(&file).unwrap(), matrix_bytes());
    let checkpoint = open(&file, &Limits::default()).unwrap();
    assert_eq!((checkpoint.format(), checkpoint.info().data_size), (Format::Zip, Some(16)));
}

#[test]
fn bytes_after_the_archive_do_no_harm() {
    let mut file = zip(&members(matrix()), false);
    file.extend([7; 1000]);
    assert_eq!(read(&file).unwrap(), matrix_bytes());
}

#[test]
fn hostile_directories_are_refused() {
    let cases: Vec<(Member, &str, &str)> = vec![
        (Member { name: "top/data.pkl", ..matrix() }, "malformed archive", "two members"),
        (Member { local_name: "top/data/1", ..matrix() }, "malformed archive", "another name"),
        (Member { packed_len: 17, unpacked_len: 17, ..matrix() }, "malformed archive", "overlaps"),
        (Member { packed_len: 1 << 30, unpacked_len: 1 << 30, ..matrix() }, "malformed archive", "overlaps"),
        (Member { unpacked_len: 20, ..matrix() }, "malformed archive", "two sizes"),
        (Member { packed_len: 12, unpacked_len: 12, crc: 0, ..matrix() }, "storage too short", "\"w\""),
        (Member { flags: 1, ..matrix() }, "unsupported", "encrypted"),
        (Member { method: 12, ..matrix() }, "unsupported", "method 12"),
        (Member { crc: 1, ..matrix() }, "checksum", "CRC"),
        (Member { crc: 1, ..deflated("top/data/0", &matrix_bytes()) }, "checksum", "CRC"),
        (
            Member { unpacked_len: 1 << 31, ..deflated("top/data/0", &matrix_bytes()) },
            "malformed archive",
            "unpack",
        ),
        (Member { unpacked_len: 40, ..deflated("top/data/0", &matrix_bytes()) }, "truncated", "lacks"),
        (stored("top/data/1", &matrix_bytes()), "missing storage", "top/data/0"),
    ];
    for wide in [false, true] {
        for (data, kind, word) in &cases {
            let data = Member { packed: data.packed.clone(), extra: data.extra.clone(), ..*data };
            refuses(&zip(&members(data), wide), kind, word);
        }
    }
}

#[test]
fn a_crc_of_zero_was_never_computed() {
    assert_eq!(read(&zip(&members(Member { crc: 0, ..matrix() }), false)).unwrap(), matrix_bytes());
}

#[test]
fn a_pickle_that_inflates_without_end_is_refused_before_it_does() {
    let bomb = deflated("top/data.pkl", &vec![b'N'; 2 << 20]);
    assert!(bomb.packed.len() < 4000);
    let limits = Limits { max_inflated_pickle: 1 << 20, ..Limits::default() };
    let error = open(&zip(&[bomb], false), &limits).unwrap_err();
    assert_eq!(
        (error.kind.name(), error.found(), error.limit()),
        ("over limit", Some(2 << 20), Some(1 << 20))
    );
}

#[test]
fn other_byte_orders_are_named() {
    let file = |order: &[u8]| {
        zip(
            &[
                stored("t/data.pkl", &matrix_pickle()),
                stored("t/byteorder", order),
                stored("t/data/0", &matrix_bytes()),
            ],
            false,
        )
    };
    let mut swapped = matrix_bytes();
    swapped.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    assert_eq!(read(&file(b"big")).unwrap(), swapped);
    refuses(&file(b"middle"), "unsupported", "middle");
}

/// A legacy stream with one storage, whose count and key a test may falsify.
fn legacy(little_endian: u8, key: &[u8], count: u64) -> Vec<u8> {
    let mut file = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.".to_vec();
    file.extend(b"\x80\x02}X\x0d\0\0\0little_endian");
    file.extend([little_endian, b's', b'.']);
    file.extend(matrix_pickle());
    file.extend(b"\x80\x02]X\x01\0\0\0");
    file.extend(key);
    file.extend(b"a.");
    file.extend(count.to_le_bytes());
    file.extend(matrix_bytes());
    file
}

#[test]
fn a_legacy_stream_is_read_and_its_lies_are_found() {
    assert_eq!(read(&legacy(0x88, b"0", 4)).unwrap(), matrix_bytes());
    refuses(&legacy(0x88, b"0", 5), "malformed archive", "5 elements");
    refuses(&legacy(0x88, b"1", 4), "malformed archive", "no tensor mentions");
    refuses(&legacy(0x89, b"0", 4), "unsupported", "big-endian");
    refuses(&legacy(b'N', b"0", 4), "malformed archive", "byte order");
}

/// The members of a tar archive with one storage, a view of it, and a tensor on the view.
fn tar_parts(rank: i32, offset: i64) -> [(&'static str, Vec<u8>); 3] {
    let mut storages = b"\x80\x02K\x01.\x80\x02K\x07X\x03\0\0\0cpuctorch\nFloatStorage\n\x87.".to_vec();
    storages.extend(4i64.to_le_bytes());
    storages.extend(matrix_bytes());
    storages.extend(b"\x80\x02](K\x08K\x07K\x01K\x03ta.");
    let mut tensors = b"\x80\x02K\x01.\x80\x02K\x09K\x08ctorch\nFloatTensor\n\x87.".to_vec();
    tensors.extend(rank.to_le_bytes());
    tensors.extend([0; 4]);
    tensors.extend([2i64, 1, offset].map(i64::to_le_bytes).concat());
    let pickle = b"\x80\x02}X\x01\0\0\0wK\x09Qs.".to_vec();
    [("storages", storages), ("tensors", tensors), ("pickle", pickle)]
}

fn tar_file(parts: &[(&'static str, Vec<u8>)]) -> Vec<u8> {
    tar(&parts.iter().map(|(name, bytes)| (*name, &**bytes)).collect::<Vec<_>>())
}

#[test]
fn a_tar_archive_is_read_through_its_views_and_its_lies_are_found() {
    assert_eq!(read(&tar_file(&tar_parts(1, 1))).unwrap(), matrix_bytes()[8..]);
    refuses(&tar_file(&tar_parts(1, 2)), "storage too short", "\"w\"");
    refuses(&tar_file(&tar_parts(1, -1)), "invalid tensor", "offset");
    refuses(&tar_file(&tar_parts(65, 1)), "malformed archive", "rank");
    refuses(&tar_file(&tar_parts(2, 1)), "truncated", "tensors");
    refuses(&tar_file(&tar_parts(1, 1)[..2]), "not a checkpoint", "without pickle");
}

#[test]
fn an_array_of_megabytes_stays_in_the_pickle() {
    let bytes: Vec<u8> = (0..3_000_000u32).map(|i| (i % 251) as u8).collect();
    let latin1: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let array = |data: &[u8]| {
        let mut pickle =
            b"\x80\x03}X\x01\0\0\0wcnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85".to_vec();
        pickle.extend(b"C\x01b\x87R(K\x01J\xc0\xc6\x2d\0\x85cnumpy\ndtype\nX\x02\0\0\0u1\x89\x88\x87R\x89");
        pickle.extend(data);
        pickle.extend(b"tbs.");
        pickle
    };
    let direct = array(&[b"B\xc0\xc6\x2d\0", &*bytes].concat());
    let text = [&(latin1.len() as u32).to_le_bytes(), latin1.as_bytes()].concat();
    let encoded = array(&[b"c_codecs\nencode\nX", &*text, b"X\x06\0\0\0latin1\x86R"].concat());
    for (pickle, in_place) in [(direct, true), (encoded, false)] {
        for file in [
            pickle.clone(),
            zip(&[stored("a/data.pkl", &pickle)], false),
            zip(&[deflated("a/data.pkl", &pickle)], false),
        ] {
            let checkpoint = open(&file, &Limits::default()).unwrap();
            let leaves = checkpoint.leaves().unwrap();
            assert_eq!(checkpoint.read(&file, &leaves.tensors[0]).unwrap(), bytes);
            let viewed = checkpoint.view_range(&file, &leaves.tensors[0]).unwrap().is_some();
            assert_eq!(viewed, in_place && (file.len() > 3_000_000));
        }
    }
}

#[test]
fn a_tensor_that_its_storage_holds_conjugated_or_negated_is_not_read_as_it_lies() {
    let with = |arguments: &[u8]| {
        let pickle = stored("top/data.pkl", &matrix_pickle_with(arguments));
        zip(&[pickle, stored("top/byteorder", b"little\n"), matrix()], false)
    };
    for (flag, call) in
        [(&b"}X\x04\0\0\0conj\x88s"[..], "torch.conj"), (b"}X\x03\0\0\0neg\x88s", "torch.neg")]
    {
        let leaves = open(&with(flag), &Limits::default()).unwrap().leaves().unwrap();
        assert!(leaves.tensors.is_empty());
        assert_eq!(leaves.skipped[0].reason, burnpy_pickle::SkipReason::Unsupported);
        assert_eq!(
            (&*leaves.skipped[0].qualified, leaves.skipped[0].shape.as_deref()),
            (call, Some(&[2, 2][..]))
        );
    }
    for plain in [&b"N"[..], b"}", b"}X\x04\0\0\0conj\x89s"] {
        assert_eq!(read(&with(plain)).unwrap(), matrix_bytes());
    }
}
