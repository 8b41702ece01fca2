"""ThresholdedRelu."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["ThresholdedRelu", "ThresholdedReluConfig"]


class ThresholdedReluConfig(Config):
    """What a :class:`ThresholdedRelu` is made of: what a number must be above.

    Example:
        >>> print(ThresholdedReluConfig(alpha=2.0).init())
        ThresholdedRelu {alpha: 2}

    Source: Burn ``nn::ThresholdedReluConfig``.
    """

    _: KW_ONLY
    alpha: float = 1.0

    def init(self) -> ThresholdedRelu:
        """The module."""
        return ThresholdedRelu(self)


class ThresholdedRelu(Module):
    """``x`` where ``x > alpha``, else 0, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> ThresholdedReluConfig(alpha=2.0).init()(Tensor([1.0, 3.0])).tolist()
        [0.0, 3.0]

    Source: Burn ``nn::ThresholdedRelu``.
    """

    def __init__(self, config: ThresholdedReluConfig) -> None:
        self.alpha = config.alpha

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.thresholded_relu(x, self.alpha)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("alpha", self.alpha)]
