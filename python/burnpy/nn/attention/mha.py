"""Multi-head attention."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from burnpy.config import KW_ONLY, Config, NonNegative, Positive
from burnpy.module import Initializer, Module
from burnpy.nn.attention.scores import (
    Scores,
    check_input,
    check_mask,
    check_probability,
    merge_heads,
    split_heads,
)
from burnpy.nn.cache import TensorCache
from burnpy.nn.dropout import DropoutConfig
from burnpy.nn.expect import expect
from burnpy.nn.linear import KAIMING, Linear, LinearConfig
from burnpy.tensor import Device, ShapeError, Tensor

__all__ = ["MhaCache", "MhaInput", "MhaOutput", "MultiHeadAttention", "MultiHeadAttentionConfig"]


class MultiHeadAttentionConfig(Config):
    """What a :class:`MultiHeadAttention` is made of.

    Raises:
        ConfigError: ``n_heads`` is 0, or ``dropout`` does not lie in [0, 1).

    Example:
        >>> MultiHeadAttentionConfig(8, 2).with_dropout(0.0).init().num_params()
        288

    Source: Burn ``nn::attention::MultiHeadAttentionConfig``.
    """

    d_model: NonNegative
    n_heads: Positive
    _: KW_ONLY
    dropout: float = 0.1
    min_float: float = -1e4
    quiet_softmax: bool = False
    initializer: Initializer = KAIMING
    key_bias: bool = True
    value_bias: bool = True
    query_bias: bool = True
    output_bias: bool = True

    def validate(self) -> None:
        """Check what the types do not say."""
        check_probability(self, "dropout")

    def init(self, device: Device | None = None) -> MultiHeadAttention:
        """The module, its parameters drawn when they are first needed."""
        return MultiHeadAttention(self, device)


@dataclass(frozen=True)
class MhaInput:
    """What attention looks at: ``MhaInput(query, key, value)``, or :meth:`self_attn` of one tensor.

    Masks are true where a key is not to be looked at.

    Example:
        >>> x = Tensor.zeros((1, 2, 4))
        >>> MhaInput.self_attn(x).mask_pad(Tensor([[False, True]])).pad.tolist()
        [[False, True]]

    Source: Burn ``nn::attention::MhaInput``.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    pad: Tensor | None = field(default=None, kw_only=True)
    attn: Tensor | None = field(default=None, kw_only=True)

    @classmethod
    def self_attn(cls, x: Tensor) -> MhaInput:
        """Attention of a sequence, ``(batch, seq, d_model)``, to itself."""
        return cls(x, x, x)

    def mask_pad(self, mask: Tensor) -> MhaInput:
        """The same with keys hidden from all queries, ``(batch, keys)``: padding."""
        return replace(self, pad=mask)

    def mask_attn(self, mask: Tensor) -> MhaInput:
        """The same with keys hidden from some queries, ``(batch, queries, keys)``: the future."""
        return replace(self, attn=mask)

    def check(self, d_model: int, known_queries: int = 0, known_keys: int = 0) -> None:
        """Raise unless the shapes fit each other; masks are of all queries and keys, those before these included."""
        for name in ("query", "key", "value"):
            check_input(name, getattr(self, name), d_model)
        batch, queries, _ = self.query.shape
        keys = known_keys + self.key.shape[1]
        if self.key.shape != self.value.shape or self.key.shape[0] != batch:
            raise ShapeError(
                f"key and value must have the batch of query {self.query.shape} and one length, "
                f"got {self.key.shape} and {self.value.shape}"
            )
        if self.pad is not None:
            check_mask("mask_pad", self.pad, (batch, keys))
        if self.attn is not None:
            check_mask("mask_attn", self.attn, (batch, known_queries + queries, keys))

    def mask(self, start: int = 0) -> Tensor | None:
        """Both masks as one, for the queries from ``start`` on: ``(batch, 1, queries or 1, keys)``."""
        pad = None if self.pad is None else self.pad.unsqueeze_dims([1, 2])
        if self.attn is None:
            return pad
        attn = self.attn.narrow(1, start, self.attn.shape[1] - start) if start else self.attn
        attn = attn.unsqueeze_dim(1)
        return attn if pad is None else attn.bool_or(pad)

    def after(self, queries: int, keys: int) -> MhaInput:
        """The queries and keys behind the first ones; masks as they are."""
        return replace(
            self,
            query=_after(self.query, queries),
            key=_after(self.key, keys),
            value=_after(self.value, keys),
        )


def _after(x: Tensor, count: int) -> Tensor:
    return x.narrow(1, count, x.shape[1] - count) if count else x


class MhaOutput(NamedTuple):
    """What attention returns."""

    weights: Tensor
    """How much each query looks at each key, ``(batch, heads, queries, keys)``."""
    context: Tensor
    """What the queries found, ``(batch, queries, d_model)``."""


class MhaCache:
    """What :meth:`MultiHeadAttention.forward_cache` keeps from step to step.

    Source: Burn ``nn::attention::MhaCache``.
    """

    def __init__(self, *, is_cross: bool = False) -> None:
        self.is_cross = is_cross
        self.query, self.key, self.value, self.output = (TensorCache() for _ in range(4))

    @classmethod
    def autoregressive(cls) -> MhaCache:
        """For self attention: queries, keys and values grow with the sequence."""
        return cls()

    @classmethod
    def autoregressive_cross_attention(cls) -> MhaCache:
        """For cross attention: queries grow, keys and values are computed once."""
        return cls(is_cross=True)

    def known_keys(self) -> int:
        """How many keys the next step finds here that its input does not bring."""
        return 0 if self.is_cross else self.key.len()


