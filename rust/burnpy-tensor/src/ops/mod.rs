//! Operations: forward beside backward. The file of an operation holds its checks, its formula and its gradient; the
//! loops are in `kernels`.

pub(crate) mod accumulate;
mod activation;
mod arith;
mod attention;
mod axis;
mod batch_norm;
mod broadcast;
mod cast;
#[cfg(test)]
pub(crate) mod check;
mod compare;
mod creation;
mod cross_entropy;
mod ctc;
mod cumulative;
mod decompose;
mod einsum;
mod elementwise;
#[cfg(test)]
pub(crate) mod gradient_check;
mod half;
mod index;
mod join;
mod linalg;
mod linear;
mod logic;
mod mask;
mod math;
mod matmul;
mod norm;
mod pad;
mod power;
mod quantized;
mod random;
mod reduce;
mod scalar;
mod slice;
mod softmax;
mod sort;
#[cfg(test)]
pub(crate) mod testing;
mod triangle;
mod unfold;
mod update;
mod views;

pub use attention::AttentionOptions;
pub use axis::INT;
pub use cross_entropy::CrossEntropy;
pub use einsum::einsum;
pub use pad::PadMode;
pub use random::Distribution;
pub use scalar::Scalar;
pub use slice::Slice;
pub use update::IndexingUpdateOp;
