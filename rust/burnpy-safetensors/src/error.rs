//! What can be wrong with a safetensors file.

/// The kind of a fault; [`Kind::name`] is its text, which `CheckpointError.kind` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each says what its name says")]
pub enum Kind {
    NotSafetensors,
    Truncated,
    OverLimit,
    MalformedHeader,
    DuplicateName,
    DuplicateField,
    DuplicateKey,
    UnknownDtype,
    InvalidOffsets,
    Overlap,
    Gap,
    TrailingBytes,
    Overflow,
    Misaligned,
    LengthMismatch,
    Unwritable,
}

impl Kind {
    /// The kind in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotSafetensors => "not a safetensors file",
            Self::Truncated => "truncated",
            Self::OverLimit => "over limit",
            Self::MalformedHeader => "malformed header",
            Self::DuplicateName => "duplicate name",
            Self::DuplicateField => "duplicate field",
            Self::DuplicateKey => "duplicate key",
            Self::UnknownDtype => "unknown dtype",
            Self::InvalidOffsets => "invalid offsets",
            Self::Overlap => "overlap",
            Self::Gap => "gap",
            Self::TrailingBytes => "trailing bytes",
            Self::Overflow => "overflow",
            Self::Misaligned => "misaligned",
            Self::LengthMismatch => "length mismatch",
            Self::Unwritable => "cannot be written",
        }
    }
}

/// A fault of a safetensors file: its kind, what exactly, and the tensor concerned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", .tensor.as_ref().map(|name| format!("tensor {name:?}: ")).unwrap_or_default())]
pub struct Error {
    /// The kind.
    pub kind: Kind,
    /// What exactly, with the numbers.
    pub what: String,
    /// The tensor concerned.
    pub tensor: Option<String>,
    /// The number that was found.
    pub found: Option<u64>,
    /// The number that was expected or allowed.
    pub limit: Option<u64>,
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), tensor: None, found: None, limit: None }
    }

    pub(crate) fn numbers(mut self, found: u64, limit: u64) -> Self {
        (self.found, self.limit) = (Some(found), Some(limit));
        self
    }

    pub(crate) fn of(mut self, tensor: &str) -> Self {
        self.tensor.get_or_insert_with(|| tensor.to_owned());
        self
    }
}
