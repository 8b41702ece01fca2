//! The header of a safetensors file: read with every check of the format, written to the byte.
//!
//! ```text
//! 0          8                      8 + length, data
//! ┌──────────┬──────────────────────┬──────────┬──────────┬───
//! │ length   │ header, JSON, spaces │ tensor 0 │ tensor 1 │ …    back to back, up to the last byte of the file
//! └──────────┴──────────────────────┴──────────┴──────────┴───
//! ```
//!
//! Payloads are no matter of this crate: it takes the first bytes and the length of a file and gives back where
//! everything is.
//!
//! Its reader is stricter than the safetensors library in one thing: a name or key that stands twice is an error,
//! where the library silently takes the last one.

#![forbid(unsafe_code)]

mod dtype;
mod encode;
mod error;
mod header;
mod json;

pub use dtype::Dtype;
pub use encode::{Plan, Spec, plan};
pub use error::{Error, Kind, Result};
pub use header::{Entry, Header, LENGTH_BYTES, MAX_HEADER_BYTES, METADATA_KEY, header_end};
