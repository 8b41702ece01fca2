"""Negative log-likelihood of values with a predicted variance."""

from __future__ import annotations

import math

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.nn.loss.checks import require_range, require_rank
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor

__all__ = ["GaussianNLLLoss", "GaussianNLLLossConfig"]


class GaussianNLLLossConfig(Config):
    """What a :class:`GaussianNLLLoss` is made of.

    Attributes:
        eps: the smallest variance.
        full: whether the constant ``ln(2 π) / 2`` is added.

    Example:
        >>> print(GaussianNLLLossConfig(full=True).init())
        GaussianNLLLoss {eps: 0.000001, full: true}

    Source: Burn ``nn::loss::GaussianNLLLossConfig``.
    """

    _: KW_ONLY
    eps: float = 1e-6
    full: bool = False

    def init(self) -> GaussianNLLLoss:
        """The loss."""
        return GaussianNLLLoss(self)


class GaussianNLLLoss(Module):
    """``(ln v + (x - t)² / v) / 2`` with ``v = max(variance, eps)``, and ``ln(2 π) / 2`` more if ``full``.

    A variance below ``eps`` gets no gradient.

    Shapes:
        means, targets, variances: equal, or sizes of 1 that broadcast
        returns: ``(1,)``

    Raises:
        ShapeError: the shapes do not broadcast.
        ArgumentError: a variance is negative.

    Example:
        >>> from burnpy import Tensor
        >>> GaussianNLLLossConfig().init()(Tensor([1.0]), Tensor([2.0]), Tensor([1.0])).tolist()
        [0.5]

    Source: Burn ``nn::loss::GaussianNLLLoss``.
    """

    def __init__(self, config: GaussianNLLLossConfig) -> None:
        self.eps = config.eps
        self.full = config.full

    def forward(
        self,
        means: Tensor,
        targets: Tensor,
        variances: Tensor,
        reduction: Reduction | str = Reduction.Auto,
    ) -> Tensor:
        """The reduced loss."""
        return reduced(self.forward_no_reduction(means, targets, variances), reduction)

    def forward_no_reduction(self, means: Tensor, targets: Tensor, variances: Tensor) -> Tensor:
        """The loss of each element."""
        require_rank("gaussian_nll", "targets", targets, means)
        require_rank("gaussian_nll", "variances", variances, means)
        # Unlike Burn: checked, since a variance below 0 would be taken for eps.
        require_range("gaussian_nll", "variances", variances, 0)
        clamped = variances.clamp_min(self.eps)
        values = (clamped.log() + (means - targets).square() / clamped) * 0.5
        return values + 0.5 * math.log(2 * math.pi) if self.full else values

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("eps", self.eps), ("full", self.full)]
