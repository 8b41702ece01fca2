//! A tensor on its way into or out of a container.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use burnpy_buffer::{Bytes, DType};

use crate::error::{Error, ErrorKind, ProviderError, Result};
use crate::source::{Identity, Source};

/// Produces the bytes of a deferred tensor. It may be called several times, and from another thread.
pub trait Provider: Send + Sync {
    /// The payload, of exactly the declared length.
    ///
    /// # Errors
    /// Whatever the provider says; a [`crate::Error`] keeps its kind, an [`std::io::Error`] is `IoError`.
    fn provide(&self) -> Result<Bytes, ProviderError>;

    /// What the provider is, for those who made it and must find it again.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}

impl<F: Fn() -> Result<Bytes, ProviderError> + Send + Sync> Provider for F {
    fn provide(&self) -> Result<Bytes, ProviderError> {
        self()
    }
}

#[derive(Clone)]
enum Payload {
    Resident(Bytes),
    Deferred { byte_len: u64, provider: Arc<dyn Provider> },
    Window { source: Arc<dyn Source>, range: Range<u64> },
}

/// Largest piece of a window that is held in memory while it is copied into a file.
const WINDOW_CHUNK: u64 = 8 << 20;

/// A named tensor whose bytes are resident, deferred, or a window of a source. Cloning shares the bytes.
///
/// ```
/// use burnpy_buffer::{Bytes, DType};
/// use burnpy_pack::Tensor;
/// let tensor = Tensor::new("w", DType::F32, vec![2], None, Bytes::from(vec![0; 8]));
/// assert_eq!(tensor.byte_len(), 8);
/// ```
#[derive(Clone)]
pub struct Tensor {
    /// Name, free text.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Shape; empty for a single element.
    pub shape: Vec<u64>,
    /// Id of the parameter that the tensor belongs to.
    pub param_id: Option<u64>,
    payload: Payload,
}

impl Tensor {
    /// A tensor of resident bytes. Nothing is checked before it is written.
    pub fn new(
        name: impl Into<String>,
        dtype: DType,
        shape: Vec<u64>,
        param_id: Option<u64>,
        bytes: Bytes,
    ) -> Self {
        Self { name: name.into(), dtype, shape, param_id, payload: Payload::Resident(bytes) }
    }

    /// A tensor whose bytes are produced when they are wanted: once a write, when the writer reaches it, and dropped
    /// before the next one. Planning needs `byte_len` alone.
    pub fn deferred(
        name: impl Into<String>,
        dtype: DType,
        shape: Vec<u64>,
        param_id: Option<u64>,
        byte_len: u64,
        provider: Arc<dyn Provider>,
    ) -> Self {
        Self { name: name.into(), dtype, shape, param_id, payload: Payload::Deferred { byte_len, provider } }
    }

    /// A tensor whose bytes are a range of a source.
    pub(crate) fn window(
        name: &str,
        dtype: DType,
        shape: Vec<u64>,
        source: Arc<dyn Source>,
        range: Range<u64>,
    ) -> Self {
        let payload = match source.view(range.clone()) {
            Some(bytes) => Payload::Resident(bytes),
            None => Payload::Window { source, range },
        };
        Self { name: name.to_owned(), dtype, shape, param_id: None, payload }
    }

    /// Length of the payload, told without producing it.
    pub fn byte_len(&self) -> u64 {
        match &self.payload {
            Payload::Resident(bytes) => bytes.len() as u64,
            Payload::Deferred { byte_len, .. } => *byte_len,
            Payload::Window { range, .. } => range.end - range.start,
        }
    }

    /// Whether the bytes have yet to be produced or read.
    pub const fn is_deferred(&self) -> bool {
        !matches!(self.payload, Payload::Resident(_))
    }

    /// The provider, where this tensor is the only one that has it.
    pub fn sole_provider(&self) -> Option<&dyn Provider> {
        match &self.payload {
            Payload::Deferred { provider, .. } if Arc::strong_count(provider) == 1 => Some(&**provider),
            _ => None,
        }
    }

    /// The bytes; the tensor stays usable. A deferred one runs its provider every time, a window is read again.
    ///
    /// # Errors
    /// `TensorBytesSizeMismatch`, the provider's error, or `IoError`; each names the tensor.
    pub fn to_bytes(&self) -> Result<Bytes> {
        match &self.payload {
            Payload::Resident(bytes) => Ok(bytes.clone()),
            Payload::Deferred { byte_len, provider } => provide(*byte_len, &**provider),
            Payload::Window { source, range } => read_window(&**source, range.clone()),
        }
        .map_err(|error| error.with_tensor(&self.name))
    }

    /// Hands the bytes to `put`, a window piece by piece, so that no more of it is in memory than needed.
    pub(crate) fn draw(&self, put: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let Payload::Window { source, range } = &self.payload else { return put(&self.to_bytes()?) };
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + WINDOW_CHUNK);
            let piece = read_window(&**source, start..end).map_err(|error| error.with_tensor(&self.name))?;
            put(&piece)?;
            start = end;
        }
        Ok(())
    }

    /// The resident bytes.
    pub(crate) fn resident(&self) -> Option<&Bytes> {
        match &self.payload {
            Payload::Resident(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The version of the source that a window reads.
    pub(crate) fn identity(&self) -> Option<Identity> {
        match &self.payload {
            Payload::Window { source, .. } => source.identity(),
            _ => None,
        }
    }
}

impl fmt::Debug for Tensor {
    /// Never runs the provider.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("name", &self.name)
            .field("dtype", &self.dtype)
            .field("shape", &self.shape)
            .field("param_id", &self.param_id)
            .field("byte_len", &self.byte_len())
            .finish()
    }
}

fn provide(expected: u64, provider: &dyn Provider) -> Result<Bytes> {
    let bytes = provider.provide().map_err(|error| match error.downcast::<Error>() {
        Ok(error) => *error,
        Err(other) => match other.downcast::<std::io::Error>() {
            Ok(error) => (*error).into(),
            Err(other) => ErrorKind::Provider(other).into(),
        },
    })?;
    let found = bytes.len() as u64;
    if found != expected {
        return Err(ErrorKind::TensorBytesSizeMismatch { expected, found }.into());
    }
    Ok(bytes)
}

fn read_window(source: &dyn Source, range: Range<u64>) -> Result<Bytes> {
    crate::reader::read(source, range.start, range.end - range.start)
}
