//! burnpy's tensors: values, operations, gradients, and the kernels below them.
#![deny(unsafe_code)]

pub mod kernels;
#[allow(unsafe_code, reason = "shares a job and disjoint parts of slices among threads")]
pub mod parallel;
#[allow(unsafe_code, reason = "calls functions that need instructions which it has checked for")]
pub mod simd;