class MultiHeadAttention(Module):
    """Attention in ``n_heads`` subspaces at once: ``softmax(q @ kᵀ / √d_k) @ v`` of each, put together again.

    :meth:`forward` gives the weights too; :meth:`forward_context` the context alone, in less time and memory.

    Shapes:
        query: ``(batch, queries, d_model)``
        key, value: ``(batch, keys, d_model)``
        returns: weights ``(batch, n_heads, queries, keys)``, context ``(batch, queries, d_model)``

    Raises:
        ShapeError: shapes do not fit, or ``d_model`` is no multiple of ``n_heads``.
        DTypeError: a mask is not of booleans.

    Example:
        >>> attention = MultiHeadAttentionConfig(8, 2).init()
        >>> weights, context = attention.forward(MhaInput.self_attn(Tensor.ones((1, 3, 8))))
        >>> weights.shape, context.shape
        ((1, 2, 3, 3), (1, 3, 8))

    Source: Burn ``nn::attention::MultiHeadAttention``; Vaswani et al. 2017. Scores of masked keys become ``min_float``,
    dropout acts on the weights.
    """

    def __init__(self, config: MultiHeadAttentionConfig, device: Device | None = None) -> None:
        d_model = config.d_model
        linear = LinearConfig(d_model, d_model, initializer=config.initializer)
        self.query: Linear = linear.with_bias(config.query_bias).init(device)
        self.key: Linear = linear.with_bias(config.key_bias).init(device)
        self.value: Linear = linear.with_bias(config.value_bias).init(device)
        self.output: Linear = linear.with_bias(config.output_bias).init(device)
        self.dropout = DropoutConfig(config.dropout).init()
        self.d_model = d_model
        self.n_heads = config.n_heads
        self.d_k = d_model // config.n_heads
        self.min_float = config.min_float
        self.quiet_softmax = config.quiet_softmax

    def forward(self, input: MhaInput) -> MhaOutput:
        """Weights and context."""
        return self.forward_cache(input, MhaCache.autoregressive())

    def forward_context(self, input: MhaInput) -> Tensor:
        """The context alone; the weights are never stored, unless dropout or the quiet softmax asks for them."""
        return self.forward_newest(input, MhaCache.autoregressive())

    def forward_cache(self, input: MhaInput, cache: MhaCache) -> MhaOutput:
        """:meth:`forward` of a sequence that grows: each call takes the whole, and computes what is new.

        For inference, and masked so that earlier places do not see later ones; then the result is that of one
        :meth:`forward`.
        """
        self._check(input)
        query = cache.query.forward_autoregressive(input.query, 1, self.query.forward)
        key, value = self._keys(input.after(0, cache.known_keys()), cache)
        weights = self._scores().weights(self._heads(query), self._heads(key), input.mask())
        known = cache.output.len()
        newest = weights.narrow(2, known, weights.shape[2] - known) if known else weights
        context = self.output.forward(merge_heads(newest.matmul(self._heads(value))))
        return MhaOutput(weights, cache.output.append(context, 1))

    def forward_cache_context(self, input: MhaInput, cache: MhaCache) -> Tensor:
        """The context of :meth:`forward_cache`: only the new queries attend."""
        self._check(input)
        newest = self.forward_newest(input.after(cache.output.len(), cache.known_keys()), cache)
        return cache.output.append(newest, 1)

    def forward_newest(self, input: MhaInput, cache: MhaCache) -> Tensor:
        """The context of the newest places alone: ``input`` has these, with the masks of the whole sequence."""
        known = cache.key.len() if input.attn is None else input.attn.shape[1] - input.query.shape[1]
        self._check(input, known, cache.known_keys())
        key, value = self._keys(input, cache)
        query = self._heads(self.query.forward(input.query))
        found = self._scores().context(query, self._heads(key), self._heads(value), input.mask(known))
        return self.output.forward(merge_heads(found))

    def _keys(self, input: MhaInput, cache: MhaCache) -> tuple[Tensor, Tensor]:
        if cache.is_cross:
            key = cache.key.forward_full(input.key, self.key.forward)
            return key, cache.value.forward_full(input.value, self.value.forward)
        key = cache.key.append(self.key.forward(input.key), 1)
        return key, cache.value.append(self.value.forward(input.value), 1)

    def _heads(self, x: Tensor) -> Tensor:
        return split_heads(x, self.n_heads)

    def _scores(self) -> Scores:
        return Scores(self.min_float, self.quiet_softmax, self.dropout)

    def _check(self, input: MhaInput, known_queries: int = 0, known_keys: int = 0) -> None:
        expect(self, input, MhaInput)
        if self.d_k * self.n_heads != self.d_model:
            raise ShapeError(f"d_model {self.d_model} is no multiple of n_heads {self.n_heads}")
        input.check(self.d_model, known_queries, known_keys)

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes and settings."""
        return [
            ("d_model", self.d_model),
            ("n_heads", self.n_heads),
            ("d_k", self.d_k),
            ("dropout", self.dropout.prob),
            ("min_float", self.min_float),
            ("quiet_softmax", self.quiet_softmax),
        ]
