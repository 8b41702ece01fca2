//! Operations: forward beside backward. The file of an operation holds its checks, its formula and its gradient; the
//! loops are in `kernels`.

pub(crate) mod accumulate;
mod arith;
mod axis;
mod broadcast;
mod cast;
#[cfg(test)]
pub(crate) mod check;
mod ctc;
mod half;
mod matmul;
mod quantized;
pub use axis::INT;
