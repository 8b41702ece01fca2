"""LeakyRelu."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["LeakyRelu", "LeakyReluConfig"]


class LeakyReluConfig(Config):
    """What a :class:`LeakyRelu` is made of: the slope of negative numbers.

    Example:
        >>> print(LeakyReluConfig(negative_slope=0.2).init())
        LeakyRelu {negative_slope: 0.2}

    Source: Burn ``nn::LeakyReluConfig``.
    """

    _: KW_ONLY
    negative_slope: float = 0.01

    def init(self) -> LeakyRelu:
        """The module."""
        return LeakyRelu(self)


class LeakyRelu(Module):
    """``x`` where ``x >= 0``, else ``negative_slope x``, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> LeakyReluConfig(negative_slope=0.2).init()(Tensor([-10.0, 2.0])).tolist()
        [-2.0, 2.0]

    Source: Burn ``nn::LeakyRelu``; Maas et al. 2013.
    """

    def __init__(self, config: LeakyReluConfig) -> None:
        self.negative_slope = config.negative_slope

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.leaky_relu(x, self.negative_slope)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("negative_slope", self.negative_slope)]
