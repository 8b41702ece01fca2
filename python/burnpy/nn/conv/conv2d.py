"""Convolution along two axes."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, Positive
from burnpy.module import Initializer
from burnpy.nn.conv.convolution import Convolution, check_groups
from burnpy.nn.linear import KAIMING
from burnpy.tensor import Device, PaddingConfig2d
from burnpy.tensor import module as ops

__all__ = ["Conv2d", "Conv2dConfig"]


class Conv2dConfig(Config):
    """What a :class:`Conv2d` is made of.

    Raises:
        ConfigError: a number is below 1, channels do not divide into ``groups``.

    Example:
        >>> print(Conv2dConfig((5, 1), (5, 5)).init())
        Conv2d {ch_in: 5, ch_out: 1, stride: [1, 1], kernel_size: [5, 5], dilation: [1, 1], groups: 1, ... params: 126}

    Source: Burn ``nn::conv::Conv2dConfig``.
    """

    channels: tuple[Positive, Positive]
    kernel_size: tuple[Positive, Positive]
    _: KW_ONLY
    stride: tuple[Positive, Positive] = (1, 1)
    dilation: tuple[Positive, Positive] = (1, 1)
    groups: Positive = 1
    padding: PaddingConfig2d = PaddingConfig2d.Valid()
    bias: bool = True
    initializer: Initializer = KAIMING

    def validate(self) -> None:
        """Check what depends on more than one field."""
        check_groups(self, self.channels, self.groups)

    def init(self, device: Device | None = None) -> Conv2d:
        """The module, its parameters drawn when they are first needed."""
        return Conv2d(self, device)


class Conv2d(Convolution):
    """Convolution along two axes: cross-correlation, the window is not flipped.

    Shapes:
        x: ``(batch, channels_in, height, width)``
        weight: ``(channels_out, channels_in / groups, k_height, k_width)``, as PyTorch
        bias: ``(channels_out,)``
        returns: ``(batch, channels_out, height_out, width_out)`` with
            ``l_out = (l + padding - dilation * (k - 1) - 1) // stride + 1`` for each axis

    ``Same`` makes ``l_out = ceil(l / stride)`` where ``dilation`` is 1; it does not count dilation, as in Burn.

    Raises:
        ShapeError: ``x`` has another number of axes or channels, or is smaller than the window.

    Example:
        >>> from burnpy import Tensor
        >>> Conv2dConfig((5, 1), (5, 5)).init()(Tensor.zeros((2, 5, 8, 9))).shape
        (2, 1, 4, 5)

    Source: Burn ``nn::conv::Conv2d``.
    """

    _function = ops.conv2d

    def __init__(self, config: Conv2dConfig, device: Device | None = None) -> None:
        super().__init__(config, config.channels, config.kernel_size, device)
