"""Convolution along one axis."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, Positive
from burnpy.module import Initializer
from burnpy.nn.conv.convolution import Convolution, check_groups
from burnpy.nn.linear import KAIMING
from burnpy.tensor import Device, PaddingConfig1d
from burnpy.tensor import module as ops

__all__ = ["Conv1d", "Conv1dConfig"]


class Conv1dConfig(Config):
    """What a :class:`Conv1d` is made of.

    Raises:
        ConfigError: a number is below 1, channels do not divide into ``groups``.

    Example:
        >>> print(Conv1dConfig(5, 4, 3).init())
        Conv1d {ch_in: 5, ch_out: 4, stride: 1, kernel_size: 3, dilation: 1, groups: 1, padding: Valid, params: 64}

    Source: Burn ``nn::conv::Conv1dConfig``.
    """

    channels_in: Positive
    channels_out: Positive
    kernel_size: Positive
    _: KW_ONLY
    stride: Positive = 1
    dilation: Positive = 1
    groups: Positive = 1
    padding: PaddingConfig1d = PaddingConfig1d.Valid()
    bias: bool = True
    initializer: Initializer = KAIMING

    def validate(self) -> None:
        """Check what depends on more than one field."""
        check_groups(self, (self.channels_in, self.channels_out), self.groups)

    def init(self, device: Device | None = None) -> Conv1d:
        """The module, its parameters drawn when they are first needed."""
        return Conv1d(self, device)


class Conv1d(Convolution):
    """Convolution along one axis: cross-correlation, the window is not flipped.

    Shapes:
        x: ``(batch, channels_in, l)``
        weight: ``(channels_out, channels_in / groups, k)``, as PyTorch
        bias: ``(channels_out,)``
        returns: ``(batch, channels_out, l_out)`` with
            ``l_out = (l + padding - dilation * (k - 1) - 1) // stride + 1`` for each axis

    ``Same`` makes ``l_out = ceil(l / stride)`` where ``dilation`` is 1; it does not count dilation, as in Burn.

    Raises:
        ShapeError: ``x`` has another number of axes or channels, or is smaller than the window.

    Example:
        >>> from burnpy import Tensor
        >>> Conv1dConfig(5, 4, 3).init()(Tensor.zeros((2, 5, 8))).shape
        (2, 4, 6)

    Source: Burn ``nn::conv::Conv1d``.
    """

    _function = ops.conv1d

    def __init__(self, config: Conv1dConfig, device: Device | None = None) -> None:
        super().__init__(config, (config.channels_in, config.channels_out), (config.kernel_size,), device)
