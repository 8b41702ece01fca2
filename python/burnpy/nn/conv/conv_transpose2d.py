"""Transposed convolution along two axes."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative, Positive
from burnpy.module import Initializer
from burnpy.nn.conv.convolution import check_groups
from burnpy.nn.conv.transposed_convolution import TransposedConvolution
from burnpy.nn.linear import KAIMING
from burnpy.tensor import Device
from burnpy.tensor import module as ops

__all__ = ["ConvTranspose2d", "ConvTranspose2dConfig"]


class ConvTranspose2dConfig(Config):
    """What a :class:`ConvTranspose2d` is made of; ``channels`` are those of input and output.

    Raises:
        ConfigError: a number is below 1 (0 for the paddings), or channels do not divide into ``groups``.

    Example:
        >>> print(ConvTranspose2dConfig((5, 2), (5, 5)).init())
        ConvTranspose2d {channels: [5, 2], stride: [1, 1], kernel_size: [5, 5], dilation: [1, 1], ... params: 252}

    Source: Burn ``nn::conv::ConvTranspose2dConfig``.
    """

    channels: tuple[Positive, Positive]
    kernel_size: tuple[Positive, Positive]
    _: KW_ONLY
    stride: tuple[Positive, Positive] = (1, 1)
    dilation: tuple[Positive, Positive] = (1, 1)
    groups: Positive = 1
    padding: tuple[NonNegative, NonNegative] = (0, 0)
    padding_out: tuple[NonNegative, NonNegative] = (0, 0)
    bias: bool = True
    initializer: Initializer = KAIMING

    def validate(self) -> None:
        """Check that channels divide into groups."""
        check_groups(self, self.channels, self.groups)

    def init(self, device: Device | None = None) -> ConvTranspose2d:
        """The module, its parameters drawn when they are first needed."""
        return ConvTranspose2d(self, device)


class ConvTranspose2d(TransposedConvolution):
    """Transposed convolution along two axes: what the gradient of a convolution is, as a layer.

    Shapes:
        x: ``(batch, channels_in, height, width)``
        weight: ``(channels_in, channels_out / groups, k_height, k_width)``, as PyTorch
        bias: ``(channels_out,)``
        returns: ``(batch, channels_out, height_out, width_out)`` with
            ``l_out = (l - 1) * stride + dilation * (k - 1) + 1 + padding_out - 2 * padding`` for each axis

    Raises:
        ShapeError: ``x`` has another number of axes or channels.

    Example:
        >>> from burnpy import Tensor
        >>> ConvTranspose2dConfig((5, 2), (5, 5)).init()(Tensor.zeros((2, 5, 3, 4))).shape
        (2, 2, 7, 8)

    Source: Burn ``nn::conv::ConvTranspose2d``.
    """

    _function = ops.conv_transpose2d

    def __init__(self, config: ConvTranspose2dConfig, device: Device | None = None) -> None:
        super().__init__(config, config.kernel_size, device)
