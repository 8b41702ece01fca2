//! Kernels: free functions on slices and strides. They know no graph, no dtype tags and no allocation policy.

pub mod gemm;
pub mod index;
pub mod join;
pub mod map;
pub mod math;
pub mod number;
pub mod ops;
pub mod region;
pub mod select;
#[allow(
    unsafe_code,
    reason = "vector instructions and parts of outputs, behind functions that check the bounds"
)]
pub mod simd;
pub mod sort;
pub mod strided;
pub mod zip;
