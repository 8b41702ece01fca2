"""Mean squared error."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.nn.loss.checks import require_rank
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor

__all__ = ["MseLoss"]


class MseLoss(Module):
    """Squared error ``(logits - targets)²``.

    Shapes:
        logits, targets: equal, or sizes of 1 that broadcast
        returns: ``(1,)``

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> from burnpy import Tensor
        >>> loss = MseLoss()
        >>> loss(Tensor([[1.0, 2.0]]), Tensor([[2.0, 4.0]])).tolist()
        [2.5]

    Source: Burn ``nn::loss::MseLoss``.
    """

    def forward(self, logits: Tensor, targets: Tensor, reduction: Reduction | str = Reduction.Auto) -> Tensor:
        """The reduced loss."""
        return reduced(self.forward_no_reduction(logits, targets), reduction)

    def forward_no_reduction(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The loss of each element."""
        require_rank("mse", "targets", targets, logits)
        return (logits - targets).square()
