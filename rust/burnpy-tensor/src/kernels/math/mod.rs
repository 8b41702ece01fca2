//! Elementary functions as branch-free code for one element, of which the compiler makes vector loops.
//!
//! Each polynomial has the least largest error over its interval for coefficients rounded to the type.

pub mod erf;
pub mod exp;
pub mod hyperbolic;
pub mod log;
pub mod trig;
