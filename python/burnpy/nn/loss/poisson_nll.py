"""Negative log-likelihood of counts."""

from __future__ import annotations

import math

from burnpy.config import KW_ONLY, Config
from burnpy.errors import ConfigError
from burnpy.module import Module
from burnpy.nn.loss.checks import require_range, require_shape
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor

__all__ = ["PoissonNllLoss", "PoissonNllLossConfig"]


class PoissonNllLossConfig(Config):
    """What a :class:`PoissonNllLoss` is made of.

    Attributes:
        log_input: whether predictions are logarithms of rates, else rates.
        full: whether the approximation of ``ln t!`` is added.
        eps: what is added to a rate before its logarithm is taken, above 0.

    Example:
        >>> print(PoissonNllLossConfig().init())
        PoissonNllLoss {log_input: true, full: false, eps: 0.00000001}

    Source: Burn ``nn::loss::PoissonNllLossConfig``.
    """

    _: KW_ONLY
    log_input: bool = True
    full: bool = False
    eps: float = 1e-8

    def validate(self) -> None:
        """Refuse an ``eps`` that is not above 0."""
        if not self.eps > 0:
            raise ConfigError(f"PoissonNllLossConfig: eps must be greater than 0, got {self.eps}")

    def init(self) -> PoissonNllLoss:
        """The loss."""
        return PoissonNllLoss(self)


class PoissonNllLoss(Module):
    """``e^x - t x`` of log-rates ``x`` and counts ``t``; of rates, ``x - t ln(x + eps)``.

    ``full`` adds Stirling's ``t ln t - t + ln(2 π t) / 2`` where ``t > 1``.

    Shapes:
        predictions, targets: equal
        returns: ``(1,)``

    Raises:
        ShapeError: the shapes differ.
        ArgumentError: a target is negative, or a rate.

    Cost: reads the values once more, to check them.

    Example:
        >>> from burnpy import Tensor
        >>> PoissonNllLossConfig().init()(Tensor([0.0, 0.0]), Tensor([1.0, 2.0])).tolist()
        [1.0]

    Source: Burn ``nn::loss::PoissonNllLoss``.
    """

    def __init__(self, config: PoissonNllLossConfig) -> None:
        self.log_input = config.log_input
        self.full = config.full
        self.eps = config.eps

    def forward(
        self, predictions: Tensor, targets: Tensor, reduction: Reduction | str = Reduction.Auto
    ) -> Tensor:
        """The reduced loss."""
        return reduced(self.forward_no_reduction(predictions, targets), reduction)

    def forward_no_reduction(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The loss of each element."""
        require_shape("poisson_nll", "targets", targets, predictions.shape)
        require_range("poisson_nll", "targets", targets, 0)
        if self.log_input:
            values = predictions.exp() - targets * predictions
        else:
            require_range("poisson_nll", "predictions", predictions, 0)
            values = predictions - targets * (predictions + self.eps).log()
        return values + _stirling(targets) if self.full else values

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("log_input", self.log_input), ("full", self.full), ("eps", self.eps)]


def _stirling(targets: Tensor) -> Tensor:
    few = targets.lower_equal(1.0)
    counts = targets.mask_fill(few, 1.0)  # so that no gradient sees ln 0
    terms = counts * counts.log() - counts + (counts * (2 * math.pi)).log() * 0.5
    return terms.mask_fill(few, 0.0)
