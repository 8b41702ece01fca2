//! Many elements into one: sums, products, extrema and where they are.
//!
//! Floats are summed and multiplied in doubles, in a fixed number of lanes and blocks of a fixed size: the bits are
//! the same on any number of threads, and the error does not grow with the length.

mod arg;
mod axis;
mod fold;
mod moments;
mod rows;

pub use arg::{Extremum, Largest, Smallest, arg_axis, arg_rows};
pub use axis::axis;
pub use fold::{Fold, LANES, Max, Min, Prod, Sum, SumSquares, fold_slice};
pub(in crate::kernels) use fold::{join_lanes, padded};
pub use moments::moments_rows;
pub use rows::{all, all_wide, rows};

/// Elements of a task.
const BLOCK: usize = 32 * 1024;
