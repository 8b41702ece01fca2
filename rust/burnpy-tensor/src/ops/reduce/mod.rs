//! Reductions: all elements, or those along some axes, become one. A full reduction has shape `[1]`; one over axes
//! keeps them with size 1.

mod extremum;
mod logic;
mod product;
mod sum;
#[cfg(test)]
mod tests;
mod values;
mod variance;

pub(crate) use sum::sum_axes;
