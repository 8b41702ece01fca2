"""Attention: masks, dropout, caches, and what is refused."""

from collections.abc import Callable

import numpy as np
import pytest

from burnpy import Device, Tensor, nn
from burnpy.errors import ConfigError, DTypeError, ShapeError
from burnpy.nn import (
    CrossAttentionCache,
    CrossAttentionConfig,
    MhaCache,
    MhaInput,
    MultiHeadAttention,
    MultiHeadAttentionConfig,
    SeqLengthOption,
    TensorCache,
    generate_autoregressive_mask,
    generate_padding_mask,
)
from burnpy.tensor import Distribution

PLAIN = Device.cpu()


def _random(*shape: int) -> Tensor:
    return Tensor.random(shape, Distribution.normal(0.0, 1.0), PLAIN)


def _attention(dropout: float = 0.0, quiet: bool = False) -> MultiHeadAttention:
    return MultiHeadAttentionConfig(8, 2, dropout=dropout, quiet_softmax=quiet).init()


def test_it_is_shown_as_in_burn() -> None:
    assert str(MultiHeadAttentionConfig(2, 4).init()) == (
        "MultiHeadAttention {d_model: 2, n_heads: 4, d_k: 0, dropout: 0.1, min_float: -10000, "
        "quiet_softmax: false, params: 24}"
    )


def test_a_hidden_key_gets_no_weight() -> None:
    pad = Tensor([[False, False, True], [False, True, True]])
    attn = generate_autoregressive_mask(2, 3)
    weights = _attention().forward(MhaInput.self_attn(_random(2, 3, 8)).mask_pad(pad).mask_attn(attn)).weights
    hidden = np.broadcast_to((pad.numpy()[:, None, :] | attn.numpy())[:, None], weights.shape)
    assert (weights.numpy()[hidden] == 0).all() and (weights.numpy()[~hidden] > 0).all()


