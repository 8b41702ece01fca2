"""Vectors of tokens."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative
from burnpy.module import Initializer, Module
from burnpy.tensor import Device, ShapeError, Tensor
from burnpy.tensor import module as ops

__all__ = ["Embedding", "EmbeddingConfig"]


class EmbeddingConfig(Config):
    """What an :class:`Embedding` is made of.

    Example:
        >>> print(EmbeddingConfig(100, 10).init())
        Embedding {n_embedding: 100, d_model: 10, params: 1000}

    Source: Burn ``nn::EmbeddingConfig``.
    """

    n_embedding: NonNegative
    d_model: NonNegative
    _: KW_ONLY
    initializer: Initializer = Initializer.Normal(0.0, 1.0)

    def init(self, device: Device | None = None) -> Embedding:
        """The module, its table drawn when it is first needed."""
        return Embedding(self, device)


class Embedding(Module):
    """A table of vectors, one for each token.

    Shapes:
        tokens: ``(batch, seq)``, integers in ``[0, n_embedding)``
        returns: ``(batch, seq, d_model)``

    Raises:
        TensorIndexError: a token is outside of the table.
        ShapeError: ``tokens`` does not have two axes.
        DTypeError: ``tokens`` are no integers.

    Example:
        >>> EmbeddingConfig(10, 4).init().forward(Tensor([[1, 2, 9]])).shape
        (1, 3, 4)

    Source: Burn ``nn::Embedding``.
    """

    def __init__(self, config: EmbeddingConfig, device: Device | None = None) -> None:
        self.weight = config.initializer.init((config.n_embedding, config.d_model), device)

    def forward(self, tokens: Tensor) -> Tensor:
        """The vectors of the tokens."""
        if tokens.ndim != 2:
            raise ShapeError(f"Embedding: tokens have two axes (batch, seq), got shape {list(tokens.shape)}")
        return ops.embedding(self.weight.val(), tokens)

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes of the table."""
        n_embedding, d_model = self.weight.lazy_shape()
        return [("n_embedding", n_embedding), ("d_model", d_model)]
