"""The distance between vectors."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.tensor import Tensor

__all__ = ["PairwiseDistance", "PairwiseDistanceConfig"]


class PairwiseDistanceConfig(Config):
    """What a :class:`PairwiseDistance` is made of.

    Example:
        >>> print(PairwiseDistanceConfig().init())
        PairwiseDistance {p: 2, eps: 0.000001}

    Source: Burn ``nn::PairwiseDistanceConfig``.
    """

    _: KW_ONLY
    p: float = 2.0
    eps: float = 1e-6

    def init(self) -> PairwiseDistance:
        """The module."""
        return PairwiseDistance(self)


class PairwiseDistance(Module):
    """The ``p``-norm of ``a - b + eps`` over the last axis; ``eps`` is added to the difference, as in PyTorch.

    Shapes:
        a, b: ``(..., features)``
        returns: ``(...)``

    Raises:
        ShapeError: the shapes do not fit.

    Example:
        >>> PairwiseDistanceConfig().init()(Tensor([[3.0, 0.0]]), Tensor([[0.0, 4.0]])).round_to(3).tolist()
        [5.0]

    Source: Burn ``nn::PairwiseDistance``.
    """

    def __init__(self, config: PairwiseDistanceConfig) -> None:
        self.p = config.p
        self.eps = config.eps

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """The distances."""
        return (a - b + self.eps).vector_norm(self.p, -1).squeeze_dim(-1)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("p", self.p), ("eps", self.eps)]
