"""Attention of a sequence to another one, with fewer heads for keys and values than for queries."""

from __future__ import annotations

import math

from burnpy.config import KW_ONLY, Config, NonNegative, Positive
from burnpy.errors import ConfigError
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
from burnpy.nn.linear import LinearConfig
from burnpy.tensor import Device, ShapeError, Tensor

__all__ = ["CrossAttention", "CrossAttentionCache", "CrossAttentionConfig"]


class CrossAttentionConfig(Config):
    """What a :class:`CrossAttention` is made of.

    Raises:
        ConfigError: ``n_heads`` is no multiple of ``n_heads_kv``, a number of heads or ``d_head`` is 0, or ``dropout``
            does not lie in [0, 1).

    Example:
        >>> CrossAttentionConfig(8, 6, 4, 2, 3).init().num_params()
        296

    Source: Burn ``nn::attention::CrossAttentionConfig``.
    """

    d_model: NonNegative
    d_context: NonNegative
    n_heads: Positive
    n_heads_kv: Positive
    d_head: Positive
    _: KW_ONLY
    dropout: float = 0.1
    min_float: float = -1e4
    quiet_softmax: bool = False

    def validate(self) -> None:
        """Check what the types do not say."""
        check_probability(self, "dropout")
        if self.n_heads % self.n_heads_kv:
            raise ConfigError(
                f"CrossAttentionConfig: n_heads must be a multiple of n_heads_kv {self.n_heads_kv}, "
                f"got {self.n_heads}"
            )

    def init(self, device: Device | None = None) -> CrossAttention:
        """The module, its parameters drawn when they are first needed."""
        return CrossAttention(self, device)


class CrossAttentionCache:
    """Keys and values of a context, computed once.

    Source: Burn ``nn::attention::CrossAttentionCache``.
    """

    def __init__(self) -> None:
        self.key, self.value = TensorCache(), TensorCache()


class CrossAttention(Module):
    """Queries from one sequence, keys and values from another; query head ``h`` uses the key head ``⌊h / n_rep⌋``.

    Shapes:
        query: ``(batch, queries, d_model)``
        context: ``(batch, keys, d_context)``
        mask: ``(batch, keys)``, true where a place of the context is not to be looked at
        returns: ``(batch, queries, d_model)``

    Raises:
        ShapeError: shapes do not fit.
        DTypeError: the mask is not of booleans.

    Example:
        >>> attention = CrossAttentionConfig(8, 6, 4, 2, 3).init()
        >>> attention.forward(Tensor.ones((1, 5, 8)), Tensor.ones((1, 2, 6))).shape
        (1, 5, 8)

    Source: Burn ``nn::attention::CrossAttention``; grouped queries after Ainslie et al. 2023.
    """

    def __init__(self, config: CrossAttentionConfig, device: Device | None = None) -> None:
        width, width_kv = config.n_heads * config.d_head, config.n_heads_kv * config.d_head
        initializer = Initializer.KaimingUniform(gain=1 / math.sqrt(config.d_head))

        def linear(d_input: int, d_output: int) -> LinearConfig:
            return LinearConfig(d_input, d_output, initializer=initializer)

        self.query = linear(config.d_model, width).init(device)
        self.key = linear(config.d_context, width_kv).init(device)
        self.value = linear(config.d_context, width_kv).init(device)
        self.output = linear(width, config.d_model).init(device)
        self.dropout = DropoutConfig(config.dropout).init()
        self.n_heads = config.n_heads
        self.n_heads_kv = config.n_heads_kv
        self.d_head = config.d_head
        self.scale = 1 / math.sqrt(config.d_head)
        self.min_float = config.min_float
        self.quiet_softmax = config.quiet_softmax

    def forward(self, query: Tensor, context: Tensor, mask: Tensor | None = None) -> Tensor:
        """What the queries find in the context."""
        return self.forward_cache(query, context, mask, CrossAttentionCache())

    def forward_cache(
        self, query: Tensor, context: Tensor, mask: Tensor | None, cache: CrossAttentionCache
    ) -> Tensor:
        """:meth:`forward` that takes keys and values from the cache, once they are there."""
        self._check(query, context, mask)
        key = cache.key.forward_full(context, lambda x: self._repeated(self.key.forward(x)))
        value = cache.value.forward_full(context, lambda x: self._repeated(self.value.forward(x)))
        heads = split_heads(self.query.forward(query), self.n_heads)
        scores = Scores(self.min_float, self.quiet_softmax, self.dropout)
        found = scores.context(heads, key, value, None if mask is None else mask.unsqueeze_dims([1, 2]))
        return self.output.forward(merge_heads(found))

    def _repeated(self, x: Tensor) -> Tensor:
        """Heads of keys or values, each as often as there are queries for it."""
        heads, times = split_heads(x, self.n_heads_kv), self.n_heads // self.n_heads_kv
        if times == 1:
            return heads
        batch, n, seq, width = heads.shape
        repeated = heads.unsqueeze_dim(2).expand(batch, n, times, seq, width)
        return repeated.reshape(batch, n * times, seq, width)

    def _check(self, query: Tensor, context: Tensor, mask: Tensor | None) -> None:
        check_input("query", query, self.query.weight.lazy_shape()[0])
        check_input("context", context, self.key.weight.lazy_shape()[0])
        if query.shape[0] != context.shape[0]:
            raise ShapeError(
                f"query and context must have one batch, got {query.shape[0]} and {context.shape[0]}"
            )
        if mask is not None:
            check_mask("mask", mask, context.shape[:2])
