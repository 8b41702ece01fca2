//! Operations on one element, as types: a loop is compiled for each, whatever the pattern in which it walks.

mod activation;
mod arithmetic;
mod comparison;
pub(crate) mod curve;
pub(crate) mod formula;
mod function;
pub(crate) mod gradient;
pub(crate) mod integer;

pub use activation::{
    Gelu, GeluGrad, GeluTanh, GeluTanhGrad, LeakyRelu, LeakyReluGrad, Relu, ReluGrad, Sigmoid, SigmoidGrad,
    Silu, SiluGrad, Softplus, SoftplusGrad, Tanh, TanhGrad,
};
pub use arithmetic::{Abs, Add, Div, Max, Min, Mul, Neg, Recip, Rem, Sign, Square, Sub};
pub use comparison::{Equal, Greater, GreaterEqual, IsNan, Less, LessEqual, NotEqual};
pub use function::{
    Acos, Acosh, Asin, Asinh, Atan, Atan2, Atanh, Ceil, Cos, Cosh, Erf, Exp, Expm1, Floor, Hypot, Log, Log1p,
    Pow, Round, Sin, Sinh, Sqrt, Tan, Trunc,
};

use super::simd::Plain;
use crate::simd::Arch;

/// `x ↦ y`. What it gives must depend on `x` alone. Implementations are `#[inline(always)]`.
pub trait UnaryOp<T: Plain, U: Plain = T>: Copy + Send + Sync {
    /// The value for one element.
    fn apply<A: Arch>(self, x: T) -> U;

    /// The same for a slice, of which the compiler makes vector code.
    #[inline(always)]
    fn apply_slice<A: Arch>(self, x: &[T], out: &mut [U]) {
        for (y, &x) in out.iter_mut().zip(x) {
            *y = self.apply::<A>(x);
        }
    }
}

/// `(a, b) ↦ y`.
pub trait BinaryOp<T: Plain, U: Plain = T>: Copy + Send + Sync {
    /// The value for one pair.
    fn apply<A: Arch>(self, a: T, b: T) -> U;

    /// The same for slices of one length.
    #[inline(always)]
    fn apply_slices<A: Arch>(self, a: &[T], b: &[T], out: &mut [U]) {
        for ((y, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *y = self.apply::<A>(a, b);
        }
    }
}

/// A binary operation whose left operand is one number for all elements.
#[derive(Debug, Clone, Copy)]
pub struct WithLeft<O, T>(pub O, pub T);

/// A binary operation whose right operand is one number for all elements.
#[derive(Debug, Clone, Copy)]
pub struct WithRight<O, T>(pub O, pub T);

impl<T: Plain, U: Plain, O: BinaryOp<T, U>> UnaryOp<T, U> for WithLeft<O, T> {
    #[inline(always)]
    fn apply<A: Arch>(self, x: T) -> U {
        self.0.apply::<A>(self.1, x)
    }
}

impl<T: Plain, U: Plain, O: BinaryOp<T, U>> UnaryOp<T, U> for WithRight<O, T> {
    #[inline(always)]
    fn apply<A: Arch>(self, x: T) -> U {
        self.0.apply::<A>(x, self.1)
    }
}
