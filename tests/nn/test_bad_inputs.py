"""What layers refuse: which exception, and the words that tell what to change."""

from collections.abc import Callable
from typing import Any

import pytest

from burnpy import Tensor, nn
from burnpy.errors import ConfigError
from burnpy.nn import PaddingConfig1d, PaddingConfig2d, PaddingConfig3d
from burnpy.tensor import ArgumentError, DTypeError, ShapeError, TensorIndexError

NAN, INF = float("nan"), float("inf")
CONFIGS: list[tuple[Callable[[], object], list[str]]] = [
    (lambda: nn.LinearConfig(-1, 2), ["LinearConfig", "d_input", "-1"]),
    (lambda: nn.LinearConfig(2, 2.5), ["LinearConfig", "d_output", "integer", "2.5"]),  # type: ignore[arg-type]
    (lambda: nn.LinearConfig(2, 3, bias=1), ["bias", "bool"]),  # type: ignore[arg-type]
    (lambda: nn.LinearConfig(2, 3, layout="Col"), ["layout", "LinearLayout", "Col"]),  # type: ignore[arg-type]
    (lambda: nn.EmbeddingConfig(-3, 2), ["EmbeddingConfig", "n_embedding", "-3"]),
    (lambda: nn.Conv1dConfig(0, 2, 3), ["Conv1dConfig", "channels_in", "at least 1", "0"]),
    (lambda: nn.Conv1dConfig(2, 2, 3, stride=0), ["stride", "at least 1"]),
    (lambda: nn.Conv1dConfig(4, 6, 3, groups=4), ["Conv1dConfig", "6 channels out", "groups=4"]),
    (lambda: nn.Conv1dConfig(3, 4, 3, groups=2), ["3 channels in", "groups=2"]),
    (lambda: nn.Conv1dConfig(2, 2, 3, padding=1), ["padding", "PaddingConfig1d", "1"]),  # type: ignore[arg-type]
    (lambda: nn.Conv2dConfig((2, 2), (3, 3, 3)), ["kernel_size", "2 values"]),  # type: ignore[arg-type]
    (lambda: nn.Conv2dConfig((2, 2), 3), ["kernel_size", "sequence", "3"]),  # type: ignore[arg-type]
    (lambda: nn.Conv2dConfig((2, 2), (3, 3), dilation=(1, 0)), ["dilation[1]", "at least 1"]),
    (lambda: nn.Conv2dConfig((2, 2), (3, 3)).with_groups(0), ["groups", "at least 1"]),
    (
        lambda: nn.Conv2dConfig((2, 2), (3, 3), padding=PaddingConfig1d.Same()),  # type: ignore[arg-type]
        ["padding", "PaddingConfig2d", "PaddingConfig1d"],
    ),
    (
        lambda: nn.Conv3dConfig((2, 2), (3, 2, 3), padding=PaddingConfig3d.Same()),
        ["Conv3dConfig", "Same", "odd", "[3, 2, 3]"],
    ),
    (
        lambda: nn.DeformConv2dConfig((2, 2), (2, 3), padding=PaddingConfig2d.Same()),
        ["DeformConv2dConfig", "Same", "[2, 3]"],
    ),
    (lambda: nn.DeformConv2dConfig((3, 3), (3, 3), offset_groups=2), ["3 channels in", "offset_groups=2"]),
    (lambda: nn.DeformConv2dConfig((2, 3), (3, 3), weight_groups=2), ["3 channels out", "weight_groups=2"]),
    (lambda: nn.ConvTranspose1dConfig((2, 2), 3, padding=-1), ["padding", "at least 0", "-1"]),
    (lambda: nn.ConvTranspose2dConfig((2, 3), (3, 3), groups=2), ["3 channels out", "groups=2"]),
    (lambda: PaddingConfig1d.Explicit(-1, 0), ["PaddingConfig1d.Explicit", "left", "-1"]),
    (lambda: PaddingConfig2d.Explicit(0, 0, 0.5, 0), ["bottom", "integer"]),  # type: ignore[arg-type]
    (lambda: nn.MaxPool1dConfig(0), ["MaxPool1dConfig", "kernel_size", "at least 1"]),
    (lambda: nn.MaxPool2dConfig((2, 2), strides=(0, 1)), ["strides[0]", "at least 1"]),
    (lambda: nn.AvgPool1dConfig(2, stride=-2), ["stride", "-2"]),
    (lambda: nn.AdaptiveAvgPool2dConfig((0, 1)), ["output_size[0]", "at least 1"]),
    (lambda: nn.BatchNormConfig(0), ["BatchNormConfig", "num_features", "at least 1"]),
    (lambda: nn.BatchNormConfig(3, epsilon=0.0), ["epsilon", "above 0", "0.0"]),
    (lambda: nn.BatchNormConfig(3, epsilon=INF), ["epsilon", "finite", "inf"]),
    (lambda: nn.BatchNormConfig(3, momentum=1.5), ["momentum", "[0, 1]", "1.5"]),
    (lambda: nn.BatchNormConfig(3, momentum=NAN), ["momentum", "[0, 1]", "nan"]),
    (lambda: nn.GroupNormConfig(4, 6), ["GroupNormConfig", "num_channels=6", "num_groups=4"]),
    (lambda: nn.GroupNormConfig(0, 6), ["num_groups", "at least 1"]),
    (lambda: nn.RmsNormConfig(3, epsilon=0.0), ["RmsNormConfig", "epsilon", "above 0"]),
    (lambda: nn.RmsNormConfig(3, epsilon=NAN), ["epsilon", "nan"]),
    (lambda: nn.LocalResponseNormConfig(0), ["LocalResponseNormConfig", "size", "at least 1"]),
    (
        lambda: nn.NormalizationConfig.Group(nn.GroupNormConfig(2, 4)).with_num_features(5),
        ["num_channels=5", "num_groups=2"],
    ),
    (
        lambda: nn.NormalizationConfig.Batch(nn.LayerNormConfig(3)),  # type: ignore[arg-type]
        ["NormalizationConfig.Batch", "BatchNormConfig"],
    ),
    (lambda: nn.DropoutConfig(1.0), ["DropoutConfig", "prob", "[0, 1)", "1.0"]),
    (lambda: nn.DropoutConfig(-0.1), ["prob", "-0.1"]),
    (lambda: nn.DropoutConfig(NAN), ["prob", "nan"]),
    (lambda: nn.GaussianNoiseConfig(-1.0), ["GaussianNoiseConfig", "std", "-1.0"]),
    (lambda: nn.GaussianNoiseConfig(INF), ["std", "finite", "inf"]),
    (lambda: nn.Interpolate2dConfig(output_size=(0, 2)), ["output_size[0]", "at least 1"]),
    (lambda: nn.Interpolate1dConfig(mode="Linear"), ["mode", "InterpolateMode"]),  # type: ignore[arg-type]
    (lambda: nn.Unfold4dConfig((0, 2)), ["kernel_size[0]", "at least 1"]),
    (lambda: nn.Fold4dConfig((3, 3), (2, 2), padding=(0, -1)), ["padding[1]", "at least 0"]),
    (lambda: nn.PixelShuffleConfig(0), ["PixelShuffleConfig", "upscale_factor", "at least 1"]),
    (lambda: nn.PixelUnshuffleConfig(0), ["downscale_factor", "at least 1"]),
    (lambda: nn.CosineSimilarityConfig(dim=0.5), ["dim", "integer"]),  # type: ignore[arg-type]
    (lambda: nn.PairwiseDistanceConfig(p="2"), ["p", "number"]),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("make", "words"), CONFIGS, ids=[" ".join(words) for _, words in CONFIGS])
