"""The cosine of the angle between vectors."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.tensor import Tensor

__all__ = ["CosineSimilarity", "CosineSimilarityConfig"]


class CosineSimilarityConfig(Config):
    """What a :class:`CosineSimilarity` is made of.

    Example:
        >>> print(CosineSimilarityConfig().init())
        CosineSimilarity {dim: 1, eps: 0.00000001}

    Source: Burn ``nn::CosineSimilarityConfig``.
    """

    _: KW_ONLY
    dim: int = 1
    eps: float = 1e-8

    def init(self) -> CosineSimilarity:
        """The module."""
        return CosineSimilarity(self)


class CosineSimilarity(Module):
    """``sum(a * b) / (max(|a|, eps) * max(|b|, eps))`` along an axis.

    Shapes:
        a, b: the same, vectors along axis ``dim``
        returns: the same without axis ``dim``

    Raises:
        ShapeError: the shapes do not fit, or there is no axis ``dim``.

    Example:
        >>> CosineSimilarityConfig().init()(Tensor([[1.0, 0.0]]), Tensor([[-2.0, 0.0]])).tolist()
        [-1.0]

    Source: Burn ``nn::CosineSimilarity``.
    """

    def __init__(self, config: CosineSimilarityConfig) -> None:
        self.dim = config.dim
        self.eps = config.eps

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """The cosines."""
        return a.cosine_similarity(b, self.dim, self.eps).squeeze_dim(self.dim)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("dim", self.dim), ("eps", self.eps)]
