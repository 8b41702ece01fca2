//! `burnpy.Tensor` and what belongs to it. Every file holds one family of methods: read arguments, call one function of
//! `burnpy-tensor` through `gate`, wrap.

mod argument;
mod array;
mod autodiff;
mod create;
mod device;
mod error;
mod gate;
mod gradients;
mod import;
mod nested;
mod number;
mod operators;
mod pickle;
mod random;
mod scalar_value;
mod tensor;
mod threads;

pub(crate) use autodiff::{apply_function, checkpoint, set_recording};
pub(crate) use device::PyDevice;
pub(crate) use gradients::PyGradients;
pub(crate) use pickle::restore_tensor;
pub(crate) use random::{manual_seed, random_state, set_random_state};
pub(crate) use tensor::PyTensor;
pub(crate) use threads::{get_num_threads, set_num_threads};