def test_a_configuration_that_cannot_be_is_refused_by_the_name_of_the_field(
    make: Callable[[], object], words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        make()
    assert all(word in str(caught.value) for word in words), str(caught.value)


def zeros(*shape: int) -> Tensor:
    return Tensor.zeros(shape)


CONV1D = nn.Conv1dConfig(2, 4, 3)
CONV2D = nn.Conv2dConfig((2, 4), (3, 3))
CONV3D = nn.Conv3dConfig((2, 4), (3, 3, 3))
DEFORM = nn.DeformConv2dConfig((2, 4), (3, 3))
ODD = nn.DeformConv2dConfig((2, 4), (3, 3), padding=PaddingConfig2d.Explicit(1, 1, 0, 1))
BOTH = nn.Interpolate1dConfig(output_size=3, scale_factor=2.0)
INPUTS: list[tuple[Any, tuple[Any, ...], type[Exception], list[str]]] = [
    (nn.LinearConfig(3, 2), (zeros(4, 5),), ShapeError, ["linear", "3", "5"]),
    (nn.LinearConfig(3, 2), (zeros(4, 3).cast("f64"),), DTypeError, ["linear", "f64", "f32"]),
    (nn.LinearConfig(3, 2), (None,), TypeError, ["Tensor"]),
    (nn.EmbeddingConfig(5, 2), (Tensor([1, 2]),), ShapeError, ["Embedding", "two axes", "[2]"]),
    (nn.EmbeddingConfig(5, 2), (Tensor([[1, 5]]),), TensorIndexError, ["embedding", "5"]),
    (nn.EmbeddingConfig(5, 2), (Tensor([[1, -1]]),), TensorIndexError, ["embedding", "-1"]),
    (nn.EmbeddingConfig(5, 2), (zeros(1, 2),), DTypeError, ["embedding", "integers"]),
    (CONV1D, (zeros(1, 2),), ShapeError, ["conv1d", "rank 3", "[1, 2]"]),
    (CONV1D, (zeros(1, 3, 9),), ShapeError, ["conv1d", "3 channels", "[4, 2, 3]"]),
    (CONV1D, (zeros(1, 2, 2),), ShapeError, ["conv1d", "3 elements", "2"]),
    (CONV2D, (zeros(2, 9, 9),), ShapeError, ["conv2d", "rank 4", "[2, 9, 9]"]),
    (CONV2D, (zeros(1, 1, 9, 9),), ShapeError, ["conv2d", "1 channels"]),
    (CONV2D, (zeros(1, 2, 9, 2),), ShapeError, ["conv2d", "3 elements", "2"]),
    (CONV3D, (zeros(1, 2, 9, 9),), ShapeError, ["conv3d", "rank 5"]),
    (nn.ConvTranspose1dConfig((2, 4), 3), (zeros(1, 3, 9),), ShapeError, ["conv_transpose1d", "3 channels"]),
    (nn.ConvTranspose2dConfig((2, 4), (3, 3)), (zeros(1, 2, 9),), ShapeError, ["conv_transpose2d", "rank 4"]),
    (nn.ConvTranspose3dConfig((2, 4), (1, 1, 1)), (zeros(1, 2),), ShapeError, ["conv_transpose3d", "rank 5"]),
    (DEFORM, (zeros(1, 2, 5, 5), zeros(1, 9, 3, 3)), ShapeError, ["deform_conv2d", "[1, 18, 3, 3]", "[1, 9, 3, 3]"]),
    (DEFORM, (zeros(1, 2, 5, 5), zeros(1, 18, 3, 3), zeros(1, 8, 3, 3)), ShapeError, ["mask", "[1, 9, 3, 3]"]),
    (DEFORM, (zeros(2, 5, 5), zeros(1, 18, 3, 3)), ShapeError, ["deform_conv2d", "rank 4"]),
    (ODD, (zeros(1, 2, 5, 5), zeros(1, 18, 3, 3)), ShapeError, ["DeformConv2d", "both ends", "Explicit(1, 1, 0, 1)"]),
    (nn.MaxPool1dConfig(3), (zeros(2, 9),), ShapeError, ["max_pool1d", "rank 3"]),
    (nn.MaxPool2dConfig((3, 3)), (zeros(1, 2, 2, 9),), ShapeError, ["max_pool2d", "3 elements", "2"]),
    (nn.AvgPool1dConfig(3), (zeros(1, 2, 9, 9),), ShapeError, ["avg_pool1d", "rank 3"]),
    (nn.AvgPool2dConfig((3, 3)), (zeros(1, 2, 9, 2),), ShapeError, ["avg_pool2d", "3 elements"]),
    (nn.AdaptiveAvgPool1dConfig(3), (zeros(2, 9),), ShapeError, ["adaptive_avg_pool1d", "rank 3"]),
    (nn.AdaptiveAvgPool2dConfig((3, 3)), (zeros(2, 9),), ShapeError, ["adaptive_avg_pool2d", "rank 4"]),
    (nn.AdaptiveAvgPool3dConfig((3, 3, 3)), (zeros(2, 9),), ShapeError, ["adaptive_avg_pool3d", "rank 5"]),
    (nn.BatchNormConfig(3), (zeros(3),), ShapeError, ["BatchNorm", "axis 1", "3 elements", "[3]"]),
    (nn.BatchNormConfig(3), (zeros(2, 1, 4),), ShapeError, ["BatchNorm", "axis 1", "3 elements", "[2, 1, 4]"]),
    (nn.LayerNormConfig(3), (zeros(2, 1),), ShapeError, ["LayerNorm", "last axis", "3 elements", "[2, 1]"]),
    (nn.RmsNormConfig(3), (zeros(3, 4),), ShapeError, ["RmsNorm", "last axis", "3 elements", "[3, 4]"]),
    (nn.GroupNormConfig(2, 4), (zeros(2, 6, 3),), ShapeError, ["GroupNorm", "4 elements", "[2, 6, 3]"]),
    (nn.GroupNormConfig(1, 2), (zeros(1, 2),), ShapeError, ["GroupNorm", "more than two elements", "[1, 2]"]),
    (nn.InstanceNormConfig(3), (zeros(2, 1, 3),), ShapeError, ["InstanceNorm", "3 elements", "[2, 1, 3]"]),
    (nn.InstanceNormConfig(3), (zeros(3),), ShapeError, ["InstanceNorm", "axis 1"]),
    (nn.LocalResponseNormConfig(3), (zeros(2, 3),), ShapeError, ["LocalResponseNorm", "three axes", "[2, 3]"]),
    (nn.Interpolate1dConfig(output_size=3), (zeros(1, 2, 3, 4),), ShapeError, ["Interpolate1d", "3 axes"]),
    (nn.Interpolate2dConfig(output_size=(3, 3)), (zeros(1, 2, 3),), ShapeError, ["Interpolate2d", "4 axes"]),
    (nn.Interpolate2dConfig(), (zeros(1, 1, 3, 3),), ArgumentError, ["Interpolate2d", "exactly one", "None"]),
    (BOTH, (zeros(1, 1, 3),), ArgumentError, ["Interpolate1d", "exactly one", "3", "2.0"]),
    (nn.Unfold4dConfig((2, 2)), (zeros(1, 3, 3),), ShapeError, ["unfold4d", "rank 4"]),
    (nn.Fold4dConfig((3, 3), (2, 2)), (zeros(1, 4, 5),), ShapeError, ["fold4d", "5 columns", "4 places"]),
    (nn.Fold4dConfig((3, 3), (2, 2)), (zeros(1, 3, 4),), ShapeError, ["fold4d", "3 rows"]),
    (nn.PixelShuffleConfig(2), (zeros(1, 6, 2, 2),), ShapeError, ["PixelShuffle", "divisible by 4", "[1, 6, 2, 2]"]),
    (nn.PixelShuffleConfig(2), (zeros(4, 2, 2),), ShapeError, ["PixelShuffle", "[4, 2, 2]"]),
    (nn.PixelUnshuffleConfig(2), (zeros(1, 1, 4, 3),), ShapeError, ["PixelUnshuffle", "divisible by 2"]),
    (nn.CosineSimilarityConfig(), (zeros(2, 3), zeros(2, 4)), ShapeError, ["[2, 3]", "[2, 4]"]),
    (nn.CosineSimilarityConfig(dim=2), (zeros(2, 3), zeros(2, 3)), ShapeError, ["2"]),
    (nn.PairwiseDistanceConfig(), (zeros(2, 3), zeros(2, 4)), ShapeError, ["[2, 3]", "[2, 4]"]),
]  # fmt: skip
SEQUENCE = zeros(1, 2, 8)
OF_ANOTHER_CLASS: list[tuple[Any, tuple[Any, ...], str]] = [
    (nn.MultiHeadAttentionConfig(8, 2), (SEQUENCE,), "MultiHeadAttention: input must be a MhaInput, got Tensor"),
    (nn.TransformerEncoderConfig(8, 8, 2, 1), (SEQUENCE,), "TransformerEncoder: input must be a .*Input, got Tensor"),
    (nn.TransformerEncoderConfig(8, 8, 2, 0), (SEQUENCE,), "TransformerEncoder: input must be a .*Input, got Tensor"),
    (nn.TransformerDecoderConfig(8, 8, 2, 1), (SEQUENCE,), "TransformerDecoder: input must be a .*Input, got Tensor"),
    (nn.LstmConfig(8, 2, True), (SEQUENCE, (1, 2)), "Lstm: state must be a LstmState, got tuple"),
    (nn.BiLstmConfig(8, 2, True), (SEQUENCE, (1, 2)), "BiLstm: state must be a LstmState, got tuple"),
    (nn.RnnConfig(8, 2, True), (SEQUENCE, zeros(1, 2)), "Rnn: state must be a RnnState, got Tensor"),
    (nn.BiRnnConfig(8, 2, True), (SEQUENCE, zeros(1, 2)), "BiRnn: state must be a RnnState, got Tensor"),
    (nn.GruConfig(8, 2, True), (SEQUENCE, (1, 2)), "Gru: state must be a Tensor, got tuple"),
    (nn.BiGruConfig(8, 2, True), (SEQUENCE, (1, 2)), "BiGru: state must be a Tensor, got tuple"),
]  # fmt: skip


@pytest.mark.parametrize(("config", "inputs", "text"), OF_ANOTHER_CLASS)
def test_an_input_of_another_class_is_refused(config: Any, inputs: tuple[Any, ...], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        config.init()(*inputs)


NAMES = [f"{type(config).__name__} {' '.join(words[1:])}" for config, _, _, words in INPUTS]


@pytest.mark.parametrize(("config", "inputs", "error", "words"), INPUTS, ids=NAMES)
def test_an_input_that_does_not_fit_is_refused(
    config: Any, inputs: tuple[Any, ...], error: type[Exception], words: list[str]
) -> None:
    with pytest.raises(error) as caught:
        config.init()(*inputs)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_an_input_that_does_not_fit_leaves_running_values_alone() -> None:
    norm = nn.BatchNormConfig(3, momentum=1.0).init()
    with pytest.raises(ShapeError):
        norm(Tensor.ones((2, 4)))
    assert norm.running_mean.value_sync().tolist() == [0, 0, 0]
