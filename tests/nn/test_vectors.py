"""Numbers worked out by hand or told of Burn, layer by layer."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor, nn
from burnpy.module import Initializer, Module
from burnpy.nn import InterpolateMode, PaddingConfig1d, PaddingConfig2d, PaddingConfig3d

TWOS = Initializer.Constant(2.0)
ONE = PaddingConfig1d.Explicit(1, 1)
FLAT = PaddingConfig3d.Explicit(0, 1, 2)
SAME = PaddingConfig1d.Same()
SAME3D = PaddingConfig3d.Same()


def arange(*shape: int, start: float = 0.0) -> Tensor:
    return Tensor.from_numpy(np.arange(start, start + np.prod(shape), dtype=np.float32).reshape(shape))


def counted(module: Any) -> Any:
    """The module with every parameter filled with 0, 1, 2, …"""
    for _, param in module.named_params():
        param.set_base(arange(*param.lazy_shape()))
    return module


def assert_is(found: Tensor, expected: Sequence[Any], tolerance: float = 5e-5) -> None:
    np.testing.assert_allclose(found.numpy(), np.array(expected), rtol=tolerance, atol=tolerance)


# ---- linear maps


@pytest.mark.parametrize(("bias", "expected"), [(False, 4.0), (True, 6.0)])
def test_linear_of_constants(bias: bool, expected: float) -> None:
    linear = nn.LinearConfig(2, 3, bias=bias, initializer=TWOS).init()
    assert_is(linear(Tensor.ones((1, 2))), [[expected] * 3])


def test_a_col_layout_is_row_in_memory() -> None:
    linear = nn.LinearConfig(6, 12, layout=nn.LinearLayout.Col).init()
    assert linear.weight.val().shape == (6, 12)
    assert linear(Tensor.ones((2, 6))).shape == (2, 12)
    assert linear.into_record()["weight"].shape == (12, 6)


# ---- convolutions

CONV1D: list[tuple[dict[str, Any], list[Any]]] = [
    ({}, [[[43, 67, 82, 49], [104, 176, 227, 158]], [[139, 187, 202, 113], [392, 584, 635, 414]]]),
    ({"dilation": 2}, [[[62, 38], [159, 111]], [[158, 102], [447, 367]]]),
    ({"groups": 2}, [[[2, 5, 8, 3], [42, 63, 75, 47]], [[26, 29, 32, 11], [114, 159, 171, 103]]]),
]


@pytest.mark.parametrize(("options", "expected"), CONV1D)
def test_conv1d_of_counted_values(options: dict[str, Any], expected: list[Any]) -> None:
    conv = counted(nn.Conv1dConfig(2, 2, 3, padding=ONE, **options).init())
    assert_is(conv(arange(2, 2, 4)), expected)


@pytest.mark.parametrize(
    ("module", "shape", "expected"),
    [
        (nn.Conv2dConfig((1, 1), (3, 3), padding=PaddingConfig2d.Explicit(1, 2, 3, 4)), (1, 1, 4, 5), (1, 1, 6, 9)),
        (nn.Conv1dConfig(1, 1, 3, padding=PaddingConfig1d.Explicit(1, 2)), (1, 1, 4), (1, 1, 5)),
        (nn.Conv1dConfig(1, 1, 2, padding=SAME), (1, 1, 5), (1, 1, 5)),
        (nn.Conv1dConfig(1, 1, 3, padding=SAME, dilation=2), (1, 1, 10), (1, 1, 8)),
        (nn.Conv2dConfig((1, 1), (3, 3), padding=PaddingConfig2d.Same(), stride=(2, 3)), (1, 1, 5, 7), (1, 1, 3, 3)),
        (nn.Conv3dConfig((1, 1), (3, 3, 3), padding=FLAT), (1, 1, 4, 4, 4), (1, 1, 2, 4, 6)),
        (nn.Conv3dConfig((1, 1), (3, 3, 3), padding=SAME3D, stride=(2, 2, 2)), (1, 1, 4, 4, 4), (1, 1, 2, 2, 2)),
        (nn.ConvTranspose1dConfig((1, 1), 3, stride=2, padding=1, padding_out=1), (1, 1, 4), (1, 1, 8)),
        (nn.MaxPool1dConfig(2, stride=2, padding=ONE, ceil_mode=True), (1, 1, 5), (1, 1, 3)),
        (nn.MaxPool1dConfig(2, stride=3, padding=ONE, ceil_mode=True, dilation=2), (1, 1, 5), (1, 1, 2)),
        (nn.MaxPool1dConfig(2, stride=1, padding=SAME), (1, 1, 5), (1, 1, 5)),
    ],
    ids=str,
)  # fmt: skip
def test_padding_stride_and_dilation_make_the_size(
    module: Any, shape: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert module.init()(Tensor.zeros(shape)).shape == expected


@pytest.mark.parametrize(
    ("size", "padding", "expected"),
    [
        (3, (1, 1), [[5, 11], [23, 29]]),
        (2, (0, 0), [[0, 0, 1], [0, 4, 6], [4, 12, 9]]),
    ],
)
def test_conv_transpose2d_of_counted_values(size: int, padding: tuple[int, int], expected: list[Any]) -> None:
    conv = counted(nn.ConvTranspose2dConfig((1, 1), (size, size), padding=padding).init())
    assert_is(conv(arange(1, 1, 2, 2)), [[expected]])


def test_a_deformed_convolution_without_offsets_is_a_convolution() -> None:
    deformed = counted(nn.DeformConv2dConfig((2, 3), (3, 3), padding=PaddingConfig2d.Same()).init())
    plain = counted(nn.Conv2dConfig((2, 3), (3, 3), padding=PaddingConfig2d.Same()).init())
    x = arange(1, 2, 4, 5)
    assert_is(deformed(x, Tensor.zeros((1, 18, 4, 5))), plain(x).tolist())
    half = deformed(x, Tensor.zeros((1, 18, 4, 5)), Tensor.full((1, 9, 4, 5), 0.5))
    bias = deformed.bias.val().reshape(1, 3, 1, 1)
    assert_is(half, ((plain(x) - bias) * 0.5 + bias).tolist())


# ---- pools

AVG2D: list[tuple[dict[str, Any], list[Any]]] = [
    ({"strides": (1, 1)}, [[7, 8, 9, 10], [13, 14, 15, 16], [19, 20, 21, 22], [25, 26, 27, 28]]),
    ({"strides": (2, 2)}, [[7, 9], [19, 21]]),
    ({"strides": (2, 2), "ceil_mode": True, "count_include_pad": False},
     [[7, 9, 10.5], [19, 21, 22.5], [28, 30, 31.5]]),
    ({"strides": (2, 2), "padding": PaddingConfig2d.Explicit(1, 1, 1, 1), "ceil_mode": True},
     [[1.5556, 3.3333, 4.6667, 2.6667], [8.3333, 14, 16, 8.5], [16.3333, 26, 28, 14.5], [10.1667, 16, 17, 8.75]]),
]  # fmt: skip


@pytest.mark.parametrize(("options", "expected"), AVG2D)
def test_avg_pool2d_of_counted_values(options: dict[str, Any], expected: list[Any]) -> None:
    pool = nn.AvgPool2dConfig((3, 3), **options).init()
    assert_is(pool(arange(1, 1, 6, 6)), [[expected]])


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        (True, [[1.1667, 3, 4.3333, 2.5], [3.25, 7.5, 9.5, 5.25], [6.25, 13.5, 15.5, 8.25],
                [5.1667, 11, 12.3333, 6.5]]),
        (False, [[3.5, 4.5, 6.5, 7.5], [6.5, 7.5, 9.5, 10.5], [12.5, 13.5, 15.5, 16.5],
                 [15.5, 16.5, 18.5, 19.5]]),
    ],
)  # fmt: skip
def test_avg_pool2d_counts_padding_or_not(include: bool, expected: list[Any]) -> None:
    padding = PaddingConfig2d.Explicit(1, 2, 1, 2)
    pool = nn.AvgPool2dConfig((3, 4), strides=(1, 2), padding=padding, count_include_pad=include).init()
    assert_is(pool(arange(1, 1, 4, 6)), [[expected]])


@pytest.mark.parametrize(
    ("padding", "include", "expected"),
    [
        (PaddingConfig1d.Same(), False, [1.5, 3.5, 5]),
        (PaddingConfig1d.Explicit(0, 1), True, [1.5, 3.5, 2.5]),
    ],
    ids=str,
)
def test_avg_pool1d_with_more_padding_at_the_end(
    padding: PaddingConfig1d, include: bool, expected: list[float]
) -> None:
    pool = nn.AvgPool1dConfig(2, stride=2, padding=padding, count_include_pad=include).init()
    assert_is(pool(Tensor([[[1.0, 2.0, 3.0, 4.0, 5.0]]])), [[expected]])


def test_the_gradient_of_an_average_reaches_what_was_counted() -> None:
    padding = PaddingConfig1d.Explicit(1, 0)
    pool = nn.AvgPool1dConfig(2, padding=padding, count_include_pad=False, ceil_mode=True).init()
    x = Tensor([[[2.0, 4.0, 6.0, 8.0]]]).require_grad()
    y = pool(x)
    assert_is(y, [[[2, 5, 8]]])
    gradient = x.grad(y.backward())
    assert gradient is not None
    assert_is(gradient, [[[1, 0.5, 0.5, 1]]])


def test_avg_pool2d_without_the_padding_of_two_sides() -> None:
    padding = PaddingConfig2d.Explicit(0, 0, 1, 1)
    pool = nn.AvgPool2dConfig((2, 2), padding=padding, count_include_pad=False).init()
    assert_is(pool(arange(1, 1, 5, 5, start=1)), [[[[4, 6, 7.5], [14, 16, 17.5], [21.5, 23.5, 25]]]])


@pytest.mark.parametrize(("include", "last"), [(True, 1), (False, 4)])
def test_a_window_of_padding_alone_gives_zero(include: bool, last: float) -> None:
    padding = PaddingConfig2d.Explicit(2, 0, 0, 1)
    config = nn.AvgPool2dConfig((2, 2), strides=(1, 1), padding=padding, count_include_pad=include)
    assert_is(config.init()(Tensor([[[[4.0]]]])), [[[[0], [last]]]])


def test_adaptive_avg_pool2d_of_counted_values() -> None:
    pool = nn.AdaptiveAvgPool2dConfig((3, 2)).init()
    first, second = [[5, 8], [15.5, 18.5], [26, 29]], [[40, 43], [50.5, 53.5], [61, 64]]
    assert_is(pool(arange(1, 2, 5, 7)), [[first, second]])


def test_the_largest_of_a_window_is_never_padding_and_nan_wins() -> None:
    pool = nn.MaxPool1dConfig(2, stride=1, padding=ONE).init()
    assert_is(pool(Tensor([[[-3.0, -1.0, -2.0]]])), [[[-3, -1, -1, -2]]])
    assert_is(pool(Tensor([[[0.0, float("nan"), 1.0]]])), [[[0, np.nan, np.nan, 1]]])


# ---- normalisations

BATCH = [
    [[0.9601, 0.7277], [0.6272, 0.9034], [0.9378, 0.7230]],
    [[0.6356, 0.1362], [0.0249, 0.9509], [0.6600, 0.5945]],
]
IMAGES = [
    [[[0.9601, 0.7277], [0.1270, 0.5441]], [[0.6272, 0.9034], [0.4066, 0.7179]], [[0.9378, 0.7230], [0.3544, 0.9591]]],
    [[[0.6356, 0.1362], [0.1333, 0.7287]], [[0.0249, 0.9509], [0.3791, 0.2481]], [[0.6600, 0.5945], [0.5424, 0.4767]]],
]  # fmt: skip


def test_batch_norm_trains_and_then_infers() -> None:
    norm = nn.BatchNormConfig(3).init()
    trained = [[[1.1483, 0.37521], [0.0016272, 0.75067], [1.6204, -0.045168]],
               [[0.068856, -1.5923], [-1.6318, 0.87949], [-0.53368, -1.0416]]]  # fmt: skip
    assert_is(norm(Tensor(BATCH)), trained)
    inferred = [[[0.942493, 0.698744], [0.590630, 0.879594], [0.910857, 0.684648]],
                [[0.602146, 0.078358], [-0.039505, 0.929289], [0.618302, 0.549323]]]  # fmt: skip
    assert_is(norm.valid()(Tensor(BATCH).inner()), inferred, 2e-6)


def test_batch_norm_of_images_gathers_statistics() -> None:
    norm = nn.BatchNormConfig(3).init()
    y = norm(Tensor(IMAGES))
    assert_is(norm.running_mean.value_sync(), [0.049909, 0.053226, 0.065599], 2e-6)
    assert_is(norm.running_var.value_sync(), [0.909276, 0.909174, 0.903945], 2e-6)
    gradient = norm.beta.val().grad(y.backward())
    assert gradient is not None
    assert_is(gradient, [8, 8, 8])


@pytest.mark.parametrize(("momentum", "mean", "variance"), [(0.0, 0.0, 1.0), (1.0, 4.0, 4.0)])
def test_momentum_0_keeps_and_1_replaces_the_running_values(
    momentum: float, mean: float, variance: float
) -> None:
    norm = nn.BatchNormConfig(1, momentum=momentum).init()
    for batch in ([[1.0], [3.0]], [[2.0], [6.0]]):
        assert_is(norm(Tensor(batch)), [[-1], [1]])
    assert (norm.running_mean.value_sync().item(), norm.running_var.value_sync().item()) == (mean, variance)


def test_layer_norm_of_ten_values() -> None:
    x = Tensor([[-0.6897, -2.7106, 2.2222, -1.0330, -0.8933, 1.1765, 0.0601, 1.5252, -0.3630, 0.6728]])
    narrow = [[-0.4990, -1.9680, 1.6178, -0.7486, -0.6470, 0.8576, 0.0461, 1.1111, -0.2614, 0.4915]]
    assert_is(nn.LayerNormConfig(10).init()(x), narrow, 1e-4)
    wide = [[-0.4863, -1.9180, 1.5766, -0.7295, -0.6305, 0.8358, 0.0449, 1.0828, -0.2548, 0.4790]]
    assert_is(nn.LayerNormConfig(10, epsilon=0.1).init()(x), wide, 1e-4)


def test_rms_norm_of_counted_rows() -> None:
    expected = [[0, 0.7746, 1.5492], [0.7348, 0.9798, 1.2247], [0.8514, 0.9933, 1.1352]]
    assert_is(nn.RmsNormConfig(3).init()(arange(3, 3)), expected, 1e-4)


def test_local_response_norm_looks_at_the_channel_above() -> None:
    norm = nn.LocalResponseNormConfig(2, alpha=1.0, beta=1.0, k=0.0).init()
    assert_is(norm(Tensor([[[1.0], [2.0], [4.0]]])), [[[0.4], [0.2], [0.5]]])


# ---- sizes, windows, distances


def test_interpolate1d_takes_the_element_before() -> None:
    values = [1.541, -0.2934, -2.1788, 0.5684, -1.0845, -1.3986]
    found = nn.Interpolate1dConfig(output_size=9).init()(Tensor([[values]]))
    assert_is(found, [[[values[i * 6 // 9] for i in range(9)]]])


def test_interpolate2d_with_corners_aligned() -> None:
    config = nn.Interpolate2dConfig(output_size=(4, 6), mode=InterpolateMode.Linear)
    found = config.init()(arange(1, 1, 45, 14)).numpy()[0, 0]
    np.testing.assert_allclose(found[0], [0, 2.6, 5.2, 7.8, 10.4, 13], rtol=1e-5)
    np.testing.assert_allclose([found[3, 0], found[3, 5]], [616, 629], rtol=1e-6)


def test_fold4d_adds_where_windows_overlap() -> None:
    fold = nn.Fold4dConfig((3, 3), (2, 2)).init()
    assert_is(fold(arange(1, 4, 4, start=1)), [[[[1, 7, 6], [12, 34, 22], [11, 27, 16]]]])
    unfold = nn.Unfold4dConfig((2, 2)).init()
    again = nn.Fold4dConfig((4, 4), (2, 2)).init()(unfold(arange(1, 1, 4, 4, start=1)))
    assert_is(again, [[[[1, 4, 6, 4], [10, 24, 28, 16], [18, 40, 44, 24], [13, 28, 30, 16]]]])


def test_pixel_shuffle_and_back() -> None:
    x = arange(1, 4, 2, 2)
    y = nn.PixelShuffleConfig(2).init()(x)
    assert_is(y, [[[[0, 4, 1, 5], [8, 12, 9, 13], [2, 6, 3, 7], [10, 14, 11, 15]]]])
    assert_is(nn.PixelUnshuffleConfig(2).init()(y), x.tolist())


def test_cosine_similarity_of_rows() -> None:
    a, b = Tensor([[1.0, 0.0], [1.0, 1.0]]), Tensor([[1.0, 0.0], [0.0, 1.0]])
    assert_is(nn.CosineSimilarityConfig().init()(a, b), [1, 0.707107])
    assert_is(nn.CosineSimilarityConfig(eps=0.5).init()(Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]])), [0])


def test_pairwise_distance_adds_epsilon_to_the_difference() -> None:
    a, b = Tensor([[1.0, 2.0], [0.0, 0.0]]), Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert_is(nn.PairwiseDistanceConfig(eps=0.5).init()(a, b), [0.5**0.5, (2.5**2 + 3.5**2) ** 0.5])
    assert_is(nn.PairwiseDistanceConfig(p=1.0, eps=0.0).init()(a, b), [0, 7])


# ---- what they are


WINDOWS = "stride: [1, 1], kernel_size: [5, 5], dilation: [1, 1]"
SHOWN: list[tuple[Any, str]] = [
    (nn.LinearConfig(3, 5), "Linear {d_input: 3, d_output: 5, bias: true, params: 20}"),
    (
        nn.Conv1dConfig(5, 5, 5),
        "Conv1d {ch_in: 5, ch_out: 5, stride: 1, kernel_size: 5, dilation: 1, groups: 1, padding: Valid, params: 130}",
    ),
    (
        nn.Conv2dConfig((5, 1), (5, 5)),
        f"Conv2d {{ch_in: 5, ch_out: 1, {WINDOWS}, groups: 1, padding: Valid, params: 126}}",
    ),
    (
        nn.ConvTranspose1dConfig((5, 2), 5),
        "ConvTranspose1d {channels: [5, 2], stride: 1, kernel_size: 5, dilation: 1, groups: 1, padding: 0, "
        "padding_out: 0, params: 52}",
    ),
    (
        nn.DeformConv2dConfig((5, 1), (5, 5)),
        f"DeformConv2d {{{WINDOWS}, weight_groups: 1, offset_groups: 1, padding: Valid, params: 126}}",
    ),
    (nn.BatchNormConfig(3), "BatchNorm {num_features: 3, momentum: 0.1, epsilon: 0.00001, params: 12}"),
    (nn.GaussianNoiseConfig(0.5), "GaussianNoise {std: 0.5}"),
    (
        nn.Interpolate2dConfig(scale_factor=(1.5, 2.0)),
        "Interpolate2d {mode: Nearest, output_size: None, scale_factor: [0..2] {0: 1.5, 1: 2}}",
    ),
    (
        nn.Interpolate1dConfig(scale_factor=1.7),
        "Interpolate1d {mode: Nearest, output_size: None, scale_factor: 1.7}",
    ),
]


@pytest.mark.parametrize(("config", "text"), SHOWN, ids=[text.split()[0] for _, text in SHOWN])
def test_a_module_is_shown_as_in_burn(config: Any, text: str) -> None:
    module: Module = config.init()
    assert str(module) == text


def test_an_identity_gives_back_its_input() -> None:
    x = Tensor([1.0, 2.0])
    assert nn.Identity()(x) is x and str(nn.Identity()) == "Identity"
