//! One error for the crate: a kind that says what, and where it happened.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Some other kind of file.
    #[error("not a checkpoint: {what}")]
    NotACheckpoint {
        /// What the file is or lacks.
        what: Cow<'static, str>,
    },
    /// A number in the file, or the work that it asks for, is over a limit.
    #[error("{what} is {found}, over the limit of {limit}")]
    OverLimit {
        /// Which number.
        what: &'static str,
        /// The number; `u64::MAX` stands for anything that does not fit.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// The pickle breaks the rules of pickles.
    #[error("malformed pickle: {what}")]
    MalformedPickle {
        /// Which rule, with the numbers.
        what: Cow<'static, str>,
    },
    /// The zip or tar around the pickle breaks the rules of its format.
    #[error("malformed archive: {what}")]
    MalformedArchive {
        /// Which rule, with the numbers.
        what: Cow<'static, str>,
    },
    /// The file ends too early.
    #[error("truncated: {what}")]
    Truncated {
        /// What is incomplete.
        what: Cow<'static, str>,
    },
    /// The file is nothing but an object that would have to be built by calling something.
    #[error("the file holds no data of its own, it asks for {qualified}, which is never imported or called")]
    UnsafeGlobal {
        /// Module and name.
        qualified: String,
    },
    /// A tensor's storage is not in the file.
    #[error("its storage is missing")]
    MissingStorage,
    /// A tensor reaches past the end of its storage.
    #[error("it reaches to byte {needed} of its storage, which has {found}")]
    StorageTooShort {
        /// Where the tensor ends; `u64::MAX` stands for anything that does not fit.
        needed: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// A tensor's sizes, strides or offset make no sense.
    #[error("invalid tensor: {what}")]
    InvalidTensor {
        /// What makes no sense.
        what: Cow<'static, str>,
    },
    /// Two different values have one dotted name.
    #[error("two different values have this name; names are joined by dots")]
    NameClash,
    /// The bytes are not those that were written.
    #[error("the checksum (CRC-32) of its storage is {found:#010x}, the archive says {expected:#010x}")]
    Checksum {
        /// Of the bytes in the file.
        found: u32,
        /// As the archive has it.
        expected: u32,
    },
    /// `torch.export.save` wrote the file.
    #[error(
        "a program of torch.export (pt2), not a checkpoint; load it with torch.export.load and save its state_dict"
    )]
    ExportedProgram,
    /// `torch.jit.save` wrote the file.
    #[error("a TorchScript archive, not a checkpoint; load it with torch.jit.load and save its state_dict")]
    TorchScript,
    /// Well-formed, but nothing that is read.
    #[error("unsupported: {what}")]
    Unsupported {
        /// What is not read.
        what: Cow<'static, str>,
    },
}

impl ErrorKind {
    /// All that [`name`](Self::name) may give.
    pub const NAMES: [&str; 14] = [
        "not a checkpoint",
        "over limit",
        "malformed pickle",
        "malformed archive",
        "truncated",
        "unsafe global",
        "missing storage",
        "storage too short",
        "invalid tensor",
        "name clash",
        "checksum",
        "exported program",
        "torchscript archive",
        "unsupported",
    ];

    /// The kind in two or three words, the same for every error of the kind.
    ///
    /// ```
    /// # use burnpy_pickle::ErrorKind;
    /// assert_eq!(ErrorKind::MissingStorage.name(), "missing storage");
    /// ```
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotACheckpoint { .. } => "not a checkpoint",
            Self::OverLimit { .. } => "over limit",
            Self::MalformedPickle { .. } => "malformed pickle",
            Self::MalformedArchive { .. } => "malformed archive",
            Self::Truncated { .. } => "truncated",
            Self::UnsafeGlobal { .. } => "unsafe global",
            Self::MissingStorage => "missing storage",
            Self::StorageTooShort { .. } => "storage too short",
            Self::InvalidTensor { .. } => "invalid tensor",
            Self::NameClash => "name clash",
            Self::Checksum { .. } => "checksum",
            Self::ExportedProgram => "exported program",
            Self::TorchScript => "torchscript archive",
            Self::Unsupported { .. } => "unsupported",
        }
    }

    pub(crate) fn not_a_checkpoint(what: impl Into<Cow<'static, str>>) -> Self {
        Self::NotACheckpoint { what: cut(what.into()) }
    }

    pub(crate) fn pickle(what: impl Into<Cow<'static, str>>) -> Self {
        Self::MalformedPickle { what: cut(what.into()) }
    }

    pub(crate) fn archive(what: impl Into<Cow<'static, str>>) -> Self {
        Self::MalformedArchive { what: cut(what.into()) }
    }

    pub(crate) fn truncated(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Truncated { what: cut(what.into()) }
    }

    pub(crate) fn tensor(what: impl Into<Cow<'static, str>>) -> Self {
        Self::InvalidTensor { what: cut(what.into()) }
    }

    pub(crate) fn unsupported(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Unsupported { what: cut(what.into()) }
    }

    pub(crate) fn unsafe_global(qualified: impl Into<String>) -> Self {
        Self::UnsafeGlobal { qualified: cut(Cow::Owned(qualified.into())).into_owned() }
    }
}

