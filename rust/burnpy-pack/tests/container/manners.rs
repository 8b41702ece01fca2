//! How a file comes to be: whole or not at all, with the old file's mode, nothing left beside it.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use burnpy_buffer::{Bytes, DType};
use burnpy_pack::{AtomicFile, Backend, ErrorKind, ProviderError, ReadOptions, Reader, Tensor, Writer};
use tempfile::TempDir;

use crate::{f32_tensor, payload};

fn writer(value: f32) -> Writer {
    Writer::new(vec![f32_tensor("w", &[value; 100])]).durable(false)
}

/// A writer that gets as far as the last of three tensors.
fn failing() -> Writer {
    let fails = || -> Result<Bytes, ProviderError> { Err("out of paper".into()) };
    let last = Tensor::deferred("last", DType::U8, vec![4], None, 4, Arc::new(fails));
    Writer::new(vec![f32_tensor("a", &[1.0; 100_000]), f32_tensor("b", &[2.0]), last]).durable(false)
}

fn target() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bpk");
    (folder, path)
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn first_value(path: &Path) -> f32 {
    let reader = Reader::from_file_exact(path, &ReadOptions::default()).unwrap();
    f32::from_le_bytes(payload(&reader, "w")[..4].try_into().unwrap())
}

#[test]
fn a_file_is_replaced_and_nothing_is_left_beside_it() {
    let (folder, path) = target();
    for value in [1.0, 2.0] {
        writer(value).durable(true).write_to_file(&path).unwrap();
        assert_eq!(first_value(&path), value);
        assert_eq!(names_in(folder.path()), ["m.bpk"]);
    }
}

#[test]
fn a_new_file_has_the_mode_that_any_new_file_has() {
    let (folder, path) = target();
    writer(1.0).write_to_file(&path).unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    assert_eq!(mode(&path), mode(&plain));
}

#[test]
fn the_mode_of_the_old_file_is_kept() {
    let (_folder, path) = target();
    for wanted in [0o640, 0o600, 0o444, 0o666, 0o777] {
        writer(1.0).write_to_file(&path).unwrap();
        set_mode(&path, wanted);
        writer(2.0).write_to_file(&path).unwrap();
        assert_eq!((mode(&path), first_value(&path)), (wanted, 2.0));
    }
}

#[test]
fn the_scratch_file_is_never_wider_than_the_old_file() {
    let (_folder, path) = target();
    fs::write(&path, "old").unwrap();
    set_mode(&path, 0o600);
    let scratch = AtomicFile::create(&path, false).unwrap();
    assert_eq!(mode(scratch.path()), 0o600);
    assert_eq!(scratch.path().parent(), path.parent());
}

#[test]
fn a_symbolic_link_is_followed() {
    let (folder, path) = target();
    let (link, chain, dangling) =
        (folder.path().join("link.bpk"), folder.path().join("chain.bpk"), folder.path().join("dangling.bpk"));
    symlink("m.bpk", &link).unwrap();
    symlink(&link, &chain).unwrap();
    symlink("not-yet.bpk", &dangling).unwrap();
    writer(1.0).write_to_file(&path).unwrap();
    writer(2.0).write_to_file(&chain).unwrap();
    assert_eq!(first_value(&path), 2.0);
    assert!(link.is_symlink() && chain.is_symlink() && !path.is_symlink());
    writer(3.0).write_to_file(&dangling).unwrap();
    assert!(dangling.is_symlink());
    assert_eq!(first_value(&folder.path().join("not-yet.bpk")), 3.0);
}

#[test]
fn what_is_no_file_is_neither_replaced_nor_waited_for() {
    let (folder, path) = target();
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    let error = writer(1.0).write_to_file(&path).unwrap_err();
    assert_eq!(error.kind_name(), "IoError");
    assert!(error.to_string().contains("pipe"), "{error}");
    for backend in [Backend::Auto, Backend::Mmap, Backend::Pread] {
        let options = ReadOptions { backend, ..ReadOptions::default() };
        assert_eq!(Reader::from_file_exact(&path, &options).unwrap_err().kind_name(), "IoError");
    }
    assert_eq!(names_in(folder.path()), ["m.bpk"]);
    assert!(!path.symlink_metadata().unwrap().is_file());
}

