"""The largest element of each window, along two axes."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, Positive, same_as
from burnpy.module import Module
from burnpy.tensor import PaddingConfig2d, Tensor
from burnpy.tensor import module as ops

__all__ = ["MaxPool2d", "MaxPool2dConfig"]


class MaxPool2dConfig(Config):
    """What a :class:`MaxPool2d` is made of; ``strides`` is ``kernel_size`` if it is not given.

    Raises:
        ConfigError: a number is below 1.

    Example:
        >>> print(MaxPool2dConfig((2, 3)).init())
        MaxPool2d {kernel_size: [2, 3], stride: [2, 3], padding: Valid, dilation: [1, 1], ceil_mode: false}

    Source: Burn ``nn::pool::MaxPool2dConfig``.
    """

    kernel_size: tuple[Positive, Positive]
    _: KW_ONLY
    strides: tuple[Positive, Positive] = same_as("kernel_size")
    padding: PaddingConfig2d = PaddingConfig2d.Valid()
    dilation: tuple[Positive, Positive] = (1, 1)
    ceil_mode: bool = False

    def init(self) -> MaxPool2d:
        """The module."""
        return MaxPool2d(self)


class MaxPool2d(Module):
    """The largest element of each window, along two axes. Padding never wins, NaN does.

    Shapes:
        x: ``(batch, channels, height, width)``
        returns: ``(batch, channels, height_out, width_out)`` with
            ``l_out = (l + padding - dilation * (k - 1) - 1) / stride + 1``, rounded down, or up with ``ceil_mode``

    With ``ceil_mode`` a last window that would begin in the padding after the end is left out.

    Raises:
        ShapeError: ``x`` has another number of axes, or is smaller than the window.

    Example:
        >>> MaxPool2dConfig((2, 3)).init()(Tensor.zeros((1, 2, 8, 9))).shape
        (1, 2, 4, 3)

    Source: Burn ``nn::pool::MaxPool2d``.
    """

    def __init__(self, config: MaxPool2dConfig) -> None:
        self.stride = config.strides
        self.kernel_size = config.kernel_size
        self.padding = config.padding
        self.dilation = config.dilation
        self.ceil_mode = config.ceil_mode

    def forward(self, x: Tensor) -> Tensor:
        """The largest elements."""
        return ops.max_pool2d(
            x,
            self.kernel_size,
            stride=self.stride,
            padding=self.padding.argument(),
            dilation=self.dilation,
            ceil_mode=self.ceil_mode,
        )

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        names = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
        return [(name, getattr(self, name)) for name in names]
