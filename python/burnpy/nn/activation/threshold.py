"""Threshold."""

from __future__ import annotations

from burnpy.config import Config
from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Threshold", "ThresholdConfig"]


class ThresholdConfig(Config):
    """What a :class:`Threshold` is made of: what a number must be above, and what it is else.

    Example:
        >>> print(ThresholdConfig(0.5, -1.0).init())
        Threshold {threshold: 0.5, value: -1}

    Source: Burn ``nn::ThresholdConfig``.
    """

    threshold: float
    value: float

    def init(self) -> Threshold:
        """The module."""
        return Threshold(self)


class Threshold(Module):
    """``x`` where ``x > threshold``, else ``value``, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> ThresholdConfig(0.5, -1.0).init()(Tensor([0.25, 0.75])).tolist()
        [-1.0, 0.75]

    Source: Burn ``nn::Threshold``.
    """

    def __init__(self, config: ThresholdConfig) -> None:
        self.threshold = config.threshold
        self.value = config.value

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.threshold(x, self.threshold, self.value)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("threshold", self.threshold), ("value", self.value)]
