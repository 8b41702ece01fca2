//! Which file a name means.

use std::path::{Path, PathBuf};

use crate::header::EXTENSION;

/// The file that is written for a path: `.bpk` is appended where there is no extension.
///
/// ```
/// use burnpy_pack::resolve_write_path;
/// assert_eq!(resolve_write_path("model".as_ref()).as_os_str(), "model.bpk");
/// assert_eq!(resolve_write_path("model.".as_ref()).as_os_str(), "model."); // an empty extension is one
/// assert_eq!(resolve_write_path(".hidden".as_ref()).as_os_str(), ".hidden.bpk");
/// ```
pub fn resolve_write_path(path: &Path) -> PathBuf {
    match (path.extension(), path.file_name()) {
        // A path that ends in `..` or `/` has no name to extend.
        (Some(_), _) | (None, None) => path.to_owned(),
        (None, Some(_)) => path.with_extension(EXTENSION),
    }
}

/// The file that is read for a path: the path itself if anything is there, else as it would have been written.
pub fn resolve_read_path(path: &Path) -> PathBuf {
    if path.symlink_metadata().is_ok() { path.to_owned() } else { resolve_write_path(path) }
}

/// The file that is opened for a path by those who do not go by Burn's rule: the path itself if anything is there, else
/// with `.bpk` behind it, whatever its extension.
///
/// ```
/// use burnpy_pack::find_read_path;
/// assert_eq!(find_read_path("no/model-v1.0".as_ref()).as_os_str(), "no/model-v1.0.bpk");
/// assert_eq!(find_read_path("no/model.bpk".as_ref()).as_os_str(), "no/model.bpk");
/// ```
pub fn find_read_path(path: &Path) -> PathBuf {
    let extended = path.extension().is_some_and(|extension| extension == EXTENSION);
    if extended || path.file_name().is_none() || path.symlink_metadata().is_ok() {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(EXTENSION);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_without_extension_is_extended() {
        for (path, expected) in [
            ("model", "model.bpk"),
            (".hidden", ".hidden.bpk"),
            (".bpk", ".bpk.bpk"),
            ("dir/", "dir.bpk"),
            ("a/b", "a/b.bpk"),
            ("model.ckpt", "model.ckpt"),
            ("run-v1.0", "run-v1.0"),
            ("a.tar.gz", "a.tar.gz"),
            ("..foo", "..foo"),
            ("model.", "model."),
            ("..", ".."),
            ("/", "/"),
        ] {
            assert_eq!(resolve_write_path(Path::new(path)).as_os_str(), expected, "{path}");
        }
    }
}
