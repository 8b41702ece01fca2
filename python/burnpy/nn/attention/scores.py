"""What all kinds of attention share: heads, masks, scores, weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

from burnpy.config import Config
from burnpy.errors import ConfigError
from burnpy.nn.dropout import Dropout
from burnpy.tensor import DTypeError, ShapeError, Tensor
from burnpy.tensor import module as ops

__all__ = ["Scores", "check_input", "check_mask", "check_probability", "merge_heads", "split_heads"]


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """``(batch, seq, heads · width)`` as ``(batch, heads, seq, width)``."""
    batch, seq, features = x.shape
    return x.reshape(batch, seq, n_heads, features // n_heads).swap_dims(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """``(batch, heads, seq, width)`` as ``(batch, seq, heads · width)``."""
    batch, heads, seq, width = x.shape
    return x.swap_dims(1, 2).reshape(batch, seq, heads * width)


@dataclass(frozen=True)
class Scores:
    """How queries and keys become weights.

    Attributes:
        min_float: what scores of masked keys become.
        quiet: whether the softmax has a 1 more in its denominator, so that a query may look nowhere.
        dropout: what is dropped of the weights in training.
    """

    min_float: float
    quiet: bool
    dropout: Dropout

    def weights(self, query: Tensor, key: Tensor, mask: Tensor | None) -> Tensor:
        """Weights ``(batch, heads, queries, keys)`` of keys, masked where ``mask`` is true.

        A row that is masked everywhere gets equal weights.
        """
        scores = (query * (1 / math.sqrt(query.shape[-1]))).matmul(key.transpose())
        if mask is not None:
            scores = scores.mask_fill(mask, self.min_float)
        weights = scores.quiet_softmax(3) if self.quiet else scores.softmax(3)
        return self.dropout.forward(weights)

    def context(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """``weights @ value``, in one operation that never stores the weights where it gives the same."""
        if self._can_fuse(query, mask):
            return ops.attention(query, key, value, mask)
        return self.weights(query, key, mask).matmul(value)

    def _can_fuse(self, query: Tensor, mask: Tensor | None) -> bool:
        drops = self.dropout.prob > 0 and self.dropout.training.is_enabled() and query.is_autodiff()
        if self.quiet or drops:
            return False
        # The fused operation takes a masked key out altogether. A fill of -1e4 does the same, as its exponential is 0,
        # except in rows that are masked everywhere.
        return mask is None or (self.min_float <= -1e4 and not bool(mask.all_dim(3).any()))


def check_input(name: str, x: Tensor, features: int) -> None:
    """Raise unless ``x`` is ``(batch, seq, features)``."""
    if len(x.shape) != 3 or x.shape[2] != features:
        raise ShapeError(f"{name} must have shape (batch, seq, {features}), got {x.shape}")


def check_mask(name: str, mask: Tensor, shape: tuple[int, ...]) -> None:
    """Raise unless ``mask`` is of booleans and has this shape."""
    if mask.kind != "bool":
        raise DTypeError(f"{name} must be of booleans, got {mask.dtype}")
    if mask.shape != shape:
        raise ShapeError(f"{name} must have shape {shape}, got {mask.shape}")


def check_probability(config: Config, name: str) -> None:
    """Raise unless a field of a configuration is a probability below 1."""
    value = getattr(config, name)
    if not 0 <= value < 1:
        raise ConfigError(
            f"{type(config).__name__}: {name} must lie in [0, 1), got {value}", kind="InvalidValue"
        )
