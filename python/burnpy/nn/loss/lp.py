"""Powers of the absolute error."""

from __future__ import annotations

from collections.abc import Sequence

from burnpy.config import Config
from burnpy.errors import ConfigError
from burnpy.module import Module
from burnpy.nn.loss.checks import require_rank
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor

__all__ = ["LpLoss", "LpLossConfig"]


class LpLossConfig(Config):
    """What an :class:`LpLoss` is made of: the power ``p``, above 0.

    Example:
        >>> LpLossConfig.l1().p
        1.0

    Source: Burn ``nn::loss::LpLossConfig``.
    """

    p: float

    def validate(self) -> None:
        """Refuse a power that is not above 0."""
        if not self.p > 0:
            raise ConfigError(f"LpLossConfig: p must be greater than 0, got {self.p}")

    @classmethod
    def l1(cls) -> LpLoss:
        """The loss of absolute errors."""
        return cls(1.0).init()

    @classmethod
    def l2(cls) -> LpLoss:
        """The loss of squared errors."""
        return cls(2.0).init()

    def init(self) -> LpLoss:
        """The loss."""
        return LpLoss(self)


class LpLoss(Module):
    """Power of the error, ``|predictions - targets|^p``, without a root.

    Shapes:
        predictions, targets: equal, or sizes of 1 that broadcast
        returns: ``(1,)``

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> from burnpy import Tensor
        >>> LpLossConfig(3.0).init()(Tensor([0.0, 1.0]), Tensor([2.0, 2.0]), "sum").tolist()
        [9.0]

    Source: Burn ``nn::loss::LpLoss``.
    """

    def __init__(self, config: LpLossConfig) -> None:
        self.p = config.p

    def forward(
        self, predictions: Tensor, targets: Tensor, reduction: Reduction | str = Reduction.Auto
    ) -> Tensor:
        """The reduced loss."""
        return reduced(self.forward_no_reduction(predictions, targets), reduction)

    def forward_no_reduction(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The loss of each element."""
        require_rank("lp", "targets", targets, predictions)
        error = predictions - targets
        if self.p == 2:
            return error.square()
        return error.abs() if self.p == 1 else error.abs().powf_scalar(self.p)

    def forward_reduce_dims(self, predictions: Tensor, targets: Tensor, dims: Sequence[int]) -> Tensor:
        """The mean over some axes, which stay with size 1."""
        return self.forward_no_reduction(predictions, targets).mean_dims(dims)
