"""The largest element of each window, along one axis."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, Positive, same_as
from burnpy.module import Module
from burnpy.tensor import PaddingConfig1d, Tensor
from burnpy.tensor import module as ops

__all__ = ["MaxPool1d", "MaxPool1dConfig"]


class MaxPool1dConfig(Config):
    """What a :class:`MaxPool1d` is made of; ``stride`` is ``kernel_size`` if it is not given.

    Raises:
        ConfigError: a number is below 1.

    Example:
        >>> print(MaxPool1dConfig(3).init())
        MaxPool1d {kernel_size: 3, stride: 3, padding: Valid, dilation: 1, ceil_mode: false}

    Source: Burn ``nn::pool::MaxPool1dConfig``.
    """

    kernel_size: Positive
    _: KW_ONLY
    stride: Positive = same_as("kernel_size")
    padding: PaddingConfig1d = PaddingConfig1d.Valid()
    dilation: Positive = 1
    ceil_mode: bool = False

    def init(self) -> MaxPool1d:
        """The module."""
        return MaxPool1d(self)


class MaxPool1d(Module):
    """The largest element of each window, along one axis. Padding never wins, NaN does.

    Shapes:
        x: ``(batch, channels, l)``
        returns: ``(batch, channels, l_out)`` with
            ``l_out = (l + padding - dilation * (k - 1) - 1) / stride + 1``, rounded down, or up with ``ceil_mode``

    With ``ceil_mode`` a last window that would begin in the padding after the end is left out.

    Raises:
        ShapeError: ``x`` has another number of axes, or is smaller than the window.

    Example:
        >>> MaxPool1dConfig(3).init()(Tensor.zeros((1, 2, 9))).shape
        (1, 2, 3)

    Source: Burn ``nn::pool::MaxPool1d``.
    """

    def __init__(self, config: MaxPool1dConfig) -> None:
        self.stride = config.stride
        self.kernel_size = config.kernel_size
        self.padding = config.padding
        self.dilation = config.dilation
        self.ceil_mode = config.ceil_mode

    def forward(self, x: Tensor) -> Tensor:
        """The largest elements."""
        return ops.max_pool1d(
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
