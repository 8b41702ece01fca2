"""Which of two should rank higher."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.errors import ConfigError
from burnpy.module import Module
from burnpy.nn.loss.checks import require_rank
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor

__all__ = ["MarginRankingLoss", "MarginRankingLossConfig"]


class MarginRankingLossConfig(Config):
    """What a :class:`MarginRankingLoss` is made of: how far apart the two should be, at least 0.

    Example:
        >>> print(MarginRankingLossConfig(margin=0.5).init())
        MarginRankingLoss {margin: 0.5}

    Source: Burn ``nn::loss::MarginRankingLossConfig``.
    """

    _: KW_ONLY
    margin: float = 0.0

    def validate(self) -> None:
        """Refuse a margin below 0, and NaN."""
        if not self.margin >= 0:
            raise ConfigError(f"MarginRankingLossConfig: margin must be at least 0, got {self.margin}")

    def init(self) -> MarginRankingLoss:
        """The loss."""
        return MarginRankingLoss(self)


class MarginRankingLoss(Module):
    """``max(0, -t (first - second) + margin)``: target 1 wants the first higher, -1 the second.

    Shapes:
        first, second, targets: equal, or sizes of 1 that broadcast
        returns: ``(1,)``

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> from burnpy import Tensor
        >>> MarginRankingLossConfig().init()(Tensor([1.0]), Tensor([3.0]), Tensor([1])).tolist()
        [2.0]

    Source: Burn ``nn::loss::MarginRankingLoss``.
    """

    def __init__(self, config: MarginRankingLossConfig) -> None:
        self.margin = config.margin

    def forward(
        self, first: Tensor, second: Tensor, targets: Tensor, reduction: Reduction | str = Reduction.Auto
    ) -> Tensor:
        """The reduced loss."""
        return reduced(self.forward_no_reduction(first, second, targets), reduction)

    def forward_no_reduction(self, first: Tensor, second: Tensor, targets: Tensor) -> Tensor:
        """The loss of each element."""
        require_rank("margin_ranking", "second", second, first)
        require_rank("margin_ranking", "targets", targets, first)
        signs = targets.cast(first.dtype) if targets.kind == "int" else targets
        return (signs * (second - first) + self.margin).relu()

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("margin", self.margin)]
