//! burnpy's memory: element types, layouts, and bytes that are shared, aligned, pooled or mapped.
//!
//! The leaf of the workspace: it knows no container, no tensor arithmetic and no Python, and it is the one
//! place below the binding where raw memory is handled.
//!
//! ```
//! use burnpy_buffer::{AlignedBuf, Bytes, copy_bytes};
//!
//! let mut block = AlignedBuf::zeroed(8);
//! copy_bytes(&mut block, &[0, 0, 128, 63, 0, 0, 0, 64]);
//! let bytes = Bytes::from(block); // no copy: the block is the owner
//! assert_eq!(bytes.try_as_slice::<f32>(), Some(&[1.0, 2.0][..]));
//!
//! let tail = bytes.slice(4..8).unwrap(); // shares the block
//! drop(bytes);
//! assert_eq!(tail.try_as_slice::<f32>(), Some(&[2.0][..]));
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `dtype`, `quant` | [`DType`], [`QuantScheme`]: what a payload's bytes mean, and how many there are |
//! | `layout`, `views`, `selection`, `ranges`, `gather` | [`Layout`], [`Selection`]: which elements, at which byte ranges |
//! | `bytes`, `window` | [`Bytes`]: shared, sliceable memory that keeps its owner alive |
//! | `aligned`, `pool` | [`AlignedBuf`]: blocks aligned to 64 bytes or 2 MiB, and their reuse |
//! | `mapped`, `map_registry` | [`map_file`], [`forget_pages`], [`is_mapped_from`], [`mapped_file`], [`watch_copies`] |
//! | `cast`, `copy`, `stream`, `transpose` | [`Pod`] views of bytes, [`copy_bytes`], [`transpose_rows`] |
//! | `fork` | what happens to locks and caches when the process forks |
//!
//! Unsafe code is denied, and allowed by name for the modules that are about raw memory.
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "allocates, maps and frees blocks")]
mod aligned;
mod bytes;
#[allow(unsafe_code, reason = "reads bytes as numbers")]
mod cast;
mod copy;
mod dtype;
#[allow(unsafe_code, reason = "registers handlers with the C library")]
mod fork;
mod gather;
mod layout;
mod map_registry;
#[allow(unsafe_code, reason = "maps files")]
mod mapped;
mod pool;
mod quant;
mod ranges;
mod selection;
mod shelf;
#[allow(unsafe_code, reason = "streaming stores are intrinsics")]
mod stream;
mod transpose;
mod views;
#[allow(unsafe_code, reason = "points into memory that its owner keeps alive")]
mod window;

pub use aligned::{AlignedBuf, BLOCK_ALIGNMENT, HUGE_PAGE};
pub use bytes::Bytes;
pub use cast::{Pod, as_bytes, try_cast_slice, try_cast_slice_mut};
pub use copy::copy_bytes;
pub use dtype::{BoolStore, DType, PayloadLenError};
pub use fork::on_fork;
pub use layout::{Layout, LayoutError};
pub use map_registry::{Origin, Watch, Witness, is_mapped_from, mapped_file, watch_copies};
pub use mapped::{MapMode, forget_pages, map_file};
pub use pool::{pool_bytes, trim_pool};
pub use quant::{BlockScale, BlockSize, QuantMode, QuantScheme, QuantStore, QuantValue, ScaleDType};
pub use selection::{AxisSelection, BasicIndex, Selection};
pub use transpose::transpose_rows;
