"""Convolution along three axes."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, Positive
from burnpy.module import Initializer
from burnpy.nn.conv.convolution import Convolution, check_groups, check_same
from burnpy.nn.linear import KAIMING
from burnpy.tensor import Device, PaddingConfig3d
from burnpy.tensor import module as ops

__all__ = ["Conv3d", "Conv3dConfig"]


class Conv3dConfig(Config):
    """What a :class:`Conv3d` is made of.

    Raises:
        ConfigError: a number is below 1, channels do not divide into ``groups``,
            or ``Same`` padding is asked for with an even ``kernel_size``.

    Example:
        >>> print(Conv3dConfig((2, 4), (3, 3, 3)).init())
        Conv3d {ch_in: 2, ch_out: 4, stride: [1, 1, 1], kernel_size: [3, 3, 3], dilation: [1, 1, 1], ... params: 220}

    Source: Burn ``nn::conv::Conv3dConfig``.
    """

    channels: tuple[Positive, Positive]
    kernel_size: tuple[Positive, Positive, Positive]
    _: KW_ONLY
    stride: tuple[Positive, Positive, Positive] = (1, 1, 1)
    dilation: tuple[Positive, Positive, Positive] = (1, 1, 1)
    groups: Positive = 1
    padding: PaddingConfig3d = PaddingConfig3d.Valid()
    bias: bool = True
    initializer: Initializer = KAIMING

    def validate(self) -> None:
        """Check what depends on more than one field."""
        check_groups(self, self.channels, self.groups)
        check_same(self, self.padding, self.kernel_size)

    def init(self, device: Device | None = None) -> Conv3d:
        """The module, its parameters drawn when they are first needed."""
        return Conv3d(self, device)


class Conv3d(Convolution):
    """Convolution along three axes: cross-correlation, the window is not flipped.

    Shapes:
        x: ``(batch, channels_in, depth, height, width)``
        weight: ``(channels_out, channels_in / groups, k_depth, k_height, k_width)``, as PyTorch
        bias: ``(channels_out,)``
        returns: ``(batch, channels_out, depth_out, ...)`` with
            ``l_out = (l + padding - dilation * (k - 1) - 1) // stride + 1`` for each axis

    ``Same`` makes ``l_out = ceil(l / stride)`` where ``dilation`` is 1; it does not count dilation, as in Burn.

    Unlike Burn: where ``Same`` adds more at one end of an axis than at the other, it does so, and is not refused.

    Raises:
        ShapeError: ``x`` has another number of axes or channels, or is smaller than the window.

    Example:
        >>> from burnpy import Tensor
        >>> Conv3dConfig((2, 4), (3, 3, 3)).init()(Tensor.zeros((1, 2, 5, 5, 5))).shape
        (1, 4, 3, 3, 3)

    Source: Burn ``nn::conv::Conv3d``.
    """

    _function = ops.conv3d

    def __init__(self, config: Conv3dConfig, device: Device | None = None) -> None:
        super().__init__(config, config.channels, config.kernel_size, device)