#[test]
fn a_pipe_with_the_name_of_a_dead_scratch_file_is_left_alone() {
    let (folder, path) = target();
    let pipe = folder.path().join("m.bpk.4194303-0.tmp");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    writer(1.0).write_to_file(&path).unwrap();
    assert_eq!(names_in(folder.path()), ["m.bpk", "m.bpk.4194303-0.tmp"]);
}

#[test]
fn an_empty_path_is_one_at_which_nothing_is() {
    let error = writer(1.0).auto_extension(false).write_to_file("").unwrap_err();
    assert!(matches!(&error.kind, ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::NotFound), "{error}");
}

#[test]
fn links_in_a_circle_are_an_error() {
    let (folder, path) = target();
    let other = folder.path().join("other.bpk");
    symlink(&path, &other).unwrap();
    symlink(&other, &path).unwrap();
    assert_eq!(writer(1.0).write_to_file(&path).unwrap_err().kind_name(), "IoError");
    assert_eq!(names_in(folder.path()), ["m.bpk", "other.bpk"]);
}

#[test]
fn a_provider_that_fails_leaves_the_old_file_and_nothing_beside_it() {
    let (folder, path) = target();
    let error = failing().write_to_file(&path).unwrap_err();
    assert_eq!((error.tensor.as_deref(), error.path.as_deref()), (Some("last"), Some(path.as_path())));
    assert_eq!(names_in(folder.path()), Vec::<String>::new());

    writer(1.0).write_to_file(&path).unwrap();
    let old = fs::read(&path).unwrap();
    failing().write_to_file(&path).unwrap_err();
    failing().overwrite(false).write_to_file(&path).unwrap_err();
    assert_eq!((fs::read(&path).unwrap(), names_in(folder.path())), (old, vec!["m.bpk".to_owned()]));
}

#[test]
fn a_provider_that_panics_leaves_the_old_file_and_nothing_beside_it() {
    let (folder, path) = target();
    writer(1.0).write_to_file(&path).unwrap();
    let panics = || -> Result<Bytes, ProviderError> { panic!("on purpose") };
    let tensor = Tensor::deferred("w", DType::U8, vec![4], None, 4, Arc::new(panics));
    let write = std::panic::AssertUnwindSafe(|| Writer::new(vec![tensor]).write_to_file(&path));
    assert!(std::panic::catch_unwind(write).is_err());
    assert_eq!((first_value(&path), names_in(folder.path())), (1.0, vec!["m.bpk".to_owned()]));
}

