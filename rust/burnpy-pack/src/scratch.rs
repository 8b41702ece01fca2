//! A file that appears at its place whole or not at all.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{ErrorKind, Result};
use crate::sink::FileSink;

/// How often a chain of symbolic links is followed before it is called a loop.
const MAX_LINKS: usize = 40;
/// The longest part of a name that a scratch file repeats: most systems allow 255 bytes in all.
const MAX_NAME_BYTES: usize = 200;

/// A scratch file beside its destination. It is renamed into place by [`AtomicFile::commit`]; dropped before that, it
/// is deleted and the destination is as it was.
///
/// Unlike Burn: a symbolic link at the destination is followed, the scratch file has its final mode (and owner, where
/// that is allowed) from the start, and what a process that was killed has left behind is cleared.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    scratch: PathBuf,
    destination: PathBuf,
    durable: bool,
    /// The process that made it: a fork of it has the guard too, and must not delete what is not its own.
    process: u32,
}

impl AtomicFile {
    /// Creates the scratch file. `durable` makes a commit wait until the disk has file and name.
    ///
    /// # Errors
    /// `IoError`: no file name, a folder, device or pipe at the destination, or whatever the system says.
    pub fn create(destination: &Path, durable: bool) -> Result<Self> {
        let destination = follow_links(destination)?;
        check_replaceable(&destination)?;
        let name = destination
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path has no file name"))?;
        let name = scratch_prefix(name);
        clear_dead(folder_of(&destination), &name);
        let (file, scratch) = create_beside(&destination, &name)?;
        let atomic = Self { file, scratch, destination, durable, process: std::process::id() };
        keep_mode(atomic.file(), &atomic.destination)?;
        Ok(atomic)
    }

    /// Where the scratch file is.
    pub fn path(&self) -> &Path {
        &self.scratch
    }

    /// The open scratch file.
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Asks the file system for the room at once: a full disk is told before the work, and ext4 writes 1.5 times as
    /// fast. The file has this length then, so it must not be more than what will be written.
    ///
    /// # Errors
    /// `IoError`: there is no room.
    pub fn reserve(&self, total: u64) -> Result<()> {
        Ok(reserve(&self.file, total)?)
    }

    /// What writes the file front to back, from where it stands. It gathers small pieces: flush it at the end.
    pub fn sink(&self) -> FileSink<'_> {
        FileSink::new(&self.file)
    }

    /// Replaces whatever file is at the destination.
    ///
    /// # Errors
    /// `IoError`; the destination is as it was, but for a failure to sync the folder, when the new file is in place.
    pub fn commit(mut self) -> Result<()> {
        self.sync()?;
        fs::rename(&self.scratch, &self.destination)?;
        self.scratch.clear();
        self.sync_folder()
    }

    /// Takes its place only if nothing is there.
    ///
    /// # Errors
    /// `AlreadyExists`, or `IoError` as for [`AtomicFile::commit`].
    pub fn commit_new(mut self) -> Result<()> {
        self.sync()?;
        match fs::hard_link(&self.scratch, &self.destination) {
            Ok(()) => fs::remove_file(&self.scratch)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(ErrorKind::AlreadyExists.into());
            }
            // A file system without hard links: what is there decides.
            Err(error) => match self.destination.symlink_metadata() {
                Ok(_) => return Err(ErrorKind::AlreadyExists.into()),
                Err(absent) if absent.kind() == io::ErrorKind::NotFound => {
                    fs::rename(&self.scratch, &self.destination)?;
                }
                Err(_) => return Err(error.into()),
            },
        }
        self.scratch.clear();
        self.sync_folder()
    }

    /// The handle stays open, and with it the lock, until the file has its name: another thread that saves to the same
    /// place would take an unlocked scratch file for one that was left behind.
    fn sync(&self) -> io::Result<()> {
        if self.durable { self.file.sync_all() } else { Ok(()) }
    }

    fn sync_folder(&self) -> Result<()> {
        #[cfg(unix)]
        if self.durable {
            File::open(folder_of(&self.destination))?.sync_all()?;
        }
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.scratch.as_os_str().is_empty() && self.process == std::process::id() {
            // Best effort: an error here would hide the one that led here.
            let _ = fs::remove_file(&self.scratch);
        }
    }
}

/// Not in memory: tmpfs clears every page that it reserves, 350 ms for a file that is written in 250 without.
#[cfg(target_os = "linux")]
fn reserve(file: &File, total: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate, fstatfs};
    use rustix::io::Errno;
    const TMPFS: u32 = 0x0102_1994;
    if total == 0 || fstatfs(file).is_ok_and(|system| system.f_type as u32 == TMPFS) {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::empty(), 0, total) {
        // Not every file system can; the writes will tell.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::PERM) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(_file: &File, _total: u64) -> io::Result<()> {
    Ok(())
}

