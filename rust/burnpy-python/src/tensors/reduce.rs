//! Reductions, and running ones.

use super::methods::{along, along_all, along_pair, unary};

unary! {
    /// Sum of all elements, of shape ``(1,)``.
    sum;
    /// Mean of all elements, of shape ``(1,)``; of integers, rounded toward zero.
    mean;
    /// Product of all elements, of shape ``(1,)``.
    prod;
    /// Largest element, of shape ``(1,)``; NaN if there is one.
    max;
    /// Smallest element, of shape ``(1,)``; NaN if there is one.
    min;
    /// Largest absolute value, of shape ``(1,)``.
    max_abs;
    /// Whether an element is not 0, of shape ``(1,)``.
    any;
    /// Whether all elements are not 0, of shape ``(1,)``.
    all;
}

along! {
    /// Sum along an axis, which is kept with size 1, as by all methods that reduce an axis.
    sum_dim;
    /// Mean along an axis; of integers, rounded toward zero.
    mean_dim;
    /// Product along an axis.
    prod_dim;
    /// Largest element along an axis; NaN if there is one.
    max_dim;
    /// Smallest element along an axis; NaN if there is one.
    min_dim;
    /// Largest absolute value along an axis.
    max_abs_dim;
    /// Whether an element along an axis is not 0.
    any_dim;
    /// Whether all elements along an axis are not 0.
    all_dim;
    /// Where the largest element is, the first of several; the first NaN, if there is one.
    argmax;
    /// Where the smallest element is, the first of several; the first NaN, if there is one.
    argmin;
    /// Variance along an axis, over n − 1.
    var;
    /// Variance along an axis, over n.
    var_bias;
    /// Running sums along an axis.
    cumsum;
    /// Running products along an axis.
    cumprod;
    /// The greatest so far along an axis; from a NaN on, NaN.
    cummax;
    /// The least so far along an axis; from a NaN on, NaN.
    cummin;
}

along_all! {
    /// Sum along axes, which are kept with size 1; along none, nothing changes.
    sum_dims;
    /// Mean along axes.
    mean_dims;
    /// Product along axes.
    prod_dims;
    /// Largest element along axes.
    max_dims;
    /// Smallest element along axes.
    min_dims;
    /// Largest absolute value along axes; along none, all absolute values.
    max_abs_dims;
    /// Sum along axes, which go.
    sum_dims_squeeze;
}

along_pair! {
    /// Largest element along an axis, and where it is.
    max_dim_with_indices;
    /// Smallest element along an axis, and where it is.
    min_dim_with_indices;
    /// Variance over n − 1 and mean along an axis.
    var_mean;
    /// Variance over n and mean along an axis.
    var_mean_bias;
    /// ``cummax``, and where each stands: of equal ones the last.
    cummax_with_indices;
    /// ``cummin``, and where each stands: of equal ones the last.
    cummin_with_indices;
}