def test_a_query_that_sees_nothing_looks_everywhere_alike() -> None:
    x, pad = _random(1, 3, 8), Tensor([[True, True, True]])
    attention = _attention().valid()
    weights, context = attention.forward(MhaInput.self_attn(x).mask_pad(pad))
    np.testing.assert_allclose(weights.numpy(), 1 / 3, rtol=1e-6)
    alone = attention.forward_context(MhaInput.self_attn(x).mask_pad(pad))
    np.testing.assert_allclose(alone.numpy(), context.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_the_context_alone_is_the_same(masked: bool, quiet: bool) -> None:
    input = MhaInput.self_attn(_random(2, 5, 8))
    if masked:
        input = input.mask_attn(generate_autoregressive_mask(2, 5))
    attention = _attention(quiet=quiet)
    np.testing.assert_allclose(
        attention.forward_context(input).numpy(),
        attention.forward(input).context.numpy(),
        rtol=1e-5,
        atol=1e-6,
    )


def test_dropout_acts_on_the_weights_and_scales_them() -> None:
    attention = MultiHeadAttentionConfig(4, 1, dropout=0.5, initializer=nn.Initializer.Zeros()).init()
    x = Tensor.ones((8, 2, 4))
    found = set(attention.forward(MhaInput.self_attn(x)).weights.numpy().ravel().tolist())
    assert found == {0.0, 1.0}
    assert set(attention.valid().forward(MhaInput.self_attn(x)).weights.numpy().ravel().tolist()) == {0.5}


@pytest.mark.parametrize("alone", [False, True])
def test_decoding_step_by_step_is_one_pass_with_a_mask(alone: bool) -> None:
    attention, x = _attention(), _random(2, 5, 8)
    pad = Tensor([[False] * 5, [False, False, False, True, True]])
    whole = attention.forward(
        MhaInput.self_attn(x).mask_pad(pad).mask_attn(generate_autoregressive_mask(2, 5))
    )
    cache = MhaCache.autoregressive()
    for length in (2, 3, 4, 5):
        input = MhaInput.self_attn(x.slice_dim(1, slice(0, length))).mask_pad(
            pad.slice_dim(1, slice(0, length))
        )
        input = input.mask_attn(generate_autoregressive_mask(2, length))
        if alone:
            context = attention.forward_cache_context(input, cache)
        else:
            weights, context = attention.forward_cache(input, cache)
            assert weights.shape == (2, 2, length, length)
        np.testing.assert_allclose(
            context.numpy(), whole.context.numpy()[:, :length], rtol=1e-5, atol=1e-6, err_msg=str(length)
        )


@pytest.mark.parametrize("alone", [False, True])
def test_keys_of_another_sequence_are_computed_once(alone: bool) -> None:
    attention, x, memory = _attention(), _random(2, 4, 8), _random(2, 3, 8)
    whole = attention.forward(MhaInput(x, memory, memory)).context.numpy()
    cache = MhaCache.autoregressive_cross_attention()
    for length in (1, 2, 3, 4):
        # After the first step the memory is not looked at: garbage changes nothing.
        given = memory if length == 1 else memory * float("nan")
        input = MhaInput(x.slice_dim(1, slice(0, length)), given, given)
        found = (
            attention.forward_cache_context(input, cache)
            if alone
            else attention.forward_cache(input, cache)[1]
        )
        np.testing.assert_allclose(found.numpy(), whole[:, :length], rtol=1e-5, atol=1e-6)


def test_a_cache_refuses_a_shorter_sequence() -> None:
    cache = TensorCache()
    cache.forward_autoregressive(_random(1, 3, 2), 1, lambda x: x)
    with pytest.raises(ShapeError, match="a sequence of 2 was given to a cache that holds 3"):
        cache.forward_autoregressive(_random(1, 2, 2), 1, lambda x: x)
    with pytest.raises(ShapeError):
        attention, kept = _attention(), MhaCache.autoregressive()
        attention.forward_cache(MhaInput.self_attn(_random(1, 3, 8)), kept)
        attention.forward_cache(MhaInput.self_attn(_random(1, 2, 8)), kept)


def test_heads_of_keys_serve_several_queries() -> None:
    attention = CrossAttentionConfig(8, 6, 4, 2, 3, dropout=0.0).init()
    query, context = _random(2, 5, 8), _random(2, 7, 6)
    mask = Tensor([[False] * 7, [False] * 4 + [True] * 3])
    found = attention.forward(query, context, mask).numpy()
    short = attention.forward(query[1:], context[1:, :4], None).numpy()
    np.testing.assert_allclose(found[1:], short, rtol=1e-5, atol=1e-6)
    cache = CrossAttentionCache()
    for end in (1, 3, 5):
        part = attention.forward_cache(query.slice_dim(1, slice(end - 1, end)), context, mask, cache)
        np.testing.assert_allclose(part.numpy(), found[:, end - 1 : end], rtol=1e-5, atol=1e-6)


def test_lists_are_filled_up_and_cut_off() -> None:
    lists = [[1, 2, 3], [4, 5, 6], [1, 2, 3, 4], [5, 6, 7, 8, 9, 1]]
    tokens, mask = generate_padding_mask(0, lists)
    assert tokens.tolist()[0] == [1, 2, 3, 0, 0, 0]
    assert mask.tolist() == [[False] * 3 + [True] * 3] * 2 + [[False] * 4 + [True] * 2, [False] * 6]
    assert generate_padding_mask(0, lists, 4).tensor.tolist()[3] == [5, 6, 7, 8]
    assert generate_padding_mask(0, lists, 100).tensor.shape == (4, 6)
    assert generate_padding_mask(0, lists, SeqLengthOption.Fixed(8)).tensor.shape == (4, 8)
    assert generate_padding_mask(0, lists, SeqLengthOption.Fixed(2)).tensor.shape == (4, 2)
    assert generate_padding_mask(0, [], None).tensor.shape == (0, 1)
    assert generate_padding_mask(0, lists, SeqLengthOption.NoMax()).mask.shape == (4, 6)


X = Tensor.zeros((2, 3, 8))
INPUT = MhaInput.self_attn(X)


@pytest.mark.parametrize(
    ("input", "error", "message"),
    [
        (MhaInput.self_attn(Tensor.zeros((2, 3, 7))), ShapeError, r"query must have shape \(batch, seq, 8\)"),
        (MhaInput.self_attn(Tensor.zeros((3, 8))), ShapeError, "query must have shape"),
        (MhaInput(X, Tensor.zeros((2, 4, 8)), X), ShapeError, "key and value must have"),
        (MhaInput(X, X[:1], X[:1]), ShapeError, "key and value must have the batch"),
        (INPUT.mask_pad(Tensor.zeros((2, 3))), DTypeError, "mask_pad must be of booleans, got f32"),
        (INPUT.mask_pad(Tensor.zeros((2, 4)).bool()), ShapeError, r"mask_pad must have shape \(2, 3\)"),
        (
            INPUT.mask_attn(Tensor.zeros((2, 3, 4)).bool()),
            ShapeError,
            r"mask_attn must have shape \(2, 3, 3\)",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_refused_by_name(
    input: MhaInput, error: type[Exception], message: str
) -> None:
    attention = _attention()
    for call in (attention.forward, attention.forward_context):
        with pytest.raises(error, match=message):
            call(input)


def test_heads_that_do_not_divide_are_refused_when_they_are_used() -> None:
    attention = MultiHeadAttentionConfig(2, 4).init()
    with pytest.raises(ShapeError, match="d_model 2 is no multiple of n_heads 4"):
        attention.forward(MhaInput.self_attn(Tensor.zeros((1, 1, 2))))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MultiHeadAttentionConfig(8, 0), "n_heads must be at least 1, got 0"),
        (lambda: MultiHeadAttentionConfig(8, 2, dropout=1.0), r"dropout must lie in \[0, 1\), got 1.0"),
        (lambda: MultiHeadAttentionConfig(-8, 2), "d_model must be at least 0"),
        (lambda: CrossAttentionConfig(8, 8, 3, 2, 4), "n_heads must be a multiple of n_heads_kv 2, got 3"),
        (lambda: CrossAttentionConfig(8, 8, 4, 0, 4), "n_heads_kv must be at least 1"),
        (lambda: CrossAttentionConfig(8, 8, 4, 2, 4, dropout=-0.1), "dropout must lie"),
    ],
)
def test_odd_configurations_are_refused_by_name(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize(
    ("query", "context", "mask", "message"),
    [
        ((2, 5, 7), (2, 7, 6), None, r"query must have shape \(batch, seq, 8\)"),
        ((2, 5, 8), (2, 7, 5), None, r"context must have shape \(batch, seq, 6\)"),
        ((2, 5, 8), (1, 7, 6), None, "query and context must have one batch, got 2 and 1"),
        ((2, 5, 8), (2, 7, 6), (2, 5), r"mask must have shape \(2, 7\)"),
    ],
)
def test_shapes_of_cross_attention_are_refused_by_name(
    query: tuple[int, ...], context: tuple[int, ...], mask: tuple[int, ...] | None, message: str
) -> None:
    attention = CrossAttentionConfig(8, 6, 4, 2, 3).init()
    given = None if mask is None else Tensor.zeros(mask).bool()
    with pytest.raises(ShapeError, match=message):
        attention.forward(Tensor.zeros(query), Tensor.zeros(context), given)


def test_an_odd_length_is_refused() -> None:
    with pytest.raises(TypeError, match=r"must be a SeqLengthOption, an integer or None, got 1\.5"):
        generate_padding_mask(0, [[1]], 1.5)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="value must be at least 0"):
        SeqLengthOption.Max(-1)
