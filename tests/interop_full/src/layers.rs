//! The modules that Burn has, made of burnpy's configurations.

use crate::request::{Request, config, told};
use burn::config::Config;
use burn::module::Module;
use burn::nn::activation::{Activation, ActivationConfig};
use burn::nn::attention::{MhaInput, MultiHeadAttention, MultiHeadAttentionConfig};
use burn::nn::conv::{Conv1d, Conv1dConfig, Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig};
use burn::nn::transformer::{
    TransformerDecoder, TransformerDecoderConfig, TransformerDecoderInput, TransformerEncoder,
    TransformerEncoderConfig, TransformerEncoderInput,
};
use burn::nn::{
    BatchNorm, BatchNormConfig, BiLstm, BiLstmConfig, Embedding, EmbeddingConfig, GroupNorm, GroupNormConfig,
    Gru, GruConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig, Lstm, LstmConfig, PRelu, PReluConfig,
    RmsNorm, RmsNormConfig,
};
use burn::tensor::Device;
use serde_json::{Value, json};

/// The outputs of a layer by name; nothing if Burn has no such layer.
pub fn run(request: &Request) -> Option<Value> {
    let r = request;
    Some(match request.text("name") {
        "Linear" => one(r, LinearConfig::init, |m: Linear| told(m.forward(r.floats::<3>("x")))),
        "Embedding" => one(r, EmbeddingConfig::init, |m: Embedding| told(m.forward(r.ints("x")))),
        "Conv1d" => one(r, Conv1dConfig::init, |m: Conv1d| told(m.forward(r.floats("x")))),
        "Conv2d" => one(r, Conv2dConfig::init, |m: Conv2d| told(m.forward(r.floats("x")))),
        "ConvTranspose2d" => {
            one(r, ConvTranspose2dConfig::init, |m: ConvTranspose2d| told(m.forward(r.floats("x"))))
        }
        "BatchNorm" => one(r, BatchNormConfig::init, |m: BatchNorm| told(m.forward(r.floats::<4>("x")))),
        "GroupNorm" => one(r, GroupNormConfig::init, |m: GroupNorm| told(m.forward(r.floats::<4>("x")))),
        "LayerNorm" => one(r, LayerNormConfig::init, |m: LayerNorm| told(m.forward(r.floats::<3>("x")))),
        "RmsNorm" => one(r, RmsNormConfig::init, |m: RmsNorm| told(m.forward(r.floats::<3>("x")))),
        "PRelu" => one(r, PReluConfig::init, |m: PRelu| told(m.forward(r.floats::<3>("x")))),
        "Activation" => one(r, ActivationConfig::init, |m: Activation| told(m.forward(r.floats::<2>("x")))),
        "Gru" => one(r, GruConfig::init, |m: Gru| told(m.forward(r.floats("x"), None))),
        "Lstm" => layer(r, LstmConfig::init, |m: Lstm| {
            let (output, state) = m.forward(r.floats("x"), None);
            json!({"output": told(output), "cell": told(state.cell), "hidden": told(state.hidden)})
        }),
        "BiLstm" => layer(r, BiLstmConfig::init, |m: BiLstm| {
            let (output, state) = m.forward(r.floats("x"), None);
            json!({"output": told(output), "cell": told(state.cell), "hidden": told(state.hidden)})
        }),
        "MultiHeadAttention" => layer(r, MultiHeadAttentionConfig::init, |m: MultiHeadAttention| {
            let input = MhaInput::self_attn(r.floats("x")).mask_pad(r.mask("pad"));
            let output = m.forward(input);
            json!({"output": told(output.context), "weights": told(output.weights)})
        }),
        "TransformerEncoder" => one(r, TransformerEncoderConfig::init, |m: TransformerEncoder| {
            told(m.forward(TransformerEncoderInput::new(r.floats("x")).mask_pad(r.mask("pad"))))
        }),
        "TransformerDecoder" => one(r, TransformerDecoderConfig::init, |m: TransformerDecoder| {
            let input = TransformerDecoderInput::new(r.floats("x"), r.floats("memory"));
            told(m.forward(input.memory_mask_pad(r.mask("pad"))))
        }),
        _ => return None,
    })
}

/// A layer with one output.
fn one<C: Config, M: Module>(
    request: &Request,
    init: impl Fn(&C, &Device) -> M,
    forward: impl Fn(M) -> Value,
) -> Value {
    layer(request, init, |module| json!({"output": forward(module)}))
}

/// A layer that is made of its configuration, not drawn, loaded, and run.
fn layer<C: Config, M: Module>(
    request: &Request,
    init: impl Fn(&C, &Device) -> M,
    forward: impl Fn(M) -> Value,
) -> Value {
    let config: C = config(request.get("config"));
    forward(request.load(init(&config, &Device::flex())))
}
