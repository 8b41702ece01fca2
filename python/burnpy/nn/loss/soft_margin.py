"""Logistic loss of signs."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.nn.loss.checks import require_rank
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor
from burnpy.tensor.activation import softplus

__all__ = ["SoftMarginLoss"]


class SoftMarginLoss(Module):
    """``ln(1 + e^(-t x))`` of scores and signs 1 or -1, finite for large scores.

    Shapes:
        x, targets: equal, or sizes of 1 that broadcast
        returns: ``(1,)``

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> from burnpy import Tensor
        >>> SoftMarginLoss()(Tensor([-100.0, 100.0]), Tensor([1, 1])).tolist()
        [50.0]

    Source: Burn ``nn::loss::SoftMarginLoss``.
    """

    def forward(self, x: Tensor, targets: Tensor, reduction: Reduction | str = Reduction.Auto) -> Tensor:
        """The reduced loss."""
        return reduced(self.forward_no_reduction(x, targets), reduction)

    def forward_no_reduction(self, x: Tensor, targets: Tensor) -> Tensor:
        """The loss of each element."""
        require_rank("soft_margin", "targets", targets, x)
        signs = targets.cast(x.dtype) if targets.kind == "int" else targets
        return softplus(-(signs * x))
