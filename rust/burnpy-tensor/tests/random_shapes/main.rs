//! Operations on random shapes, strides and dtypes beside loops over indices, and their gradients beside central
//! differences. `PROPTEST_CASES` says how many cases each test runs.

mod array;
mod cases;
mod casts;
mod differences;
mod floats;
mod gradients;
mod indexing;
mod integers;
mod joining;
mod order;
mod pools;
mod products;
mod reductions;
mod softmax;
mod views;
mod windows;
