"""The mean of each of a number of windows, along one axis."""

from __future__ import annotations

from burnpy.config import Config, Positive
from burnpy.module import Module
from burnpy.tensor import Tensor
from burnpy.tensor import module as ops

__all__ = ["AdaptiveAvgPool1d", "AdaptiveAvgPool1dConfig"]


class AdaptiveAvgPool1dConfig(Config):
    """What an :class:`AdaptiveAvgPool1d` is made of.

    Raises:
        ConfigError: a size is below 1.

    Example:
        >>> print(AdaptiveAvgPool1dConfig(3).init())
        AdaptiveAvgPool1d {output_size: 3}

    Source: Burn ``nn::pool::AdaptiveAvgPool1dConfig``.
    """

    output_size: Positive

    def init(self) -> AdaptiveAvgPool1d:
        """The module."""
        return AdaptiveAvgPool1d(self)


class AdaptiveAvgPool1d(Module):
    """The mean of each of ``output_size`` windows, along one axis.

    Window ``i`` goes from ``i * l // l_out`` to before ``ceil((i + 1) * l / l_out)``; windows may overlap.

    Shapes:
        x: ``(batch, channels, l)``
        returns: ``(batch, channels, l_out)``, those of ``output_size``

    Raises:
        ShapeError: ``x`` has another number of axes.

    Example:
        >>> AdaptiveAvgPool1dConfig(3).init()(Tensor.zeros((1, 2, 8))).shape
        (1, 2, 3)

    Source: Burn ``nn::pool::AdaptiveAvgPool1d``.
    """

    def __init__(self, config: AdaptiveAvgPool1dConfig) -> None:
        self.output_size = config.output_size

    def forward(self, x: Tensor) -> Tensor:
        """The means."""
        return ops.adaptive_avg_pool1d(x, self.output_size)

    def display_content(self) -> list[tuple[str, object]]:
        """The size of the output."""
        return [("output_size", self.output_size)]
