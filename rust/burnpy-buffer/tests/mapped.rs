//! File maps.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use burnpy_buffer::{MapMode, is_mapped_from, map_file, mapped_file, watch_copies};

/// A file of its own for each test, in the build's scratch folder.
fn file_with(name: &str, content: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn a_map_shows_the_file_and_outlives_its_handle_and_its_name() {
    let path = file_with("outlives", b"burnpack");
    let bytes = map_file(&File::open(&path).unwrap(), MapMode::Shared).unwrap();
    fs::remove_file(&path).unwrap();
    let tail = bytes.slice(4..8).unwrap();
    drop(bytes);
    assert_eq!(tail[..], *b"pack");
}

#[test]
fn a_shared_map_is_read_only() {
    let path = file_with("shared", b"burnpack");
    let mut bytes = map_file(&File::open(&path).unwrap(), MapMode::Shared).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(!bytes.is_writable() && bytes.try_mut().is_none());
}

#[test]
fn a_write_to_a_private_map_stays_in_this_process() {
    let path = file_with("private", b"burnpack");
    let file = File::open(&path).unwrap();
    let mut bytes = map_file(&file, MapMode::Private).unwrap();
    bytes.try_mut().unwrap()[0] = b'B';
    assert_eq!(bytes[..], *b"Burnpack");
    assert_eq!(map_file(&file, MapMode::Shared).unwrap()[..], *b"burnpack");
    assert_eq!(fs::read(&path).unwrap(), b"burnpack");
    fs::remove_file(&path).unwrap();
}

#[test]
fn an_empty_file_gives_empty_bytes() {
    let path = file_with("empty", b"");
    for mode in [MapMode::Shared, MapMode::Private] {
        assert!(map_file(&File::open(&path).unwrap(), mode).unwrap().is_empty());
    }
    fs::remove_file(&path).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_private_map_may_be_larger_than_memory() {
    let strict = fs::read_to_string("/proc/sys/vm/overcommit_memory").is_ok_and(|mode| mode.trim() == "2");
    if strict {
        return; // This machine has been told to reserve memory for every private page.
    }
    let path = file_with("sparse", b"");
    let file = File::options().write(true).read(true).open(&path).unwrap();
    file.set_len(1 << 40).unwrap();
    let mapped = map_file(&file, MapMode::Private).map(|bytes| bytes.len());
    fs::remove_file(&path).unwrap();
    assert_eq!(mapped.unwrap(), 1 << 40);
}

#[cfg(unix)]
#[test]
fn mapped_bytes_are_known_to_be_so_by_file_not_by_name() {
    let (path, other) = (file_with("known", b"burnpack"), file_with("other", b"burnpack"));
    let link = path.with_extension("link");
    fs::hard_link(&path, &link).unwrap();
    let bytes = map_file(&File::open(&path).unwrap(), MapMode::Shared).unwrap();
    let part = bytes.slice(2..4).unwrap();
    assert!(is_mapped_from(&part, &path) && is_mapped_from(&part, &link));
    assert!(!is_mapped_from(&part, &other) && !is_mapped_from(b"heap", &path));
    for path in [path, other, link] {
        fs::remove_file(path).unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_file_of_mapped_bytes_is_found_with_their_place_in_it() {
    use std::os::unix::fs::FileExt;
    let path = file_with("found", b"burnpack");
    let bytes = map_file(&File::open(&path).unwrap(), MapMode::Shared).unwrap();
    let origin = mapped_file(&bytes[4..]).unwrap();
    fs::remove_file(&path).unwrap();
    let mut found = [0; 4];
    origin.file.read_exact_at(&mut found, origin.start as u64).unwrap();
    assert_eq!((origin.start, &found, origin.witness.is_none()), (4, b"pack", true));
}

#[cfg(target_os = "linux")]
#[test]
fn a_map_has_a_witness_as_long_as_the_guard_of_the_last_one_lives() {
    let path = file_with("watched", b"burnpack");
    let file = File::open(&path).unwrap();
    let (map, other) = (map_file(&file, MapMode::Shared).unwrap(), map_file(&file, MapMode::Shared).unwrap());
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&told);
    let watch = watch_copies(&map, Arc::new(move |range, crc| listener.lock().unwrap().push((range, crc))));
    mapped_file(&map[4..]).unwrap().witness.unwrap()(4..8, 7);
    assert_eq!(*told.lock().unwrap(), [(4..8, 7)]);
    assert!(mapped_file(&other).unwrap().witness.is_none());
    drop(watch);
    assert!(mapped_file(&map).unwrap().witness.is_none());
    assert_eq!(Arc::strong_count(&told), 1);
    fs::remove_file(path).unwrap();
}

#[test]
fn a_witness_may_own_a_map_and_outlive_the_one_that_it_watches() {
    let path = file_with("owner", b"burnpack");
    let file = File::open(&path).unwrap();
    let (map, owned) = (map_file(&file, MapMode::Shared).unwrap(), map_file(&file, MapMode::Shared).unwrap());
    let watch = watch_copies(&map, Arc::new(move |_, _| assert_eq!(owned.len(), 8)));
    drop(map);
    drop(watch);
    fs::remove_file(path).unwrap();
}

#[test]
fn bytes_that_are_no_part_of_a_file_as_it_is_named_have_none() {
    let (path, moved) = (file_with("named", b"burnpack"), file_with("moved", b""));
    let file = File::open(&path).unwrap();
    let (shared, private) =
        (map_file(&file, MapMode::Shared).unwrap(), map_file(&file, MapMode::Private).unwrap());
    assert!(mapped_file(&private).is_none() && mapped_file(b"heap").is_none());
    fs::rename(&path, &moved).unwrap();
    assert!(mapped_file(&shared).is_none());
    fs::write(&path, b"burnpack").unwrap();
    assert!(mapped_file(&shared).is_none(), "another file has the name");
    for path in [path, moved] {
        fs::remove_file(path).unwrap();
    }
}
