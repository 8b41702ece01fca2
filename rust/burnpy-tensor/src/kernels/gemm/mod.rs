//! Matrix multiplication.
//!
//! [`gemm`] reads its operands at any strides, so that a transposed or broadcast matrix is never copied beforehand.
//! An element's products are added in the order of the common axis, in blocks whose length depends on the shape alone:
//! its bits depend neither on the number of threads nor on the strides.

mod batch;
mod block;
mod matrix;
mod pack;
mod plain;
mod scratch;
#[cfg(test)]
mod tests;
mod vector;

use burnpy_buffer::Pod;

use super::map::unary_assign;
use super::number::Real;
use super::ops::{Gelu, GeluTanh, Sigmoid, Silu, Tanh};

pub use batch::{Batch, gemm_batch};
pub use matrix::MatRef;
pub use plain::matmul_plain;
pub(super) use scratch::Scratch;

use super::simd::{MicroElement, Region, Transpose};
use block::Product;

/// Numbers that have fast matrix products: `f32` and `f64`.
pub trait GemmElement: Pod + MicroElement + Transpose + Real {}

impl GemmElement for f32 {}
impl GemmElement for f64 {}

/// A function of each element of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Activation {
    /// None.
    #[default]
    None,
    /// `max(y, 0)`; NaN stays.
    Relu,
    /// `y Φ(y)`.
    Gelu,
    /// [`Activation::Gelu`] by a hyperbolic tangent.
    GeluTanh,
    /// `y σ(y)`.
    Silu,
    /// `σ(y) = 1 / (1 + e^-y)`.
    Sigmoid,
    /// `tanh y`.
    Tanh,
}

impl Activation {
    /// Applies it to each element. The micro-kernels do [`Activation::Relu`] themselves.
    fn apply<T: GemmElement>(self, row: &mut [T]) {
        match self {
            Self::None | Self::Relu => {}
            Self::Gelu => unary_assign(Gelu, row),
            Self::GeluTanh => unary_assign(GeluTanh, row),
            Self::Silu => unary_assign(Silu, row),
            Self::Sigmoid => unary_assign(Sigmoid, row),
            Self::Tanh => unary_assign(Tanh, row),
        }
    }
}

/// What is done to a product while it is still in registers, or in the first-level cache: `activation(product + bias)`.
#[derive(Debug, Clone, Copy)]
pub struct Epilogue<'a, T> {
    /// One number for each column.
    pub bias: Option<&'a [T]>,
    /// Comes last.
    pub activation: Activation,
}

impl<T> Default for Epilogue<'_, T> {
    /// Nothing.
    fn default() -> Self {
        Self { bias: None, activation: Activation::None }
    }
}

/// `out = activation(a · b + bias)`, or `out = activation(out + a · b + bias)` if `accumulate`.
///
/// `a` has `m` rows and `k` columns, `b` `k` rows and `n` columns; `out` is row-major, one row each `ldc` elements,
/// and what lies between its rows is left alone. With `k = 0` the product is zeros.
///
/// ```
/// use burnpy_tensor::kernels::gemm::{Epilogue, MatRef, gemm};
/// let a = MatRef::row_major(&[1.0f32, 2.0, 3.0, 4.0], 2);
/// let mut out = [0.0; 4];
/// gemm(2, 2, 2, a, a.transposed(), &mut out, 2, false, &Epilogue::default());
/// assert_eq!(out, [5.0, 11.0, 11.0, 25.0]);
/// ```
///
/// # Panics
/// If an operand's elements are not all in its slice, rows of `out` overlap or are not in it, or there is not one
/// bias a column.
#[allow(
    clippy::too_many_arguments,
    reason = "three sizes, three matrices, and what to do: the field's order"
)]
pub fn gemm<T: GemmElement>(
    m: usize,
    k: usize,
    n: usize,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    out: &mut [T],
    ldc: usize,
    accumulate: bool,
    epilogue: &Epilogue<'_, T>,
) {
    a.check("left", m, k);
    b.check("right", k, n);
    let out = Region::new(out, ldc, m, n);
    multiply(&Product::new(k, a, b, accumulate, epilogue, n), out);
}

/// The way that fits the shape.
fn multiply<T: GemmElement>(product: &Product<'_, T>, out: Region<'_, T>) {
    match (out.rows(), out.cols()) {
        (0, _) | (_, 0) => {}
        (1, _) | (_, 1) if vector::suits(product, &out) => vector::multiply(product, out),
        _ => block::multiply(product, out),
    }
}