/// An [`ErrorKind`] and where it happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The tensor concerned, by its full name.
    pub tensor: Option<String>,
    /// The archive member concerned.
    pub member: Option<String>,
    /// Offset of the opcode inside its pickle.
    pub offset: Option<u64>,
}

impl Error {
    /// The same error, told of a tensor; the innermost name stays.
    #[must_use]
    pub fn with_tensor(mut self, name: &str) -> Self {
        self.tensor.get_or_insert_with(|| name.to_owned());
        self
    }

    /// The same error, told of an archive member; the innermost name stays.
    #[must_use]
    pub fn with_member(mut self, name: &str) -> Self {
        self.member.get_or_insert_with(|| name.to_owned());
        self
    }

    /// The same error, told of a place in a pickle; the innermost place stays.
    #[must_use]
    pub(crate) fn with_offset(mut self, offset: usize) -> Self {
        self.offset.get_or_insert(offset as u64);
        self
    }

    /// The number that was found, where the kind has one.
    pub fn found(&self) -> Option<u64> {
        match self.kind {
            ErrorKind::OverLimit { found, .. } | ErrorKind::StorageTooShort { found, .. } => Some(found),
            ErrorKind::Checksum { found, .. } => Some(u64::from(found)),
            _ => None,
        }
    }

    /// The number that was needed or allowed, where the kind has one.
    pub fn limit(&self) -> Option<u64> {
        match self.kind {
            ErrorKind::OverLimit { limit, .. } => Some(limit),
            ErrorKind::StorageTooShort { needed, .. } => Some(needed),
            ErrorKind::Checksum { expected, .. } => Some(u64::from(expected)),
            _ => None,
        }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self { kind, tensor: None, member: None, offset: None }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tensor) = &self.tensor {
            write!(f, "tensor {}: ", Quoted(tensor))?;
        }
        self.kind.fmt(f)?;
        if let Some(member) = &self.member {
            write!(f, " (member {})", Quoted(member))?;
        }
        if let Some(offset) = self.offset {
            write!(f, " at byte {offset} of the pickle")?;
        }
        Ok(())
    }
}

impl StdError for Error {}

/// A text that may quote the file, kept to a few lines.
fn cut(text: Cow<'static, str>) -> Cow<'static, str> {
    if text.len() <= 500 {
        return text;
    }
    match text.char_indices().nth(500) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => text,
    }
}

/// A name from a file in an error message: escaped, and never longer than a few lines.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(200) {
            Some((end, _)) => write!(f, "{:?}… ({} bytes)", &self.0[..end], self.0.len()),
            None => write!(f, "{:?}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_which_tensor_which_member_and_where() {
        let error = Error::from(ErrorKind::MissingStorage)
            .with_tensor("w\n")
            .with_tensor("outer")
            .with_member("a/data/0");
        assert_eq!(error.to_string(), "tensor \"w\\n\": its storage is missing (member \"a/data/0\")");
        let error = Error::from(ErrorKind::pickle("no mark")).with_offset(3).with_offset(9);
        assert_eq!(error.to_string(), "malformed pickle: no mark at byte 3 of the pickle");
    }

    #[test]
    fn a_long_name_is_cut() {
        let error = Error::from(ErrorKind::NameClash).with_tensor(&"ä".repeat(100_000));
        assert!(error.to_string().len() < 600);
    }

    #[test]
    fn an_error_stays_small_enough_to_return() {
        assert!(size_of::<Error>() <= 128, "{}", size_of::<Error>());
    }
}
