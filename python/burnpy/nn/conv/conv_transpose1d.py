"""Transposed convolution along one axis."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative, Positive
from burnpy.module import Initializer
from burnpy.nn.conv.convolution import check_groups
from burnpy.nn.conv.transposed_convolution import TransposedConvolution
from burnpy.nn.linear import KAIMING
from burnpy.tensor import Device
from burnpy.tensor import module as ops

__all__ = ["ConvTranspose1d", "ConvTranspose1dConfig"]


class ConvTranspose1dConfig(Config):
    """What a :class:`ConvTranspose1d` is made of; ``channels`` are those of input and output.

    Raises:
        ConfigError: a number is below 1 (0 for the paddings), or channels do not divide into ``groups``.

    Example:
        >>> print(ConvTranspose1dConfig((5, 2), 5).init())
        ConvTranspose1d {channels: [5, 2], stride: 1, kernel_size: 5, dilation: 1, groups: 1, ... params: 52}

    Source: Burn ``nn::conv::ConvTranspose1dConfig``.
    """

    channels: tuple[Positive, Positive]
    kernel_size: Positive
    _: KW_ONLY
    stride: Positive = 1
    dilation: Positive = 1
    groups: Positive = 1
    padding: NonNegative = 0
    padding_out: NonNegative = 0
    bias: bool = True
    initializer: Initializer = KAIMING

    def validate(self) -> None:
        """Check that channels divide into groups."""
        check_groups(self, self.channels, self.groups)

    def init(self, device: Device | None = None) -> ConvTranspose1d:
        """The module, its parameters drawn when they are first needed."""
        return ConvTranspose1d(self, device)


class ConvTranspose1d(TransposedConvolution):
    """Transposed convolution along one axis: what the gradient of a convolution is, as a layer.

    Shapes:
        x: ``(batch, channels_in, l)``
        weight: ``(channels_in, channels_out / groups, k)``, as PyTorch
        bias: ``(channels_out,)``
        returns: ``(batch, channels_out, l_out)`` with
            ``l_out = (l - 1) * stride + dilation * (k - 1) + 1 + padding_out - 2 * padding`` for each axis

    Raises:
        ShapeError: ``x`` has another number of axes or channels.

    Example:
        >>> from burnpy import Tensor
        >>> ConvTranspose1dConfig((5, 2), 5).init()(Tensor.zeros((2, 5, 8))).shape
        (2, 2, 12)

    Source: Burn ``nn::conv::ConvTranspose1d``.
    """

    _function = ops.conv_transpose1d

    def __init__(self, config: ConvTranspose1dConfig, device: Device | None = None) -> None:
        super().__init__(config, (config.kernel_size,), device)
