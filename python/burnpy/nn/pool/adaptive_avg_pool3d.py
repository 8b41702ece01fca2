"""The mean of each of a number of windows, along three axes."""

from __future__ import annotations

from burnpy.config import Config, Positive
from burnpy.module import Module
from burnpy.tensor import Tensor
from burnpy.tensor import module as ops

__all__ = ["AdaptiveAvgPool3d", "AdaptiveAvgPool3dConfig"]


class AdaptiveAvgPool3dConfig(Config):
    """What an :class:`AdaptiveAvgPool3d` is made of.

    Raises:
        ConfigError: a size is below 1.

    Example:
        >>> print(AdaptiveAvgPool3dConfig((2, 3, 2)).init())
        AdaptiveAvgPool3d {output_size: [2, 3, 2]}

    Source: Burn ``nn::pool::AdaptiveAvgPool3dConfig``.
    """

    output_size: tuple[Positive, Positive, Positive]

    def init(self) -> AdaptiveAvgPool3d:
        """The module."""
        return AdaptiveAvgPool3d(self)


class AdaptiveAvgPool3d(Module):
    """The mean of each of ``output_size`` windows, along three axes.

    Window ``i`` goes from ``i * l // l_out`` to before ``ceil((i + 1) * l / l_out)``; windows may overlap.

    Shapes:
        x: ``(batch, channels, depth, height, width)``
        returns: ``(batch, channels, depth_out, height_out, width_out)``, those of ``output_size``

    Raises:
        ShapeError: ``x`` has another number of axes.

    Example:
        >>> AdaptiveAvgPool3dConfig((2, 3, 2)).init()(Tensor.zeros((1, 2, 4, 5, 7))).shape
        (1, 2, 2, 3, 2)

    Source: Burn ``nn::pool::AdaptiveAvgPool3d``.
    """

    def __init__(self, config: AdaptiveAvgPool3dConfig) -> None:
        self.output_size = config.output_size

    def forward(self, x: Tensor) -> Tensor:
        """The means."""
        return ops.adaptive_avg_pool3d(x, self.output_size)

    def display_content(self) -> list[tuple[str, object]]:
        """The size of the output."""
        return [("output_size", self.output_size)]
