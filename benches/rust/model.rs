//! Models to measure with: names like a transformer's, no payload to speak of.

use burnpy_buffer::{Bytes, DType};
use burnpy_pack::{Tensor, Writer};

/// GPT-2 small, a large mixture of experts, and as many tensors as a reader takes.
pub(crate) const COUNTS: [usize; 3] = [148, 10_000, 100_000];

/// Tensors of 64 bytes, all sharing them. Data order is not name order, as in a model that was walked layer by layer.
pub(crate) fn tensors(count: usize) -> Vec<Tensor> {
    tensors_of(count, &[16])
}

/// Tensors of no bytes, so that a write is header and metadata alone.
#[allow(dead_code, reason = "the reader's benchmark has no use for it")]
pub(crate) fn empty_tensors(count: usize) -> Vec<Tensor> {
    tensors_of(count, &[768, 0])
}

fn tensors_of(count: usize, shape: &[u64]) -> Vec<Tensor> {
    const PARTS: [&str; 4] =
        ["attention.query.weight", "attention.query.bias", "mlp.up.weight", "norm.gamma"];
    let bytes = Bytes::from(vec![0; shape.iter().product::<u64>() as usize * 4]);
    let tensor = |index: usize| {
        let name = format!("encoder.layers.{}.{}", index / PARTS.len(), PARTS[index % PARTS.len()]);
        let id = (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Tensor::new(name, DType::F32, shape.to_vec(), Some(id), bytes.clone())
    };
    (0..count).map(tensor).collect()
}

/// The container of such a model.
#[allow(dead_code, reason = "the writer's benchmark has no use for it")]
pub(crate) fn container(count: usize) -> Bytes {
    Writer::new(tensors(count)).into_bytes().expect("a plain model can be written").into()
}