#[test]
fn a_plan_that_fails_leaves_no_file_of_any_kind() {
    let (folder, path) = target();
    let twice = || Writer::new(vec![f32_tensor("w", &[]), f32_tensor("w", &[])]);
    assert_eq!(twice().write_to_file(&path).unwrap_err().kind_name(), "ValidationError");
    assert_eq!(twice().write_to_file_in_place(&path).unwrap_err().kind_name(), "ValidationError");
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn a_folder_at_the_destination_is_kept() {
    let (folder, path) = target();
    fs::create_dir(&path).unwrap();
    for durable in [false, true] {
        assert_eq!(writer(1.0).durable(durable).write_to_file(&path).unwrap_err().kind_name(), "IoError");
    }
    assert_eq!(writer(1.0).write_to_file_in_place(&path).unwrap_err().kind_name(), "IoError");
    assert_eq!(writer(1.0).overwrite(false).write_to_file(&path).unwrap_err().kind_name(), "AlreadyExists");
    assert_eq!(names_in(folder.path()), ["m.bpk"]);
    assert!(path.is_dir());
}

#[test]
fn without_a_file_name_or_a_folder_nothing_is_written() {
    let (folder, _) = target();
    for path in [Path::new("/"), &folder.path().join(".."), &folder.path().join("none/m.bpk")] {
        assert_eq!(writer(1.0).write_to_file(path).unwrap_err().kind_name(), "IoError", "{}", path.display());
    }
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn without_overwriting_only_a_free_place_is_taken() {
    let (folder, path) = target();
    writer(1.0).overwrite(false).write_to_file(&path).unwrap();
    assert_eq!(names_in(folder.path()), ["m.bpk"]);
    for error in [
        writer(2.0).overwrite(false).write_to_file(&path).unwrap_err(),
        writer(2.0).overwrite(false).write_to_file_in_place(&path).unwrap_err(),
    ] {
        assert_eq!((error.kind_name(), error.path.as_deref()), ("AlreadyExists", Some(path.as_path())));
    }
    assert_eq!(first_value(&path), 1.0);

    let dangling = folder.path().join("dangling.bpk");
    symlink("nowhere", &dangling).unwrap();
    for error in [
        writer(2.0).overwrite(false).write_to_file(&dangling).unwrap_err(),
        writer(2.0).overwrite(false).write_to_file_in_place(&dangling).unwrap_err(),
    ] {
        assert_eq!(error.kind_name(), "AlreadyExists");
    }
    assert_eq!(names_in(folder.path()), ["dangling.bpk", "m.bpk"]);
}

#[test]
fn a_file_that_appears_while_another_is_written_survives() {
    let (folder, path) = target();
    let planted = path.clone();
    let plants = move || -> Result<Bytes, ProviderError> {
        fs::write(&planted, "planted")?;
        Ok(Bytes::from(vec![0; 4]))
    };
    let tensor = Tensor::deferred("w", DType::U8, vec![4], None, 4, Arc::new(plants));
    let error = Writer::new(vec![tensor]).overwrite(false).write_to_file(&path).unwrap_err();
    assert_eq!(error.kind_name(), "AlreadyExists");
    assert_eq!(
        (fs::read(&path).unwrap(), names_in(folder.path())),
        (b"planted".to_vec(), vec!["m.bpk".to_owned()])
    );

    let scratch = AtomicFile::create(&path, true).unwrap();
    assert_eq!(scratch.commit_new().unwrap_err().kind_name(), "AlreadyExists");
    assert_eq!(
        (fs::read(&path).unwrap(), names_in(folder.path())),
        (b"planted".to_vec(), vec!["m.bpk".to_owned()])
    );
}

/// An id that no process has: the highest that Linux gives is 4 194 304.
const DEAD: u32 = 2_000_000_000;

#[test]
fn what_a_dead_process_left_behind_is_cleared() {
    let (folder, path) = target();
    let dead = folder.path().join(format!("m.bpk.{DEAD}-3.tmp"));
    // An id that our own process had before: what we write now is locked.
    let reused = folder.path().join(format!("m.bpk.{}-999999.tmp", std::process::id()));
    for left in [&dead, &reused] {
        fs::write(left, "half").unwrap();
    }
    writer(1.0).write_to_file(&path).unwrap();
    assert_eq!(names_in(folder.path()), ["m.bpk"]);
}

#[test]
fn what_belongs_to_others_is_left_alone() {
    let (folder, path) = target();
    let mut others = vec![
        // Another file's, or no scratch at all.
        format!("n.bpk.{DEAD}-3.tmp"),
        format!("m.bpk.{DEAD}-x.tmp"),
        format!("m.bpk.{DEAD}.tmp"),
        format!("m.bpk.{DEAD}-3.tmp.bak"),
        format!("m.bpk-{DEAD}-3.tmp"),
        "m.bpk.tmp".to_owned(),
        // A live process: that with the id 1 always is.
        "m.bpk.1-0.tmp".to_owned(),
    ];
    for name in &others {
        fs::write(folder.path().join(name), "theirs").unwrap();
    }
    let locked = folder.path().join(format!("m.bpk.{DEAD}-7.tmp"));
    let lock = fs::File::create(&locked).unwrap();
    lock.try_lock().unwrap();
    writer(1.0).write_to_file(&path).unwrap();
    others.extend(["m.bpk".to_owned(), format!("m.bpk.{DEAD}-7.tmp")]);
    others.sort();
    assert_eq!(names_in(folder.path()), others);
}

#[test]
fn two_scratch_files_of_one_destination_do_not_meet() {
    let (folder, path) = target();
    let first = AtomicFile::create(&path, false).unwrap();
    let second = AtomicFile::create(&path, false).unwrap();
    assert_ne!(first.path(), second.path());
    assert_eq!(names_in(folder.path()).len(), 2);
    std::io::Write::write_all(&mut first.file(), b"first").unwrap();
    std::io::Write::write_all(&mut second.file(), b"second").unwrap();
    first.commit().unwrap();
    second.commit().unwrap();
    assert_eq!(
        (fs::read(&path).unwrap(), names_in(folder.path())),
        (b"second".to_vec(), vec!["m.bpk".to_owned()])
    );
}

#[test]
fn many_threads_may_save_to_one_path() {
    let (folder, path) = target();
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let path = &path;
            scope
                .spawn(move || (0..100).for_each(|_| writer(f32::from(thread)).write_to_file(path).unwrap()));
        }
    });
    assert!(first_value(&path) < 4.0);
    assert_eq!(names_in(folder.path()), ["m.bpk"]);
}

