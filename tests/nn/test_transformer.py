"""Transformers and positions: caches, Burn's own vectors, and what is refused."""

from collections.abc import Callable

import numpy as np
import pytest

from burnpy import Device, Tensor, nn
from burnpy.errors import ConfigError, ShapeError
from burnpy.nn import (
    PositionalEncodingConfig,
    PositionWiseFeedForwardConfig,
    RotaryEncodingConfig,
    TransformerDecoderConfig,
    TransformerDecoderInput,
    TransformerEncoderConfig,
    TransformerEncoderInput,
    generate_autoregressive_mask,
)
from burnpy.tensor import Distribution


def _random(*shape: int) -> Tensor:
    return Tensor.random(shape, Distribution.normal(0.0, 1.0), Device.cpu())


def test_they_are_shown_and_counted_as_in_burn() -> None:
    assert str(TransformerEncoderConfig(2, 4, 2, 3).init()) == (
        "TransformerEncoder {d_model: 2, d_ff: 4, n_heads: 2, n_layers: 3, dropout: 0.1, norm_first: false, "
        "quiet_softmax: false, params: 162}"
    )
    assert TransformerDecoderConfig(2, 4, 2, 3).init().num_params() == 246


@pytest.mark.parametrize("norm_first", [False, True])
def test_an_encoder_step_by_step_is_one_pass_with_a_mask(norm_first: bool) -> None:
    encoder = TransformerEncoderConfig(8, 16, 2, 2, dropout=0.0, norm_first=norm_first).init()
    x, cache = _random(2, 5, 8), encoder.new_autoregressive_cache()
    whole = encoder.forward(TransformerEncoderInput(x).mask_attn(generate_autoregressive_mask(2, 5))).numpy()
    for length in (2, 3, 4, 5):
        input = TransformerEncoderInput(x.slice_dim(1, slice(0, length)))
        input = input.mask_attn(generate_autoregressive_mask(2, length))
        found = encoder.forward_autoregressive_inference(input, cache)
        np.testing.assert_allclose(found.numpy(), whole[:, :length], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_decoder_step_by_step_is_one_pass_with_a_mask(norm_first: bool) -> None:
    decoder = TransformerDecoderConfig(8, 16, 2, 2, dropout=0.0, norm_first=norm_first).init()
    target, memory = _random(2, 5, 8), _random(2, 3, 8)
    pad, cache = Tensor([[False, False, True]] * 2), decoder.new_autoregressive_cache()

    def input(length: int) -> TransformerDecoderInput:
        part = TransformerDecoderInput(target.slice_dim(1, slice(0, length)), memory).memory_mask_pad(pad)
        return part.target_mask_attn(generate_autoregressive_mask(2, length))

    whole = decoder.forward(input(5)).numpy()
    for length in (1, 2, 3, 4, 5):
        found = decoder.forward_autoregressive_inference(input(length), cache)
        np.testing.assert_allclose(found.numpy(), whole[:, :length], rtol=1e-4, atol=1e-5)


def test_places_that_are_hidden_from_the_memory_by_query() -> None:
    decoder = TransformerDecoderConfig(8, 16, 2, 1, dropout=0.0).init()
    target, memory = _random(1, 2, 8), _random(1, 3, 8)
    hidden = Tensor([[[False, True, True], [False, False, False]]])
    input = TransformerDecoderInput(target, memory)
    found = decoder.forward(input.memory_mask_attn(hidden)).numpy()
    alone = decoder.forward(TransformerDecoderInput(target, memory[:, :1])).numpy()
    everything = decoder.forward(input).numpy()
    np.testing.assert_allclose(found[:, 0], alone[:, 0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[:, 1], everything[:, 1], rtol=1e-4, atol=1e-5)


def test_a_cache_of_another_depth_is_refused() -> None:
    one, two = (TransformerEncoderConfig(8, 16, 2, n).init() for n in (1, 2))
    with pytest.raises(ValueError, match="argument 2"):
        two.forward_autoregressive_inference(
            TransformerEncoderInput(_random(1, 1, 8)), one.new_autoregressive_cache()
        )


def test_an_activation_with_parameters_is_part_of_the_feed_forward() -> None:
    activation = nn.ActivationConfig.PRelu(nn.PReluConfig())
    feed = PositionWiseFeedForwardConfig(4, 8, activation=activation).init()
    assert [path for path, _ in feed.named_params()][-1] == "activation.PRelu.alpha"


def test_positions_are_added() -> None:
    encoding = PositionalEncodingConfig(6).init()
    found = encoding.forward(Tensor.zeros((2, 3, 6)))
    row = [0.84147, 0.54030, 0.04640, 0.99892, 0.00215, 1.0]
    np.testing.assert_allclose(found.numpy()[:, 1], [row, row], atol=1e-5)
    assert found.dtype == "f32" and encoding.forward(Tensor.zeros((1, 1, 6), dtype="f64")).dtype == "f64"
    assert not list(encoding.named_params())


def test_features_are_rotated() -> None:
    rotary = RotaryEncodingConfig(10, 4).init()
    x = Tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    found = rotary.forward(x)
    expected = [[1.0, 2.0, 3.0, 4.0], [-2.3473, 7.4492, 6.9197, 8.0696]]
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-4)
    np.testing.assert_array_equal(rotary.apply(x.unsqueeze(4), 0).numpy()[0, 0], found.numpy())


def test_a_table_can_be_shifted_and_reset() -> None:
    rotary, x = RotaryEncodingConfig(10, 4).init(), _random(3, 2, 4)
    long = RotaryEncodingConfig(40, 4).init()
    before = rotary.forward(x).numpy()
    copy = rotary.clone()
    for start in (5, 25):
        rotary.shift(start)
        np.testing.assert_allclose(rotary.apply(x, 2).numpy(), long.apply(x, start + 2).numpy(), atol=1e-6)
    with pytest.raises(ValueError, match="start must be over the current start 25, got 25"):
        rotary.shift(25)
    np.testing.assert_array_equal(copy.forward(x).numpy(), before)
    rotary.reset()
    np.testing.assert_array_equal(rotary.forward(x).numpy(), before)
    assert rotary.freq_complex.shape == (10, 4, 2) and rotary.theta.shape == (2,)


def test_frequencies_can_be_scaled() -> None:
    config, x = RotaryEncodingConfig(10, 4), _random(4, 4)
    half = config.init_with_frequency_scaling(lambda rates: rates * 0.5)
    found, full = half.forward(x).numpy(), config.init().freq_complex.numpy()
    np.testing.assert_allclose(half.freq_complex.numpy()[2::2], full[1:5], atol=1e-6)
    assert found.shape == (4, 4)
    with pytest.raises(ShapeError, match=r"frequencies must have shape \(2,\), got \(1,\)"):
        config.init_with_frequency_scaling(lambda rates: rates[:1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PositionalEncodingConfig(5), "d_model must be even, got 5"),
        (
            lambda: PositionalEncodingConfig(4, max_timescale=100),
            "max_timescale must be at least .* 5000, got 100",
        ),
        (lambda: RotaryEncodingConfig(10, 3), "d_model must be even, got 3"),
        (lambda: RotaryEncodingConfig(10, 4, theta=0.0), "theta must be positive, got 0"),
        (lambda: RotaryEncodingConfig(10, 4, theta=float("nan")), "theta must be positive"),
        (lambda: TransformerEncoderConfig(8, 8, 0, 1), "n_heads must be at least 1"),
        (lambda: TransformerEncoderConfig(8, 8, 2, 1, dropout=1.0), "TransformerEncoderConfig: dropout"),
        (lambda: TransformerDecoderConfig(8, 8, 2, 1, dropout=-1.0), "TransformerDecoderConfig: dropout"),
        (lambda: PositionWiseFeedForwardConfig(8, 8, dropout=2.0), "PositionWiseFeedForwardConfig: dropout"),
    ],
)
def test_odd_configurations_are_refused_by_name(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


ENCODER = TransformerEncoderConfig(8, 16, 2, 1).init()
DECODER = TransformerDecoderConfig(8, 16, 2, 1).init()
X = Tensor.zeros((2, 3, 8))


@pytest.mark.parametrize(
    "call",
    [
        lambda: PositionalEncodingConfig(4, max_sequence_size=2).init().forward(Tensor.zeros((1, 3, 4))),
        lambda: PositionalEncodingConfig(4).init().forward(Tensor.zeros((1, 3, 6))),
        lambda: RotaryEncodingConfig(4, 4).init().forward(Tensor.zeros((5, 4))),
        lambda: RotaryEncodingConfig(4, 4).init().apply(Tensor.zeros((2, 4)), 3),
        lambda: RotaryEncodingConfig(4, 4).init().apply(Tensor.zeros((2, 4)), -1),
        lambda: RotaryEncodingConfig(4, 4).init().forward(Tensor.zeros((4,))),
        lambda: PositionWiseFeedForwardConfig(4, 8).init().forward(Tensor.zeros((1, 3, 5))),
        lambda: ENCODER.forward(TransformerEncoderInput(Tensor.zeros((2, 3, 7)))),
        lambda: ENCODER.forward(TransformerEncoderInput(X).mask_pad(Tensor.zeros((2, 4)).bool())),
        lambda: ENCODER.forward(TransformerEncoderInput(X).mask_attn(Tensor.zeros((2, 4, 4)).bool())),
        lambda: DECODER.forward(TransformerDecoderInput(X, Tensor.zeros((1, 3, 8)))),
        lambda: DECODER.forward(TransformerDecoderInput(X, X).target_mask_pad(Tensor.zeros((2, 4)).bool())),
        lambda: DECODER.forward(
            TransformerDecoderInput(X, X).memory_mask_attn(Tensor.zeros((2, 3, 4)).bool())
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ShapeError):
        call()
