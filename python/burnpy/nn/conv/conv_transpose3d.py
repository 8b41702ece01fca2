"""Transposed convolution along three axes."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative, Positive
from burnpy.module import Initializer
from burnpy.nn.conv.convolution import check_groups
from burnpy.nn.conv.transposed_convolution import TransposedConvolution
from burnpy.nn.linear import KAIMING
from burnpy.tensor import Device
from burnpy.tensor import module as ops

__all__ = ["ConvTranspose3d", "ConvTranspose3dConfig"]


class ConvTranspose3dConfig(Config):
    """What a :class:`ConvTranspose3d` is made of; ``channels`` are those of input and output.

    Raises:
        ConfigError: a number is below 1 (0 for the paddings), or channels do not divide into ``groups``.

    Example:
        >>> print(ConvTranspose3dConfig((2, 1), (2, 2, 2)).init())
        ConvTranspose3d {channels: [2, 1], stride: [1, 1, 1], kernel_size: [2, 2, 2], ... params: 17}

    Source: Burn ``nn::conv::ConvTranspose3dConfig``.
    """

    channels: tuple[Positive, Positive]
    kernel_size: tuple[Positive, Positive, Positive]
    _: KW_ONLY
    stride: tuple[Positive, Positive, Positive] = (1, 1, 1)
    dilation: tuple[Positive, Positive, Positive] = (1, 1, 1)
    groups: Positive = 1
    padding: tuple[NonNegative, NonNegative, NonNegative] = (0, 0, 0)
    padding_out: tuple[NonNegative, NonNegative, NonNegative] = (0, 0, 0)
    bias: bool = True
    initializer: Initializer = KAIMING

    def validate(self) -> None:
        """Check that channels divide into groups."""
        check_groups(self, self.channels, self.groups)

    def init(self, device: Device | None = None) -> ConvTranspose3d:
        """The module, its parameters drawn when they are first needed."""
        return ConvTranspose3d(self, device)


class ConvTranspose3d(TransposedConvolution):
    """Transposed convolution along three axes: what the gradient of a convolution is, as a layer.

    Shapes:
        x: ``(batch, channels_in, depth, height, width)``
        weight: ``(channels_in, channels_out / groups, k_depth, k_height, k_width)``, as PyTorch
        bias: ``(channels_out,)``
        returns: ``(batch, channels_out, depth_out, ...)`` with
            ``l_out = (l - 1) * stride + dilation * (k - 1) + 1 + padding_out - 2 * padding`` for each axis

    Raises:
        ShapeError: ``x`` has another number of axes or channels.

    Example:
        >>> from burnpy import Tensor
        >>> ConvTranspose3dConfig((2, 1), (2, 2, 2)).init()(Tensor.zeros((1, 2, 3, 3, 3))).shape
        (1, 1, 4, 4, 4)

    Source: Burn ``nn::conv::ConvTranspose3d``.
    """

    _function = ops.conv_transpose3d

    def __init__(self, config: ConvTranspose3dConfig, device: Device | None = None) -> None:
        super().__init__(config, config.kernel_size, device)