#[test]
fn an_uncommitted_file_goes_with_its_guard() {
    let (folder, path) = target();
    drop(AtomicFile::create(&path, true).unwrap());
    assert!(names_in(folder.path()).is_empty());
}

#[test]
fn a_name_as_long_as_the_system_takes_is_written() {
    let (folder, _) = target();
    for name in [format!("{}.bpk", "n".repeat(251)), format!("{}.bpk", "é".repeat(125)), "日".repeat(85)] {
        let path = folder.path().join(&name);
        writer(1.0).auto_extension(false).write_to_file(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(names_in(folder.path()), [name]);
        fs::remove_file(path).unwrap();
    }
    // Bytes that are no text.
    let name: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(vec![0xFF; 251]);
    let path = folder.path().join(name);
    writer(1.0).auto_extension(false).write_to_file(&path).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn in_place_keeps_inode_mode_and_links() {
    let (folder, path) = target();
    writer(1.0).write_to_file(&path).unwrap();
    set_mode(&path, 0o640);
    let hard = folder.path().join("hard.bpk");
    fs::hard_link(&path, &hard).unwrap();
    let inode = path.metadata().unwrap().ino();
    writer(2.0).write_to_file_in_place(&path).unwrap();
    assert_eq!((path.metadata().unwrap().ino(), mode(&path)), (inode, 0o640));
    assert_eq!(first_value(&hard), 2.0);
}

#[test]
fn in_place_a_failure_leaves_a_part() {
    let (_folder, path) = target();
    writer(1.0).write_to_file(&path).unwrap();
    failing().write_to_file_in_place(&path).unwrap_err();
    assert!(Reader::from_file(&path, &ReadOptions::default()).is_err());
}

#[test]
fn in_place_over_the_file_that_is_read_is_refused() {
    let (folder, path) = target();
    writer(1.0).write_to_file(&path).unwrap();
    let (soft, hard) = (folder.path().join("soft.bpk"), folder.path().join("hard.bpk"));
    symlink(&path, &soft).unwrap();
    fs::hard_link(&path, &hard).unwrap();
    let old = fs::read(&path).unwrap();
    for backend in [Backend::Mmap, Backend::Pread] {
        for destination in [&path, &soft, &hard] {
            let reader =
                Reader::from_file(&path, &ReadOptions { backend, ..ReadOptions::default() }).unwrap();
            let error =
                Writer::new(reader.into_tensors().unwrap()).write_to_file_in_place(destination).unwrap_err();
            assert_eq!(
                (error.kind_name(), error.tensor.as_deref()),
                ("ValidationError", Some("w")),
                "{backend:?}"
            );
            assert_eq!(fs::read(&path).unwrap(), old);
        }
    }
}

#[test]
fn saving_over_the_file_that_is_read_is_safe() {
    let (folder, path) = target();
    let link = folder.path().join("link.bpk");
    symlink(&path, &link).unwrap();
    writer(1.0).write_to_file(&path).unwrap();
    for (backend, destination) in [(Backend::Mmap, &path), (Backend::Pread, &path), (Backend::Mmap, &link)] {
        let reader = Reader::from_file(&path, &ReadOptions { backend, ..ReadOptions::default() }).unwrap();
        let mut tensors = reader.into_tensors().unwrap();
        let kept = tensors[0].clone();
        tensors.insert(0, f32_tensor("new", &[7.0]));
        Writer::new(tensors).durable(false).write_to_file(destination).unwrap();
        assert_eq!(first_value(&path), 1.0);
        assert_eq!(kept.to_bytes().unwrap()[..4], 1f32.to_le_bytes());
        writer(1.0).write_to_file(&path).unwrap();
    }
}
