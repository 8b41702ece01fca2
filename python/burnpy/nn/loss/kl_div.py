"""Kullback-Leibler divergence."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.nn.loss.checks import require_rank
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor
from burnpy.tensor.data import SMALLEST_NORMAL

__all__ = ["KLDivLoss", "KLDivLossConfig"]


class KLDivLossConfig(Config):
    """What a :class:`KLDivLoss` is made of: whether targets are logarithms of probabilities.

    Example:
        >>> print(KLDivLossConfig(log_target=True).init())
        KLDivLoss {log_target: true}

    Source: Burn ``nn::loss::KLDivLossConfig``.
    """

    _: KW_ONLY
    log_target: bool = False

    def init(self) -> KLDivLoss:
        """The loss."""
        return KLDivLoss(self)


class KLDivLoss(Module):
    """Divergence ``t (ln t - x)`` of predicted log-probabilities ``x`` from probabilities ``t``.

    With ``log_target``, ``e^t (t - x)``. ``Auto`` is ``BatchMean``, the sum by the size of axis 0.

    Shapes:
        predictions: ``(N, ...)``, logarithms of probabilities
        targets: equal, or sizes of 1 that broadcast
        returns: ``(1,)``

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> from burnpy import Tensor
        >>> x, t = Tensor([[-1.0, -0.5], [-2.0, -0.25]]), Tensor([[0.5, 0.5], [1.0, 0.0]])
        >>> round(KLDivLossConfig().init()(x, t).item(), 4)
        1.0284

    Source: Burn ``nn::loss::KLDivLoss``.
    """

    def __init__(self, config: KLDivLossConfig) -> None:
        self.log_target = config.log_target

    def forward(
        self, predictions: Tensor, targets: Tensor, reduction: Reduction | str = Reduction.Auto
    ) -> Tensor:
        """The reduced loss."""
        values = self.forward_no_reduction(predictions, targets)
        return reduced(values, reduction, auto=Reduction.BatchMean, batches=True)

    def forward_no_reduction(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The loss of each element."""
        require_rank("kl_div", "targets", targets, predictions)
        if self.log_target:
            return targets.exp() * (targets - predictions)
        # From the smallest normal number on, so that a target of 0 gives 0, not 0 · ∞.
        logs = targets.clamp(SMALLEST_NORMAL[targets.dtype], 1.0).log()
        return targets * (logs - predictions)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("log_target", self.log_target)]
