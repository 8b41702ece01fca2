//! Where kernels need instructions that the compiler does not choose by itself.

mod stream;

pub use stream::{Plain, STREAM_BYTES, stream_tiles};