/// EISDIR on every Unix; on Windows it reads as what it is there.
pub(crate) const EISDIR: i32 = if cfg!(windows) { 267 } else { 21 };
/// On every system.
const ENOENT: i32 = 2;

/// Refuses what a rename would destroy and not fill: root that saves to `/dev/null` means to have it afterwards.
fn check_replaceable(destination: &Path) -> io::Result<()> {
    if destination.as_os_str().is_empty() {
        return Err(io::Error::from_raw_os_error(ENOENT));
    }
    match destination.metadata() {
        Ok(meta) if meta.is_dir() => Err(io::Error::from_raw_os_error(EISDIR)),
        Ok(meta) if !meta.is_file() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "a device, pipe or socket is there, and no file"))
        }
        _ => Ok(()),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The path at the end of a chain of symbolic links; its last part need not exist.
pub(crate) fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(too_many_links())
}

#[cfg(unix)]
fn too_many_links() -> io::Error {
    rustix::io::Errno::LOOP.into()
}

#[cfg(not(unix))]
fn too_many_links() -> io::Error {
    io::Error::other(format!("more than {MAX_LINKS} symbolic links"))
}

/// The destination's name, cut where a scratch name would be too long for the system.
fn scratch_prefix(name: &OsStr) -> OsString {
    if name.len() <= MAX_NAME_BYTES {
        return name.to_owned();
    }
    let text = name.to_string_lossy();
    OsString::from(&text[..text.floor_char_boundary(MAX_NAME_BYTES)])
}

fn create_beside(destination: &Path, name: &OsStr) -> io::Result<(File, PathBuf)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if let Some(mode) = old_mode(destination) {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode & 0o777);
    }
    loop {
        let mut scratch = name.to_owned();
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        scratch.push(format!(".{}-{number}.tmp", std::process::id()));
        let path = folder_of(destination).join(scratch);
        match options.open(&path) {
            // Locked while it is written, and checked to be still there: somebody who clears dead files may have
            // been quicker. A file system without locks does not stop a save.
            Ok(file) => match file.try_lock() {
                Err(fs::TryLockError::WouldBlock) => {}
                _ if path.symlink_metadata().is_err() => {}
                _ => return Ok((file, path)),
            },
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(unix)]
fn old_mode(destination: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    destination.metadata().ok().filter(fs::Metadata::is_file).map(|meta| meta.mode() & 0o7777)
}

/// Gives the scratch file the owner (where allowed) and the mode of the file that it will replace.
#[cfg(unix)]
fn keep_mode(file: &File, destination: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let (Some(mode), Ok(old)) = (old_mode(destination), destination.metadata()) else { return Ok(()) };
    let new = file.metadata()?;
    if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
        // Only root may give a file away; for everyone else the new file is the writer's own, as any rewrite is.
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_mode(_file: &File, _destination: &Path) -> io::Result<()> {
    Ok(())
}

/// Deletes scratch files of the same destination whose writers are gone. Best effort: a save does not fail for them.
fn clear_dead(folder: &Path, name: &OsStr) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if scratch_pid(&entry.file_name(), name).is_some_and(is_gone) {
            remove_unlocked(&entry.path());
        }
    }
}

/// The process that a scratch file of `name` belongs to; `None` for any other file.
fn scratch_pid(file: &OsStr, name: &OsStr) -> Option<u32> {
    let middle = file.to_str()?.strip_prefix(name.to_str()?)?.strip_prefix('.')?.strip_suffix(".tmp")?;
    let (pid, number) = middle.split_once('-')?;
    number.parse::<u64>().ok()?;
    pid.parse().ok()
}

/// Whether no other process has this id. Our own counts as gone: an earlier process may have had it (in a container
/// it often has), and what we write ourselves is locked.
#[cfg(unix)]
fn is_gone(pid: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(pid).ok();
    pid == i32::try_from(std::process::id()).ok()
        || pid
            .and_then(Pid::from_raw)
            .is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn is_gone(_pid: u32) -> bool {
    false
}

/// Deletes a file that nobody writes: a live writer holds its lock, on this machine or another. The lock is ours until
/// the name is gone, so that a writer who is about to take it sees that it came too late.
fn remove_unlocked(path: &Path) {
    // Anybody can make a pipe of that name in a shared folder; to open it would be to wait for a writer for ever.
    let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    if is_file
        && let Ok(file) = File::open(path)
        && file.try_lock().is_ok()
    {
        let _ = fs::remove_file(path);
    }
}
