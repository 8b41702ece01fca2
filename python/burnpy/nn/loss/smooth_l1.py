"""Absolute error, rounded at 0."""

from __future__ import annotations

from collections.abc import Sequence

from burnpy.config import KW_ONLY, Config
from burnpy.errors import ConfigError
from burnpy.module import Module
from burnpy.nn.loss.checks import require_rank
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor

__all__ = ["SmoothL1Loss", "SmoothL1LossConfig"]


class SmoothL1LossConfig(Config):
    """What a :class:`SmoothL1Loss` is made of: ``beta``, the error above which it is linear, above 0.

    Example:
        >>> SmoothL1LossConfig(beta=0.5).init().beta
        0.5

    Source: Burn ``nn::loss::SmoothL1LossConfig``.
    """

    _: KW_ONLY
    beta: float = 1.0

    def validate(self) -> None:
        """Refuse a ``beta`` that is not above 0."""
        if not self.beta > 0:
            raise ConfigError(f"SmoothL1LossConfig: beta must be greater than 0, got {self.beta}")

    def init(self) -> SmoothL1Loss:
        """The loss."""
        return SmoothL1Loss(self)


class SmoothL1Loss(Module):
    """With ``e = predictions - targets``: ``e² / (2 beta)`` where ``|e| < beta``, else ``|e| - beta / 2``.

    ``forward`` does not reduce.

    Shapes:
        predictions, targets: equal, or sizes of 1 that broadcast
        returns: as they broadcast; ``(1,)`` of :meth:`forward_with_reduction`

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> from burnpy import Tensor
        >>> SmoothL1LossConfig().init()(Tensor([0.5, 3.0]), Tensor([0.0, 0.0])).tolist()
        [0.125, 2.5]

    Source: Burn ``nn::loss::SmoothL1Loss``; Girshick 2015.
    """

    def __init__(self, config: SmoothL1LossConfig) -> None:
        self.beta = config.beta

    def forward(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The loss of each element."""
        require_rank("smooth_l1", "targets", targets, predictions)
        error = predictions - targets
        distance = error.abs()
        square = error.square() * (0.5 / self.beta)
        return (distance - 0.5 * self.beta).mask_where(distance.lower(self.beta), square)

    def forward_with_reduction(
        self, predictions: Tensor, targets: Tensor, reduction: Reduction | str = Reduction.Auto
    ) -> Tensor:
        """The reduced loss."""
        return reduced(self.forward(predictions, targets), reduction)

    def forward_reduce_dims(self, predictions: Tensor, targets: Tensor, dims: Sequence[int]) -> Tensor:
        """The mean over some axes, which stay with size 1."""
        return self.forward(predictions, targets).mean_dims(dims)
