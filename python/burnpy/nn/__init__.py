"""Layers: a configuration of each, whose ``init()`` makes the module. All are here, and in the groups that Burn has.

Example:
    >>> from burnpy import Tensor, nn
    >>> nn.LinearConfig(4, 2).init()(Tensor.zeros((3, 4))).shape
    (3, 2)
    >>> nn.conv.Conv2d is nn.Conv2d
    True
"""

from __future__ import annotations

from importlib import import_module

# As `typing.TYPE_CHECKING`; what is below is found on first use.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from burnpy.module import Initializer
    from burnpy.nn import activation, attention, conv, interpolate, loss, norm, pool, rnn, transformer
    from burnpy.nn.activation import (
        GLU,
        Activation,
        ActivationConfig,
        Celu,
        CeluConfig,
        Elu,
        EluConfig,
        Gelu,
        HardShrink,
        HardShrinkConfig,
        HardSigmoid,
        HardSigmoidConfig,
        HardSwish,
        Hardtanh,
        HardtanhConfig,
        LeakyRelu,
        LeakyReluConfig,
        LogSigmoid,
        Mish,
        PRelu,
        PReluConfig,
        Relu,
        Relu6,
        RRelu,
        RReluConfig,
        Selu,
        Shrink,
        ShrinkConfig,
        Sigmoid,
        SiLU,
        Softplus,
        SoftplusConfig,
        SoftShrink,
        SoftShrinkConfig,
        Softsign,
        SwiGlu,
        SwiGluConfig,
        Tanh,
        Tanhshrink,
        Threshold,
        ThresholdConfig,
        ThresholdedRelu,
        ThresholdedReluConfig,
    )
    from burnpy.nn.attention import (
        CrossAttention,
        CrossAttentionCache,
        CrossAttentionConfig,
        GeneratePaddingMask,
        MhaCache,
        MhaInput,
        MhaOutput,
        MultiHeadAttention,
        MultiHeadAttentionConfig,
        SeqLengthOption,
        generate_autoregressive_mask,
        generate_padding_mask,
    )
    from burnpy.nn.cache import TensorCache
    from burnpy.nn.conv import (
        Conv1d,
        Conv1dConfig,
        Conv2d,
        Conv2dConfig,
        Conv3d,
        Conv3dConfig,
        ConvTranspose1d,
        ConvTranspose1dConfig,
        ConvTranspose2d,
        ConvTranspose2dConfig,
        ConvTranspose3d,
        ConvTranspose3dConfig,
        DeformConv2d,
        DeformConv2dConfig,
    )
    from burnpy.nn.cosine_similarity import CosineSimilarity, CosineSimilarityConfig
    from burnpy.nn.dropout import Dropout, DropoutConfig
    from burnpy.nn.embedding import Embedding, EmbeddingConfig
    from burnpy.nn.fold4d import Fold4d, Fold4dConfig
    from burnpy.nn.identity import Identity
    from burnpy.nn.interpolate import Interpolate1d, Interpolate1dConfig, Interpolate2d, Interpolate2dConfig
    from burnpy.nn.linear import Linear, LinearConfig, LinearLayout
    from burnpy.nn.noise import GaussianNoise, GaussianNoiseConfig
    from burnpy.nn.norm import (
        BatchNorm,
        BatchNormConfig,
        GroupNorm,
        GroupNormConfig,
        InstanceNorm,
        InstanceNormConfig,
        LayerNorm,
        LayerNormConfig,
        LocalResponseNorm,
        LocalResponseNormConfig,
        Normalization,
        NormalizationConfig,
        RmsNorm,
        RmsNormConfig,
    )
    from burnpy.nn.pairwise_distance import PairwiseDistance, PairwiseDistanceConfig
    from burnpy.nn.pixel_shuffle import PixelShuffle, PixelShuffleConfig, PixelUnshuffle, PixelUnshuffleConfig
    from burnpy.nn.pool import (
        AdaptiveAvgPool1d,
        AdaptiveAvgPool1dConfig,
        AdaptiveAvgPool2d,
        AdaptiveAvgPool2dConfig,
        AdaptiveAvgPool3d,
        AdaptiveAvgPool3dConfig,
        AvgPool1d,
        AvgPool1dConfig,
        AvgPool2d,
        AvgPool2dConfig,
        MaxPool1d,
        MaxPool1dConfig,
        MaxPool2d,
        MaxPool2dConfig,
    )
    from burnpy.nn.positional_encoding import PositionalEncoding, PositionalEncodingConfig
    from burnpy.nn.rnn import (
        BiGru,
        BiGruConfig,
        BiLstm,
        BiLstmConfig,
        BiRnn,
        BiRnnConfig,
        GateController,
        Gru,
        GruConfig,
        Lstm,
        LstmConfig,
        LstmState,
        Rnn,
        RnnConfig,
        RnnState,
    )
    from burnpy.nn.rotary_encoding import RotaryEncoding, RotaryEncodingConfig
    from burnpy.nn.transformer import (
        PositionWiseFeedForward,
        PositionWiseFeedForwardConfig,
        TransformerDecoder,
        TransformerDecoderAutoregressiveCache,
        TransformerDecoderConfig,
        TransformerDecoderInput,
        TransformerDecoderLayer,
        TransformerEncoder,
        TransformerEncoderAutoregressiveCache,
        TransformerEncoderConfig,
        TransformerEncoderInput,
        TransformerEncoderLayer,
    )
    from burnpy.nn.unfold4d import Unfold4d, Unfold4dConfig
    from burnpy.tensor import InterpolateMode, PaddingConfig1d, PaddingConfig2d, PaddingConfig3d

