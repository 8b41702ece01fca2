"""The mean of each of a number of windows, along two axes."""

from __future__ import annotations

from burnpy.config import Config, Positive
from burnpy.module import Module
from burnpy.tensor import Tensor
from burnpy.tensor import module as ops

__all__ = ["AdaptiveAvgPool2d", "AdaptiveAvgPool2dConfig"]


class AdaptiveAvgPool2dConfig(Config):
    """What an :class:`AdaptiveAvgPool2d` is made of.

    Raises:
        ConfigError: a size is below 1.

    Example:
        >>> print(AdaptiveAvgPool2dConfig((3, 2)).init())
        AdaptiveAvgPool2d {output_size: [3, 2]}

    Source: Burn ``nn::pool::AdaptiveAvgPool2dConfig``.
    """

    output_size: tuple[Positive, Positive]

    def init(self) -> AdaptiveAvgPool2d:
        """The module."""
        return AdaptiveAvgPool2d(self)


class AdaptiveAvgPool2d(Module):
    """The mean of each of ``output_size`` windows, along two axes.

    Window ``i`` goes from ``i * l // l_out`` to before ``ceil((i + 1) * l / l_out)``; windows may overlap.

    Shapes:
        x: ``(batch, channels, height, width)``
        returns: ``(batch, channels, height_out, width_out)``, those of ``output_size``

    Raises:
        ShapeError: ``x`` has another number of axes.

    Example:
        >>> AdaptiveAvgPool2dConfig((3, 2)).init()(Tensor.zeros((1, 2, 5, 7))).shape
        (1, 2, 3, 2)

    Source: Burn ``nn::pool::AdaptiveAvgPool2d``.
    """

    def __init__(self, config: AdaptiveAvgPool2dConfig) -> None:
        self.output_size = config.output_size

    def forward(self, x: Tensor) -> Tensor:
        """The means."""
        return ops.adaptive_avg_pool2d(x, self.output_size)

    def display_content(self) -> list[tuple[str, object]]:
        """The size of the output."""
        return [("output_size", self.output_size)]
