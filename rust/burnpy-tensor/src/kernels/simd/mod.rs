//! Where kernels need instructions that the compiler does not choose by itself. What leaves this module is safe to
//! call.

mod conv;
#[cfg(target_arch = "x86_64")]
mod conv_x86;
#[cfg(target_arch = "x86_64")]
mod gemm_avx2;
#[cfg(target_arch = "x86_64")]
mod gemm_avx512;
#[cfg(target_arch = "aarch64")]
mod gemm_neon;
mod gemm_portable;
mod micro;
mod region;
mod stream;
mod transpose;
mod vector;

pub use conv::SlideElement;
pub(crate) use conv::{Run, Runs, Slide, Start, Sums, Target};
pub use micro::MicroElement;
pub(crate) use micro::{DOTS, Finish, Left, Micro, Right};
pub(crate) use region::{Region, for_each_matrix, for_each_region};
pub use stream::{Plain, STREAM_BYTES, Tiles};
pub use transpose::Transpose;
pub(crate) use transpose::{SQUARE, transpose, turn_square};