__all__ = [
    "GLU",
    "Activation",
    "ActivationConfig",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool1dConfig",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool2dConfig",
    "AdaptiveAvgPool3d",
    "AdaptiveAvgPool3dConfig",
    "AvgPool1d",
    "AvgPool1dConfig",
    "AvgPool2d",
    "AvgPool2dConfig",
    "BatchNorm",
    "BatchNormConfig",
    "BiGru",
    "BiGruConfig",
    "BiLstm",
    "BiLstmConfig",
    "BiRnn",
    "BiRnnConfig",
    "Celu",
    "CeluConfig",
    "Conv1d",
    "Conv1dConfig",
    "Conv2d",
    "Conv2dConfig",
    "Conv3d",
    "Conv3dConfig",
    "ConvTranspose1d",
    "ConvTranspose1dConfig",
    "ConvTranspose2d",
    "ConvTranspose2dConfig",
    "ConvTranspose3d",
    "ConvTranspose3dConfig",
    "CosineSimilarity",
    "CosineSimilarityConfig",
    "CrossAttention",
    "CrossAttentionCache",
    "CrossAttentionConfig",
    "DeformConv2d",
    "DeformConv2dConfig",
    "Dropout",
    "DropoutConfig",
    "Elu",
    "EluConfig",
    "Embedding",
    "EmbeddingConfig",
    "Fold4d",
    "Fold4dConfig",
    "GateController",
    "GaussianNoise",
    "GaussianNoiseConfig",
    "Gelu",
    "GeneratePaddingMask",
    "GroupNorm",
    "GroupNormConfig",
    "Gru",
    "GruConfig",
    "HardShrink",
    "HardShrinkConfig",
    "HardSigmoid",
    "HardSigmoidConfig",
    "HardSwish",
    "Hardtanh",
    "HardtanhConfig",
    "Identity",
    "Initializer",
    "InstanceNorm",
    "InstanceNormConfig",
    "Interpolate1d",
    "Interpolate1dConfig",
    "Interpolate2d",
    "Interpolate2dConfig",
    "InterpolateMode",
    "LayerNorm",
    "LayerNormConfig",
    "LeakyRelu",
    "LeakyReluConfig",
    "Linear",
    "LinearConfig",
    "LinearLayout",
    "LocalResponseNorm",
    "LocalResponseNormConfig",
    "LogSigmoid",
    "Lstm",
    "LstmConfig",
    "LstmState",
    "MaxPool1d",
    "MaxPool1dConfig",
    "MaxPool2d",
    "MaxPool2dConfig",
    "MhaCache",
    "MhaInput",
    "MhaOutput",
    "Mish",
    "MultiHeadAttention",
    "MultiHeadAttentionConfig",
    "Normalization",
    "NormalizationConfig",
    "PRelu",
    "PReluConfig",
    "PaddingConfig1d",
    "PaddingConfig2d",
    "PaddingConfig3d",
    "PairwiseDistance",
    "PairwiseDistanceConfig",
    "PixelShuffle",
    "PixelShuffleConfig",
    "PixelUnshuffle",
    "PixelUnshuffleConfig",
    "PositionWiseFeedForward",
    "PositionWiseFeedForwardConfig",
    "PositionalEncoding",
    "PositionalEncodingConfig",
    "RRelu",
    "RReluConfig",
    "Relu",
    "Relu6",
    "RmsNorm",
    "RmsNormConfig",
    "Rnn",
    "RnnConfig",
    "RnnState",
    "RotaryEncoding",
    "RotaryEncodingConfig",
    "Selu",
    "SeqLengthOption",
    "Shrink",
    "ShrinkConfig",
    "SiLU",
    "Sigmoid",
    "SoftShrink",
    "SoftShrinkConfig",
    "Softplus",
    "SoftplusConfig",
    "Softsign",
    "SwiGlu",
    "SwiGluConfig",
    "Tanh",
    "Tanhshrink",
    "TensorCache",
    "Threshold",
    "ThresholdConfig",
    "ThresholdedRelu",
    "ThresholdedReluConfig",
    "TransformerDecoder",
    "TransformerDecoderAutoregressiveCache",
    "TransformerDecoderConfig",
    "TransformerDecoderInput",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderAutoregressiveCache",
    "TransformerEncoderConfig",
    "TransformerEncoderInput",
    "TransformerEncoderLayer",
    "Unfold4d",
    "Unfold4dConfig",
    "activation",
    "attention",
    "conv",
    "generate_autoregressive_mask",
    "generate_padding_mask",
    "interpolate",
    "loss",
    "norm",
    "pool",
    "rnn",
    "transformer",
]

