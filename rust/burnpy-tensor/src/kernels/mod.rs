//! Kernels: free functions on slices and strides. They know no graph, no dtype tags and no allocation policy.

pub mod attention;
pub mod batch_norm;
pub mod conv;
pub mod cross_entropy;
pub mod fold;
pub mod gemm;
pub mod index;
pub mod join;
mod lanes;
pub mod layer_norm;
pub mod map;
pub mod math;
pub mod number;
pub mod ops;
pub mod pool;
pub mod quiet_softmax;
pub mod random;
pub mod reduce;
pub mod region;
pub mod resample;
pub mod sample;
pub mod scan;
pub mod select;
#[allow(
    unsafe_code,
    reason = "vector instructions and parts of outputs, behind functions that check the bounds"
)]
pub mod simd;
pub mod softmax;
pub mod sort;
pub mod strided;
mod transpose;
pub mod unfold;
pub mod zip;
