//! `burnpy.Tensor` and what belongs to it. Every file holds one family of methods: read arguments, call one function of
//! `burnpy-tensor` through `gate`, wrap.

mod activation;
mod argument;
mod arithmetic;
mod array;
mod autodiff;
mod cell;
mod compare;
mod create;
mod creation;
mod data;
mod device;
mod error;
mod functional;
mod gate;
mod gradients;
mod hits;
mod images;
mod import;
mod indexing;
mod linalg;
mod math;
mod methods;
mod nested;
mod number;
mod operators;
mod pickle;
mod random;
mod reduce;
mod scalar_value;
mod shape;
mod softmax;
mod sorting;
mod tensor;
mod threads;
mod update_rule;
mod windows;

pub(crate) use autodiff::{apply_function, checkpoint, set_recording};
pub(crate) use cell::{PyCell, take_gradients};
pub(crate) use data::{difference, difference_beyond, plain_tensor};
pub(crate) use device::PyDevice;
pub(crate) use functional::{
    attention, batch_norm, batch_norm_train, cross_entropy, ctc_loss, embedding, layer_norm, linear, rms_norm,
};
pub(crate) use gradients::PyGradients;
pub(crate) use hits::count_hits;
pub(crate) use images::{affine_grid_2d, grid_sample_2d, interpolate};
pub(crate) use linalg::einsum;
pub(crate) use pickle::restore_tensor;
pub(crate) use random::{
    PyDraw, manual_seed, new_stream, random_state, set_own_random_state, set_random_state,
};
pub(crate) use tensor::PyTensor;
pub(crate) use threads::{get_num_threads, set_num_threads, set_thread_share};
pub(crate) use update_rule::{PyRuleState, PyUpdateRule};
pub(crate) use windows::{
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, avg_pool1d, avg_pool2d, avg_pool3d,
    conv_transpose1d, conv_transpose2d, conv_transpose3d, conv1d, conv2d, conv3d, deform_conv2d, fold4d,
    max_pool1d, max_pool1d_with_indices, max_pool2d, max_pool2d_with_indices, max_pool3d, unfold4d,
};
