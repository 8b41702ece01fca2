//! burnpy's tensors: values, operations, gradients, and the kernels below them.
//!
//! ```
//! use burnpy_tensor::{Tensor, Value};
//! let x = Tensor::from(Value::from_slice(&[1.0f32, 2.0, 3.0], &[3])?).autodiff().require_grad()?;
//! let y = x.mul(&x)?;
//! let grads = y.backward()?;
//! assert_eq!(x.grad(&grads).unwrap().as_slice::<f32>(), Some(&[2.0, 4.0, 6.0][..]));
//! # Ok::<(), burnpy_tensor::Error>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `value`, `element` | [`Value`]: elements in shared memory, seen through a layout; code for each type of them |
//! | `tensor`, `autodiff` | [`Tensor`]: a value and its place in the graph of gradients |
//! | `ops` | operations, forward beside backward |
//! | `kernels` | free functions on slices and strides, compiled for each set of instructions |
//! | `optim` | update rules of optimizers, over many parameters at once |
//! | `parallel`, `simd` | the threads and the instructions that kernels run on |
//! | `random` | numbers that are a function of (seed, stream, position) |
//!
//! Unsafe code is denied, and allowed by name for the modules that cannot do without.
#![deny(unsafe_code)]

pub mod autodiff;
mod element;
mod error;
pub mod kernels;
pub mod ops;
pub mod optim;
#[allow(unsafe_code, reason = "shares a job and disjoint parts of slices among threads")]
pub mod parallel;
pub mod random;
#[allow(unsafe_code, reason = "calls functions that need instructions which it has checked for")]
pub mod simd;
mod tensor;
mod value;

pub use burnpy_buffer::{DType, Layout};
pub use element::{BOOL, Element, Kind};
pub use error::{Error, ErrorKind, Result};
pub use tensor::{Place, Tensor};
pub use value::Value;
