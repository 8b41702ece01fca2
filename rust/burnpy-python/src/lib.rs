//! `burnpy._core`: the Python face of burnpy's Rust crates. Nothing else in the workspace knows PyO3.

#![deny(unsafe_code)]

mod array;
mod atomic;
mod checksum;
mod convert;
mod dlpack;
mod dtype;
mod enter;
mod export;
mod failure;
mod foreign;
mod foreign_dtype;
mod foreign_file;
mod foreign_map;
mod foreign_open;
mod foreign_verify;
mod foreign_view;
mod forget;
mod header;
mod import;
mod index;
mod jaro;
mod number_text;
mod open;
mod pattern;
mod pickle_data;
mod plain_value;
mod python_source;
mod reader;
mod safetensors_writer;
mod save;
mod scalar;
mod tensor_entry;
mod tensor_info;
mod tensors;
mod transpose;
mod view;
mod walk;
mod writer;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::atomic::PyAtomicFile;
    #[pymodule_export]
    use super::checksum::crc32;
    #[pymodule_export]
    use super::export::PyMemory;
    #[pymodule_export]
    use super::foreign_file::PyForeignFile;
    #[pymodule_export]
    use super::foreign_verify::PyVerification;
    #[pymodule_export]
    use super::foreign_view::PyForeignView;
    #[pymodule_export]
    use super::forget::forget_pages;
    #[pymodule_export]
    use super::header::PyHeader;
    #[pymodule_export]
    use super::jaro::{closest, jaro};
    #[pymodule_export]
    use super::number_text::{mean_lines, plain_float};
    #[pymodule_export]
    use super::pattern::{PyRegex, replace_names};
    #[pymodule_export]
    use super::pickle_data::{archive_info, pickle_data};
    #[pymodule_export]
    use super::reader::PyReader;
    #[pymodule_export]
    use super::safetensors_writer::{safetensors_bytes, stage_safetensors};
    #[pymodule_export]
    use super::save::{plan_file, save, save_file, stage_file};
    #[pymodule_export]
    use super::scalar::PyScalar;
    #[pymodule_export]
    use super::tensor_info::PyTensorInfo;
    #[pymodule_export]
    use super::tensors::{
        PyCell, PyDevice, PyDraw, PyGradients, PyRuleState, PyTensor, PyUpdateRule, adaptive_avg_pool1d,
        adaptive_avg_pool2d, adaptive_avg_pool3d, affine_grid_2d, apply_function, attention, avg_pool1d,
        avg_pool2d, avg_pool3d, batch_norm, batch_norm_train, checkpoint, conv_transpose1d, conv_transpose2d,
        conv_transpose3d, conv1d, conv2d, conv3d, count_hits, cross_entropy, ctc_loss, deform_conv2d,
        difference, difference_beyond, einsum, embedding, fold4d, get_num_threads, grid_sample_2d,
        interpolate, layer_norm, linear, manual_seed, max_pool1d, max_pool1d_with_indices, max_pool2d,
        max_pool2d_with_indices, max_pool3d, new_stream, plain_tensor, random_state, restore_tensor,
        rms_norm, set_num_threads, set_own_random_state, set_random_state, set_recording, set_thread_share,
        take_gradients, unfold4d,
    };
    #[pymodule_export]
    use super::transpose::transpose_rows;
    #[pymodule_export]
    use super::view::PyView;
    #[pymodule_export]
    use super::walk::parameters;
    #[pymodule_export]
    use super::writer::PyWriter;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        header::add_constants(module)?;
        // Under a name of its own here: `Tensor` is the one that computes.
        module.add("TensorEntry", module.py().get_type::<tensor_entry::PyTensorEntry>())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
