"""Columns as windows."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative, Positive
from burnpy.module import Module
from burnpy.tensor import Tensor
from burnpy.tensor import module as ops

__all__ = ["Fold4d", "Fold4dConfig"]


class Fold4dConfig(Config):
    """What a :class:`Fold4d` is made of.

    Raises:
        ConfigError: a number is below 1, or a padding below 0.

    Example:
        >>> print(Fold4dConfig((4, 4), (2, 2)).init())
        Fold4d {output_size: [4, 4], kernel_size: [2, 2], stride: [1, 1], dilation: [1, 1], padding: [0, 0]}

    Source: Burn ``nn::Fold4dConfig``.
    """

    output_size: tuple[Positive, Positive]
    kernel_size: tuple[Positive, Positive]
    _: KW_ONLY
    stride: tuple[Positive, Positive] = (1, 1)
    dilation: tuple[Positive, Positive] = (1, 1)
    padding: tuple[NonNegative, NonNegative] = (0, 0)

    def init(self) -> Fold4d:
        """The module."""
        return Fold4d(self)


class Fold4d(Module):
    """An image from the columns of :class:`Unfold4d`; where windows overlap, they are added.

    Shapes:
        x: ``(batch, channels * k_height * k_width, windows)``
        returns: ``(batch, channels, height, width)``, those of ``output_size``

    Raises:
        ShapeError: ``x`` has another number of axes, or its rows and columns are not those of such an image.

    Example:
        >>> Fold4dConfig((1, 3), (1, 2)).init()(Tensor([[[1.0, 2.0], [10.0, 20.0]]])).tolist()
        [[[[1.0, 12.0, 20.0]]]]

    Source: Burn ``nn::Fold4d``.
    """

    def __init__(self, config: Fold4dConfig) -> None:
        self.output_size = config.output_size
        self.kernel_size = config.kernel_size
        self.stride = config.stride
        self.dilation = config.dilation
        self.padding = config.padding

    def forward(self, x: Tensor) -> Tensor:
        """The image of the windows in ``x``."""
        return ops.fold4d(
            x,
            self.output_size,
            self.kernel_size,
            stride=self.stride,
            padding=self.padding,
            dilation=self.dilation,
        )

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        names = ("output_size", "kernel_size", "stride", "dilation", "padding")
        return [(name, getattr(self, name)) for name in names]
