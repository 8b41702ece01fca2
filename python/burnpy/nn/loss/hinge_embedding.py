"""Distances that should be small or large."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.nn.loss.checks import require_rank
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor

__all__ = ["HingeEmbeddingLoss", "HingeEmbeddingLossConfig"]


class HingeEmbeddingLossConfig(Config):
    """What a :class:`HingeEmbeddingLoss` is made of: the distance from which on pairs that differ cost nothing.

    Example:
        >>> print(HingeEmbeddingLossConfig(margin=1.5).init())
        HingeEmbeddingLoss {margin: 1.5}

    Source: Burn ``nn::loss::HingeEmbeddingLossConfig``.
    """

    _: KW_ONLY
    margin: float = 1.0

    def init(self) -> HingeEmbeddingLoss:
        """The loss."""
        return HingeEmbeddingLoss(self)


class HingeEmbeddingLoss(Module):
    """``x`` where the target is 1, else ``max(0, margin - x)``.

    Shapes:
        x, targets: equal
        returns: ``(1,)``

    Raises:
        ShapeError: the shapes do not fit.

    Example:
        >>> from burnpy import Tensor
        >>> HingeEmbeddingLossConfig().init()(Tensor([0.5, 0.5]), Tensor([1, -1]), "sum").tolist()
        [1.0]

    Source: Burn ``nn::loss::HingeEmbeddingLoss``.
    """

    def __init__(self, config: HingeEmbeddingLossConfig) -> None:
        self.margin = config.margin

    def forward(self, x: Tensor, targets: Tensor, reduction: Reduction | str = Reduction.Auto) -> Tensor:
        """The reduced loss."""
        return reduced(self.forward_no_reduction(x, targets), reduction)

    def forward_no_reduction(self, x: Tensor, targets: Tensor) -> Tensor:
        """The loss of each element."""
        require_rank("hinge_embedding", "targets", targets, x)
        return (self.margin - x).relu().mask_where(targets.equal(1), x)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("margin", self.margin)]
