"""Windows as columns."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative, Positive
from burnpy.module import Module
from burnpy.tensor import Tensor
from burnpy.tensor import module as ops

__all__ = ["Unfold4d", "Unfold4dConfig"]


class Unfold4dConfig(Config):
    """What an :class:`Unfold4d` is made of.

    Raises:
        ConfigError: a number is below 1, or a padding below 0.

    Example:
        >>> print(Unfold4dConfig((2, 3)).init())
        Unfold4d {kernel_size: [2, 3], stride: [1, 1], dilation: [1, 1], padding: [0, 0]}

    Source: Burn ``nn::Unfold4dConfig``.
    """

    kernel_size: tuple[Positive, Positive]
    _: KW_ONLY
    stride: tuple[Positive, Positive] = (1, 1)
    dilation: tuple[Positive, Positive] = (1, 1)
    padding: tuple[NonNegative, NonNegative] = (0, 0)

    def init(self) -> Unfold4d:
        """The module."""
        return Unfold4d(self)


class Unfold4d(Module):
    """Each window of an image as a column: channel by channel, each row by row.

    Shapes:
        x: ``(batch, channels, height, width)``
        returns: ``(batch, channels * k_height * k_width, windows)``

    Raises:
        ShapeError: ``x`` has another number of axes, or is smaller than the window.

    Example:
        >>> Unfold4dConfig((2, 2)).init()(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])).tolist()
        [[[1.0], [2.0], [3.0], [4.0]]]

    Source: Burn ``nn::Unfold4d``.
    """

    def __init__(self, config: Unfold4dConfig) -> None:
        self.kernel_size = config.kernel_size
        self.stride = config.stride
        self.dilation = config.dilation
        self.padding = config.padding

    def forward(self, x: Tensor) -> Tensor:
        """The windows of ``x``."""
        return ops.unfold4d(
            x, self.kernel_size, stride=self.stride, padding=self.padding, dilation=self.dilation
        )

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [(name, getattr(self, name)) for name in ("kernel_size", "stride", "dilation", "padding")]
