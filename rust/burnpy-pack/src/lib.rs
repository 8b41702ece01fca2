//! burnpack, the container (`.bpk`) that Burn keeps its records in: read and written to the byte.
//!
//! ```text
//! 0        10               10 + metadata_size   the next multiple of 256
//! ┌────────┬────────────────┬───────────────────┬──────────┬─────┬──────────┬───
//! │ header │ metadata, CBOR │ zeros             │ tensor 0 │ 0 0 │ tensor 1 │ …   each starts on a multiple of 256
//! └────────┴────────────────┴───────────────────┴──────────┴─────┴──────────┴───
//!   magic u32, version u16, metadata_size u32, all little-endian
//! ```
//!
//! The metadata is one map: `tensors` (name to dtype, shape, `data_offsets` from the data section, `param_id`), and,
//! where there are any, `metadata` (text to text) and `scalars` (text to a typed number). Maps are sorted by name; the
//! data lies in the order in which the tensors were given.
//!
//! ```
//! use burnpy_buffer::{Bytes, DType};
//! use burnpy_pack::{ReadOptions, Reader, Tensor, Writer};
//!
//! let weights = Tensor::new("w", DType::F32, vec![2], Some(7), Bytes::from(vec![0; 8]));
//! let file = Writer::new(vec![weights]).with_metadata("producer", "me").with_scalar("lr", 0.001).into_bytes()?;
//! let reader = Reader::from_bytes(file.into(), &ReadOptions::default())?;
//! assert_eq!(reader.names().collect::<Vec<_>>(), ["w"]);
//! assert_eq!(reader.metadata()["producer"], "me");
//! # Ok::<(), burnpy_pack::Error>(())
//! ```
//!
//! A [`Reader`] takes what Burn's reader takes, and with [`ReadOptions::strict`] only what Burn's writer would have
//! written. A [`Writer`] refuses what a reader would refuse, before any file exists.

#![forbid(unsafe_code)]

mod cbor;
mod copies;
mod decode;
mod decode_dtype;
mod dtype_name;
mod encode;
mod error;
mod header;
mod limits;
mod metadata;
mod path;
mod plain;
mod plan;
mod problems;
mod reader;
mod scalar;
mod scratch;
mod select;
#[cfg(unix)]
mod send;
mod sink;
mod sniff;
mod source;
mod tensor;
mod validate;
mod writer;

pub use copies::Copies;
pub use error::{Error, ErrorKind, ProviderError, Result};
pub use header::{
    ALIGNMENT, EXTENSION, FORMAT_VERSION, HEADER_SIZE, Header, MAGIC_NUMBER, align_up, data_start,
};
pub use limits::Limits;
pub use path::{find_read_path, resolve_read_path, resolve_write_path};
pub use plan::Plan;
pub use reader::{Backend, Entry, ReadOptions, Reader};
pub use scalar::{Scalar, ScalarConversionError};
pub use scratch::AtomicFile;
pub use sink::FileSink;
pub use sniff::sniff;
pub use source::{FileSource, Identity, MemorySource, Source};
pub use tensor::{Provider, Tensor};
pub use writer::Writer;
