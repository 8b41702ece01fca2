//! Kernels: free functions on slices and strides. They know no graph, no dtype tags and no allocation policy.
pub mod strided;
pub mod zip;