# Packages with names of their own, by which Burn groups them.
_GROUPS = {"activation", "attention", "conv", "interpolate", "loss", "norm", "pool", "rnn", "transformer"}
# Where the names are, in the package `burnpy`. A test compares this with the imports and the list above.
_NAMES = {
    "module": "Initializer",
    "nn.activation": (
        "GLU Activation ActivationConfig Celu CeluConfig Elu EluConfig Gelu HardShrink "
        "HardShrinkConfig HardSigmoid HardSigmoidConfig HardSwish Hardtanh HardtanhConfig LeakyRelu "
        "LeakyReluConfig LogSigmoid Mish PRelu PReluConfig RRelu RReluConfig Relu Relu6 Selu Shrink "
        "ShrinkConfig SiLU Sigmoid SoftShrink SoftShrinkConfig Softplus SoftplusConfig Softsign "
        "SwiGlu SwiGluConfig Tanh Tanhshrink Threshold ThresholdConfig ThresholdedRelu "
        "ThresholdedReluConfig"
    ),
    "nn.attention": (
        "CrossAttention CrossAttentionCache CrossAttentionConfig GeneratePaddingMask MhaCache "
        "MhaInput MhaOutput MultiHeadAttention MultiHeadAttentionConfig SeqLengthOption "
        "generate_autoregressive_mask generate_padding_mask"
    ),
    "nn.rnn": (
        "BiGru BiGruConfig BiLstm BiLstmConfig BiRnn BiRnnConfig GateController Gru GruConfig Lstm "
        "LstmConfig LstmState Rnn RnnConfig RnnState"
    ),
    "nn.transformer": (
        "PositionWiseFeedForward PositionWiseFeedForwardConfig TransformerDecoder "
        "TransformerDecoderAutoregressiveCache TransformerDecoderConfig TransformerDecoderInput "
        "TransformerDecoderLayer TransformerEncoder TransformerEncoderAutoregressiveCache "
        "TransformerEncoderConfig TransformerEncoderInput TransformerEncoderLayer"
    ),
    "nn.cache": "TensorCache",
    "nn.positional_encoding": "PositionalEncoding PositionalEncodingConfig",
    "nn.rotary_encoding": "RotaryEncoding RotaryEncodingConfig",
    "nn.conv": (
        "Conv1d Conv1dConfig Conv2d Conv2dConfig Conv3d Conv3dConfig ConvTranspose1d "
        "ConvTranspose1dConfig ConvTranspose2d ConvTranspose2dConfig ConvTranspose3d "
        "ConvTranspose3dConfig DeformConv2d DeformConv2dConfig"
    ),
    "nn.cosine_similarity": "CosineSimilarity CosineSimilarityConfig",
    "nn.dropout": "Dropout DropoutConfig",
    "nn.embedding": "Embedding EmbeddingConfig",
    "nn.fold4d": "Fold4d Fold4dConfig",
    "nn.identity": "Identity",
    "nn.interpolate": "Interpolate1d Interpolate1dConfig Interpolate2d Interpolate2dConfig",
    "nn.linear": "Linear LinearConfig LinearLayout",
    "nn.noise": "GaussianNoise GaussianNoiseConfig",
    "nn.norm": (
        "BatchNorm BatchNormConfig GroupNorm GroupNormConfig InstanceNorm InstanceNormConfig LayerNorm "
        "LayerNormConfig LocalResponseNorm LocalResponseNormConfig Normalization NormalizationConfig "
        "RmsNorm RmsNormConfig"
    ),
    "nn.pairwise_distance": "PairwiseDistance PairwiseDistanceConfig",
    "nn.pixel_shuffle": "PixelShuffle PixelShuffleConfig PixelUnshuffle PixelUnshuffleConfig",
    "nn.pool": (
        "AdaptiveAvgPool1d AdaptiveAvgPool1dConfig AdaptiveAvgPool2d AdaptiveAvgPool2dConfig "
        "AdaptiveAvgPool3d AdaptiveAvgPool3dConfig AvgPool1d AvgPool1dConfig AvgPool2d AvgPool2dConfig "
        "MaxPool1d MaxPool1dConfig MaxPool2d MaxPool2dConfig"
    ),
    "nn.unfold4d": "Unfold4d Unfold4dConfig",
    "tensor": "InterpolateMode PaddingConfig1d PaddingConfig2d PaddingConfig3d",
}
_HOMES = {name: f"burnpy.{home}" for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _GROUPS:
        return import_module(f"burnpy.nn.{name}")
    if name in _HOMES:
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    raise AttributeError(f"module 'burnpy.nn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
