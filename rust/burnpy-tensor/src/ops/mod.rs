//! Operations: forward beside backward. The file of an operation holds its checks, its formula and its gradient; the
//! loops are in `kernels`.

pub(crate) mod accumulate;
mod arith;
mod axis;
mod broadcast;
mod cast;
#[cfg(test)]
pub(crate) mod check;
mod compare;
mod ctc;
mod elementwise;
#[cfg(test)]
pub(crate) mod gradient_check;
mod half;
mod index;
mod join;
mod logic;
mod mask;
mod math;
mod matmul;
mod power;
mod quantized;
mod scalar;
mod slice;
mod sort;
#[cfg(test)]
pub(crate) mod testing;
mod update;
mod views;

pub use axis::INT;
pub use scalar::Scalar;
pub use slice::Slice;
pub use update::IndexingUpdateOp;
