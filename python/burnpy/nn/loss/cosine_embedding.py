"""Angles between pairs of vectors."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.errors import ShapeError
from burnpy.module import Module
from burnpy.nn.loss.checks import require_shape
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor

__all__ = ["CosineEmbeddingLoss", "CosineEmbeddingLossConfig"]


class CosineEmbeddingLossConfig(Config):
    """What a :class:`CosineEmbeddingLoss` is made of.

    Attributes:
        margin: the cosine up to which pairs that differ cost nothing.
        reduction: how ``forward`` reduces.

    Example:
        >>> print(CosineEmbeddingLossConfig(margin=0.25).init())
        CosineEmbeddingLoss {margin: 0.25, reduction: Mean}

    Source: Burn ``nn::loss::CosineEmbeddingLossConfig``.
    """

    _: KW_ONLY
    margin: float = 0.0
    reduction: Reduction = Reduction.Mean

    def init(self) -> CosineEmbeddingLoss:
        """The loss."""
        return CosineEmbeddingLoss(self)


class CosineEmbeddingLoss(Module):
    """``1 - cos`` of pairs that belong together (target 1), ``max(0, cos - margin)`` of those that do not (-1).

    A pair with any other target costs nothing. The reduction is that of the config.

    Shapes:
        x1, x2: ``(N, D)``
        targets: ``(N,)``, 1 or -1
        returns: ``(1,)``

    Raises:
        ShapeError: the shapes do not fit.

    Example:
        >>> from burnpy import Tensor
        >>> x = Tensor([[1.0, 0.0], [1.0, 0.0]])
        >>> CosineEmbeddingLossConfig(reduction=Reduction.Sum).init()(x, x, Tensor([1, -1])).tolist()
        [1.0]

    Source: Burn ``nn::loss::CosineEmbeddingLoss``.
    """

    def __init__(self, config: CosineEmbeddingLossConfig) -> None:
        self.margin = config.margin
        self.reduction = config.reduction

    def forward(self, x1: Tensor, x2: Tensor, targets: Tensor) -> Tensor:
        """The reduced loss."""
        return reduced(self.forward_no_reduction(x1, x2, targets), self.reduction)

    def forward_no_reduction(self, x1: Tensor, x2: Tensor, targets: Tensor) -> Tensor:
        """The loss of each pair."""
        if x1.ndim != 2:
            raise ShapeError(f"cosine_embedding: x1 must have two axes, got shape {list(x1.shape)}")
        require_shape("cosine_embedding", "x2", x2, x1.shape)
        require_shape("cosine_embedding", "targets", targets, x1.shape[:1])
        cosine = x1.cosine_similarity(x2, dim=1).squeeze_dim(1)
        zeros = cosine.zeros_like()
        apart = zeros.mask_where(targets.equal(-1), (cosine - self.margin).relu())
        return apart.mask_where(targets.equal(1), 1 - cosine)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("margin", self.margin), ("reduction", self.reduction.value)]
