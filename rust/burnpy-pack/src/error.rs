//! One error for the crate: a kind that says what, and where it happened.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::header::MAGIC_NUMBER;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error that a provider of a deferred tensor may return: an [`Error`] keeps its kind, anything else
/// becomes [`ErrorKind::Provider`].
pub type ProviderError = Box<dyn StdError + Send + Sync>;

/// What went wrong with a container.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Too short for header and metadata.
    #[error("{what}: {expected} bytes are needed, there are {found}")]
    InvalidHeader {
        /// What ends too early, or what the bytes really are.
        what: &'static str,
        /// Bytes that are needed.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// The first four bytes are not a burnpack's.
    #[error("not a burnpack file: the magic number is {found:#010x}, not {MAGIC_NUMBER:#010x}{}", hint(*looks_like))]
    InvalidMagicNumber {
        /// The number in the file.
        found: u32,
        /// What the file seems to be.
        looks_like: Option<&'static str>,
    },
    /// A version from the future.
    #[error("format version {found} is newer than {newest}, the newest known")]
    InvalidVersion {
        /// The file's version.
        found: u16,
        /// The newest version that is read.
        newest: u16,
    },
    /// The metadata could not be encoded.
    #[error("metadata cannot be written: {0}")]
    MetadataSerialization(String),
    /// The metadata is not the CBOR it should be.
    #[error("metadata cannot be read at byte {position}: {reason}")]
    MetadataDeserialization {
        /// What is wrong.
        reason: String,
        /// Offset inside the metadata.
        position: u64,
    },
    /// The operating system said no, or a file changed while it was read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No tensor has this name.
    #[error("no tensor is named {:?}{}", shortened(name), near(nearest))]
    TensorNotFound {
        /// The name as asked.
        name: String,
        /// A name that is there and looks alike.
        nearest: Option<String>,
    },
    /// A provider returned another length than was declared.
    #[error("the provider returned {found} bytes, {expected} were declared")]
    TensorBytesSizeMismatch {
        /// Declared length.
        expected: u64,
        /// Returned length.
        found: u64,
    },
    /// A rule or limit of the format is broken.
    #[error("{what}")]
    Validation {
        /// The rule, with the numbers.
        what: String,
        /// The number that breaks it.
        found: Option<u64>,
        /// The number that it breaks.
        limit: Option<u64>,
    },
    /// Something is at the destination, and it must not be replaced.
    #[error("something is there already, and overwriting is off")]
    AlreadyExists,
    /// The provider of a deferred tensor failed.
    #[error("its provider failed: {0}")]
    Provider(#[source] ProviderError),
}

/// An [`ErrorKind`] and where it happened.
#[derive(Debug)]
pub struct Error {
    /// What went wrong.
    pub kind: ErrorKind,
    /// The tensor concerned.
    pub tensor: Option<String>,
    /// The file concerned, as resolved.
    pub path: Option<PathBuf>,
}

impl Error {
    /// A broken rule or limit.
    pub(crate) fn validation(what: impl Into<String>) -> Self {
        ErrorKind::Validation { what: what.into(), found: None, limit: None }.into()
    }

    /// A number over its limit.
    pub(crate) fn over(what: &str, found: u64, limit: u64) -> Self {
        let what = format!("{what} is {found}, over the limit of {limit}");
        ErrorKind::Validation { what, found: Some(found), limit: Some(limit) }.into()
    }

    /// The same error, told of a tensor; the innermost name stays.
    #[must_use]
    pub fn with_tensor(mut self, name: &str) -> Self {
        self.tensor.get_or_insert_with(|| name.to_owned());
        self
    }

    /// The same error, told of a file; the innermost path stays.
    #[must_use]
    pub fn with_path(mut self, path: &Path) -> Self {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// Burn's name of the kind.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            ErrorKind::InvalidHeader { .. } => "InvalidHeader",
            ErrorKind::InvalidMagicNumber { .. } => "InvalidMagicNumber",
            ErrorKind::InvalidVersion { .. } => "InvalidVersion",
            ErrorKind::MetadataSerialization(_) => "MetadataSerializationError",
            ErrorKind::MetadataDeserialization { .. } => "MetadataDeserializationError",
            ErrorKind::Io(_) => "IoError",
            ErrorKind::TensorNotFound { .. } => "TensorNotFound",
            ErrorKind::TensorBytesSizeMismatch { .. } => "TensorBytesSizeMismatch",
            ErrorKind::Validation { .. } | ErrorKind::Provider(_) => "ValidationError",
            ErrorKind::AlreadyExists => "AlreadyExists",
        }
    }

    /// The number that was found, where the kind has one.
    pub fn found(&self) -> Option<u64> {
        match self.kind {
            ErrorKind::InvalidHeader { found, .. } | ErrorKind::TensorBytesSizeMismatch { found, .. } => {
                Some(found)
            }
            ErrorKind::InvalidMagicNumber { found, .. } => Some(u64::from(found)),
            ErrorKind::InvalidVersion { found, .. } => Some(u64::from(found)),
            ErrorKind::MetadataDeserialization { position, .. } => Some(position),
            ErrorKind::Validation { found, .. } => found,
            _ => None,
        }
    }

    /// The number that was expected or allowed, where the kind has one.
    pub fn limit(&self) -> Option<u64> {
        match self.kind {
            ErrorKind::InvalidHeader { expected, .. }
            | ErrorKind::TensorBytesSizeMismatch { expected, .. } => Some(expected),
            ErrorKind::InvalidMagicNumber { .. } => Some(u64::from(MAGIC_NUMBER)),
            ErrorKind::InvalidVersion { newest, .. } => Some(u64::from(newest)),
            ErrorKind::Validation { limit, .. } => limit,
            _ => None,
        }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { kind, tensor: None, path: None }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        ErrorKind::Io(error).into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        if let Some(tensor) = &self.tensor {
            write!(f, "tensor {:?}: ", shortened(tensor))?;
        }
        self.kind.fmt(f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.kind {
            // The text of an I/O error is already in ours; its own source is what is left to tell.
            ErrorKind::Io(error) => error.source(),
            ErrorKind::Provider(error) => Some(&**error),
            _ => None,
        }
    }
}

/// A name for a message: a hostile file's may have a hundred million bytes. The field of the error keeps it whole.
pub(crate) fn shortened(name: &str) -> std::borrow::Cow<'_, str> {
    const MAX: usize = 200;
    match name.len() {
        0..=MAX => name.into(),
        len => format!("{}… ({len} bytes)", &name[..name.floor_char_boundary(MAX)]).into(),
    }
}

fn hint(looks_like: Option<&'static str>) -> String {
    looks_like.map(|name| format!("; it looks like {name}")).unwrap_or_default()
}

fn near(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean {:?}?", shortened(name))).unwrap_or_default()
}
