//! Operations: forward beside backward. The file of an operation holds its checks, its formula and its gradient; the
//! loops are in `kernels`.

pub(crate) mod accumulate;
mod activation;
mod affine_grid;
mod arith;
mod attention;
mod avg_pool;
mod axis;
mod batch_norm;
mod broadcast;
mod cast;
mod channel;
#[cfg(test)]
pub(crate) mod check;
mod compare;
mod conv;
mod conv_transpose;
mod creation;
mod cross_entropy;
mod ctc;
mod cumulative;
mod decompose;
mod deform_conv;
mod einsum;
mod elementwise;
#[cfg(test)]
pub(crate) mod gradient_check;
mod grid_sample;
mod half;
mod index;
mod interpolate;
mod join;
mod linalg;
mod linear;
mod logic;
mod mask;
mod math;
mod matmul;
mod max_pool;
mod norm;
mod pad;
mod power;
mod quantized;
mod random;
mod reduce;
mod resample;
mod scalar;
mod slice;
mod softmax;
mod sort;
#[cfg(test)]
mod spatial_tests;
#[cfg(test)]
pub(crate) mod testing;
mod triangle;
mod unfold;
mod unfold4d;
mod update;
mod views;
mod window;

pub use attention::AttentionOptions;
pub use avg_pool::AvgPoolOptions;
pub use axis::INT;
pub use conv::ConvOptions;
pub use conv_transpose::ConvTransposeOptions;
pub use cross_entropy::CrossEntropy;
pub use deform_conv::DeformConvOptions;
pub use einsum::einsum;
pub use grid_sample::{GridMode, GridPadding, GridSampleOptions};
pub use interpolate::{InterpolateMode, InterpolateOptions, OutputSize};
pub use max_pool::MaxPoolOptions;
pub use pad::PadMode;
pub use random::Distribution;
pub use scalar::Scalar;
pub use slice::Slice;
pub use unfold4d::UnfoldOptions;
pub use update::IndexingUpdateOp;
pub use window::Padding;
