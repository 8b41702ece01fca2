//! PyTorch's checkpoints as plain data. Nothing in a file is ever executed, imported or looked up.
//!
//! A checkpoint is a pickle, which describes objects, beside blocks of bytes, the storages. Python reads
//! pickles by running them: they may call anything. This crate reads them as what they are, a list of
//! instructions for a small stack machine, and keeps the outcome as data. Names of classes and functions stay
//! names; the few calls that make tensors, dicts and arrays are read as what they would make; every other
//! call is remembered and not made.
//!
//! ```
//! use burnpy_pickle::{Limits, Scalar, open};
//!
//! // {"epoch": 3, "model": os.system("ls")}: what is data is read, what is a call is named.
//! let file = b"\x80\x02}(X\x05\0\0\0epochK\x03X\x05\0\0\0modelcos\nsystem\nX\x02\0\0\0ls\x85Ru.";
//! let checkpoint = open(file, &Limits::default())?;
//! let leaves = checkpoint.leaves()?;
//! assert_eq!(leaves.scalars[0].value, Scalar::Int(3));
//! assert_eq!(leaves.skipped[0].name, "model");
//! assert_eq!(leaves.skipped[0].qualified, "os.system");
//! # Ok::<(), burnpy_pickle::Error>(())
//! ```
//!
//! The file is a slice of bytes, usually a map. [`open`] reads the pickle and the directory of the archive,
//! no storage; [`Checkpoint::view_range`] says where a tensor lies in the file, [`Checkpoint::read`] copies
//! one that has to be unpacked, transposed or swapped.
//!
//! Who walks [`Value`]s instead of [`Leaves`] must expect that containers are shared and may hold themselves:
//! keep a map from [`ValueId`] to what was made of it, as Python does. After [`Checkpoint::leaves`] has
//! succeeded, no list, tuple or dict value under the root holds itself or is nested deeper than
//! [`Limits::max_depth`].
//!
//! | module | holds |
//! |---|---|
//! | `sniff`, `torch_zip`, `zip`, `inflate`, `legacy`, `tar` | the containers |
//! | `machine`, `literal`, `assemble`, `input`, `memo`, `text` | the stack machine |
//! | `heap`, `value`, `storage`, `tensor` | what it makes |
//! | `call`, `rebuild`, `numpy`, `state` | calls that are read as data |
//! | `census`, `flatten`, `key`, `leaf`, `scalar`, `skipped` | [`Leaves`]: what there is, by full name |
//! | `read`, `gather` | data of tensors |
//! | `limits` | [`Limits`]: what a file may ask for |
#![forbid(unsafe_code)]

mod assemble;
mod bigint;
mod call;
mod census;
mod checkpoint;
mod checksum;
mod dtype;
mod error;
mod exercise;
mod flatten;
mod gather;
mod heap;
mod inflate;
mod input;
mod key;
mod leaf;
mod legacy;
mod limits;
mod literal;
mod machine;
mod memo;
mod numpy;
mod opcode;
mod read;
mod rebuild;
mod scalar;
mod skipped;
mod sniff;
mod state;
mod storage;
mod tar;
mod tensor;
mod text;
mod torch_zip;
mod value;
mod zip;

pub use bigint::BigInt;
pub use checkpoint::{ArchiveInfo, Checkpoint, Format, open};
pub use checksum::crc32;
pub use dtype::DType;
pub use error::{Error, ErrorKind, Result};
#[doc(hidden)]
pub use exercise::{exercise, exercise_pickle};
pub use leaf::{Leaves, Scalar, ScalarLeaf, SkipReason, Skipped, TensorLeaf};
pub use limits::Limits;
pub use read::Placement;
pub use storage::{Element, Storage, StorageId, StorageRef};
pub use tensor::{TensorKind, TensorValue};
pub use value::{
    Arena, Blob, Dict, Global, LongText, NumpyDType, NumpyScalar, Object, SetValue, Value, ValueId,
};
