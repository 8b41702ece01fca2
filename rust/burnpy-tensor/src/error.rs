//! What goes wrong with tensors.

use std::fmt;
use std::sync::Arc;

/// Result of a fallible operation.
pub type Result<T> = std::result::Result<T, Error>;

/// An operation that cannot be done: which one, what kind of fault, and the numbers.
///
/// ```
/// use burnpy_tensor::{Error, ErrorKind};
/// let error = Error::shape("matmul", format_args!("inner sizes {} and {} differ", 3, 4));
/// assert_eq!(error.to_string(), "matmul: inner sizes 3 and 4 differ");
/// assert!(matches!(error.kind(), ErrorKind::Shape));
/// ```
#[derive(Clone)]
pub struct Error(Box<Detail>);

#[derive(Clone)]
struct Detail {
    kind: ErrorKind,
    operation: &'static str,
    message: String,
}

/// What kind of fault it is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Shapes, ranks or axes that do not fit.
    Shape,
    /// Element types that do not fit.
    DType,
    /// An index outside of its axis.
    Index,
    /// Any other argument.
    Argument,
    /// A graph of gradients that is not there, or not any more.
    Graph,
    /// What a custom operation raised.
    Foreign(Arc<dyn std::error::Error + Send + Sync>),
}

impl Error {
    fn new(kind: ErrorKind, operation: &'static str, message: impl fmt::Display) -> Self {
        Self(Box::new(Detail { kind, operation, message: message.to_string() }))
    }

    /// Shapes, ranks or axes that do not fit.
    #[cold]
    pub fn shape(operation: &'static str, message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Shape, operation, message)
    }

    /// Element types that do not fit.
    #[cold]
    pub fn dtype(operation: &'static str, message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::DType, operation, message)
    }

    /// An index outside of its axis.
    #[cold]
    pub fn index(operation: &'static str, message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Index, operation, message)
    }

    /// Any other argument.
    #[cold]
    pub fn argument(operation: &'static str, message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Argument, operation, message)
    }

    /// A graph of gradients that is not there, or not any more.
    #[cold]
    pub fn graph(operation: &'static str, message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Graph, operation, message)
    }

    /// What a custom operation raised.
    #[cold]
    pub fn foreign(
        operation: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let source: Box<dyn std::error::Error + Send + Sync> = source.into();
        let message = source.to_string();
        Self::new(ErrorKind::Foreign(source.into()), operation, message)
    }

    /// What kind of fault it is.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The operation that was asked for.
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.operation, self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} error, {self}", self.0.kind)
    }
}

impl std::error::Error for Error {}
