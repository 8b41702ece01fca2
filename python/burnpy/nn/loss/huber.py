"""Squared error that large errors do not dominate."""

from __future__ import annotations

from burnpy.config import Config
from burnpy.errors import ConfigError
from burnpy.module import Module
from burnpy.nn.loss.checks import require_rank
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor

__all__ = ["HuberLoss", "HuberLossConfig"]


class HuberLossConfig(Config):
    """What a :class:`HuberLoss` is made of: ``delta``, the error above which it is linear, at least 0.

    Example:
        >>> print(HuberLossConfig(0.5).init())
        HuberLoss {delta: 0.5, lin_bias: 0.125}

    Source: Burn ``nn::loss::HuberLossConfig``.
    """

    delta: float

    def validate(self) -> None:
        """Refuse a ``delta`` below 0, and NaN."""
        if not self.delta >= 0:
            raise ConfigError(f"HuberLossConfig: delta must be at least 0, got {self.delta}")

    def init(self) -> HuberLoss:
        """The loss."""
        return HuberLoss(self)


class HuberLoss(Module):
    """With ``r = targets - predictions``: ``r² / 2`` where ``|r| <= delta``, else ``delta |r| - delta² / 2``.

    Shapes:
        predictions, targets: equal, or sizes of 1 that broadcast
        returns: ``(1,)``

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> from burnpy import Tensor
        >>> HuberLossConfig(0.5).init()(Tensor([-2.0, 0.5]), Tensor([0.0, 0.0]), "sum").tolist()
        [1.0]

    Source: Burn ``nn::loss::HuberLoss``; Huber 1964.
    """

    def __init__(self, config: HuberLossConfig) -> None:
        self.delta = config.delta
        self.lin_bias = 0.5 * config.delta**2

    def forward(
        self, predictions: Tensor, targets: Tensor, reduction: Reduction | str = Reduction.Auto
    ) -> Tensor:
        """The reduced loss."""
        return reduced(self.forward_no_reduction(predictions, targets), reduction)

    def forward_no_reduction(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The loss of each element."""
        require_rank("huber", "targets", targets, predictions)
        return self.forward_residuals(targets - predictions)

    def forward_residuals(self, residuals: Tensor) -> Tensor:
        """The loss of each element, from the errors."""
        distance = residuals.abs()
        linear = distance * self.delta - self.lin_bias
        return linear.mask_where(distance.lower_equal(self.delta), residuals.square() * 0.5)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("delta", self.delta), ("lin_bias", self.lin_bias)]
