//! `burnpy.Tensor` and what belongs to it. Every file holds one family of methods: read arguments, call one function of
//! `burnpy-tensor` through `gate`, wrap.

mod activation;
mod argument;
mod arithmetic;
mod array;
mod autodiff;
mod compare;
mod create;
mod creation;
mod data;
mod device;
mod error;
mod functional;
mod gate;
mod gradients;
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

pub(crate) use autodiff::{apply_function, checkpoint, set_recording};
pub(crate) use data::{difference, difference_beyond, plain_tensor};
pub(crate) use device::PyDevice;
pub(crate) use functional::{
    attention, batch_norm, batch_norm_train, cross_entropy, ctc_loss, embedding, layer_norm, linear, rms_norm,
};
pub(crate) use gradients::PyGradients;
pub(crate) use linalg::einsum;
pub(crate) use pickle::restore_tensor;
pub(crate) use random::{manual_seed, random_state, set_random_state};
pub(crate) use tensor::PyTensor;
pub(crate) use threads::{get_num_threads, set_num_threads};
