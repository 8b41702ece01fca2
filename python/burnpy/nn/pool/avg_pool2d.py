"""The mean of each window, along two axes."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, Positive, same_as
from burnpy.module import Module
from burnpy.tensor import PaddingConfig2d, Tensor
from burnpy.tensor import module as ops

__all__ = ["AvgPool2d", "AvgPool2dConfig"]


class AvgPool2dConfig(Config):
    """What an :class:`AvgPool2d` is made of; ``strides`` is ``kernel_size`` if it is not given.

    Raises:
        ConfigError: a number is below 1.

    Example:
        >>> print(AvgPool2dConfig((2, 3)).init())
        AvgPool2d {kernel_size: [2, 3], stride: [2, 3], padding: Valid, count_include_pad: true, ceil_mode: false}

    Source: Burn ``nn::pool::AvgPool2dConfig``.
    """

    kernel_size: tuple[Positive, Positive]
    _: KW_ONLY
    strides: tuple[Positive, Positive] = same_as("kernel_size")
    padding: PaddingConfig2d = PaddingConfig2d.Valid()
    count_include_pad: bool = True
    ceil_mode: bool = False

    def init(self) -> AvgPool2d:
        """The module."""
        return AvgPool2d(self)


class AvgPool2d(Module):
    """The mean of each window, along two axes.

    Shapes:
        x: ``(batch, channels, height, width)``
        returns: ``(batch, channels, height_out, width_out)`` with
            ``l_out = (l + padding - k) / stride + 1``, rounded down, or up with ``ceil_mode``

    The sum is divided by the number of places of the window, padding included with ``count_include_pad`` and left out
    without; places beyond the padding, which ``ceil_mode`` may reach, never count. A window of padding alone gives 0.

    Raises:
        ShapeError: ``x`` has another number of axes, or is smaller than the window.

    Example:
        >>> AvgPool2dConfig((2, 3)).init()(Tensor.zeros((1, 2, 8, 9))).shape
        (1, 2, 4, 3)

    Source: Burn ``nn::pool::AvgPool2d``.
    """

    def __init__(self, config: AvgPool2dConfig) -> None:
        self.stride = config.strides
        self.kernel_size = config.kernel_size
        self.padding = config.padding
        self.count_include_pad = config.count_include_pad
        self.ceil_mode = config.ceil_mode

    def forward(self, x: Tensor) -> Tensor:
        """The means."""
        return ops.avg_pool2d(
            x,
            self.kernel_size,
            stride=self.stride,
            padding=self.padding.argument(),
            count_include_pad=self.count_include_pad,
            ceil_mode=self.ceil_mode,
        )

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        names = ("kernel_size", "stride", "padding", "count_include_pad", "ceil_mode")
        return [(name, getattr(self, name)) for name in names]
