//! No bytes make it panic, take long or grow: random ones, opcodes in any order, and golden files with a few
//! bytes changed. `BURNPY_TEST_PROFILE=thorough` tries many more.

#![allow(unreachable_pub, reason = "a test has no outside")]

#[path = "support/archive.rs"]
#[allow(dead_code, reason = "other tests build more")]
mod archive;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use burnpy_pickle::{exercise, exercise_pickle};
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn config() -> ProptestConfig {
    let thorough = std::env::var("BURNPY_TEST_PROFILE").is_ok_and(|profile| profile == "thorough");
    ProptestConfig {
        cases: if thorough { 100_000 } else { 1000 },
        max_shrink_iters: 2000,
        ..ProptestConfig::default()
    }
}

/// The golden checkpoints up to 20 kB.
static GOLDEN: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = std::env::var_os("BURNPY_GOLDEN").map_or_else(|| "tests/golden".into(), PathBuf::from);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder).join("pytorch");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let files = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension != "json"));
    files.map(|path| std::fs::read(path).unwrap()).filter(|file| file.len() < 20_000).collect()
});

/// Pieces that pickles are made of, so that random ones get somewhere.
const PIECES: [&[u8]; 44] = [
    b"(",
    b")",
    b"]",
    b"}",
    b"N",
    b"\x88",
    b"K\x01",
    b"K\x02",
    b"X\x01\0\0\0a",
    b"C\x02ab",
    b"G\0\0\0\0\0\0\0\0",
    b"\x8f",
    b"0",
    b"1",
    b"2",
    b"a",
    b"b",
    b"d",
    b"e",
    b"l",
    b"o",
    b"s",
    b"t",
    b"u",
    b"R",
    b"Q",
    b"\x81",
    b"\x85",
    b"\x86",
    b"\x87",
    b"\x90",
    b"\x91",
    b"\x92",
    b"\x93",
    b"\x94",
    b"h\0",
    b"h\x01",
    b"q\0",
    b"q\x01",
    b"ccollections\nOrderedDict\n",
    b"ctorch._utils\n_rebuild_tensor_v2\n",
    b"ctorch\nSize\n",
    b"cnumpy.core.multiarray\n_reconstruct\n",
    b"X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0\x30X\x03\0\0\0cpuK\x04(tQ",
];

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_bytes_are_harmless(mut bytes in prop::collection::vec(any::<u8>(), 0..300), start in 0..5usize) {
        let starts: [&[u8]; 5] = [b"", b"\x80\x02", b"PK\x03\x04", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", b"}("];
        bytes.splice(0..0, starts[start].iter().copied());
        exercise(&bytes);
        exercise_pickle(&bytes);
    }

    #[test]
    fn opcodes_in_any_order_are_harmless(pieces in prop::collection::vec(select(&PIECES[..]), 0..60)) {
        let mut pickle = b"\x80\x04".to_vec();
        pickle.extend(pieces.concat());
        pickle.push(b'.');
        exercise_pickle(&pickle);
        let data = archive::stored("a/data/0", &archive::matrix_bytes());
        exercise(&archive::zip(&[archive::stored("a/data.pkl", &pickle), data], false));
    }

    #[test]
    fn golden_files_with_changed_bytes_are_harmless(
        file in any::<Index>(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6),
        cut in prop::option::weighted(0.2, any::<Index>()),
    ) {
        let mut file = file.get(&GOLDEN).clone();
        for (place, byte) in changes.into_iter().filter(|_| !file.is_empty()).collect::<Vec<_>>() {
            let place = place.index(file.len());
            file[place] = byte;
        }
        if let Some(cut) = cut.filter(|_| !file.is_empty()) {
            file.truncate(cut.index(file.len()));
        }
        exercise(&file);
    }
}
