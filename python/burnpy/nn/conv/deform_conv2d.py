"""Convolution whose window is bent by the input."""

from __future__ import annotations

import math

from burnpy.config import KW_ONLY, Config, Positive
from burnpy.errors import ConfigError
from burnpy.module import Initializer, Module, Param
from burnpy.nn.conv.convolution import check_groups, check_same
from burnpy.nn.linear import KAIMING
from burnpy.tensor import Device, PaddingConfig2d, ShapeError, Tensor
from burnpy.tensor import module as ops
from burnpy.tensor.padding import same_padding

__all__ = ["DeformConv2d", "DeformConv2dConfig"]


class DeformConv2dConfig(Config):
    """What a :class:`DeformConv2d` is made of.

    Raises:
        ConfigError: a number is below 1, channels do not divide into ``weight_groups``, channels of the input not into
            ``offset_groups``, or ``Same`` padding is asked for with an even ``kernel_size``.

    Example:
        >>> print(DeformConv2dConfig((5, 1), (5, 5)).init())
        DeformConv2d {stride: [1, 1], kernel_size: [5, 5], dilation: [1, 1], weight_groups: 1, ... params: 126}

    Source: Burn ``nn::conv::DeformConv2dConfig``.
    """

    channels: tuple[Positive, Positive]
    kernel_size: tuple[Positive, Positive]
    _: KW_ONLY
    stride: tuple[Positive, Positive] = (1, 1)
    dilation: tuple[Positive, Positive] = (1, 1)
    weight_groups: Positive = 1
    offset_groups: Positive = 1
    padding: PaddingConfig2d = PaddingConfig2d.Valid()
    bias: bool = True
    initializer: Initializer = KAIMING

    def validate(self) -> None:
        """Check what depends on more than one field."""
        check_groups(self, self.channels, self.weight_groups, "weight_groups")
        check_same(self, self.padding, self.kernel_size)
        if self.channels[0] % self.offset_groups:
            raise ConfigError(
                f"DeformConv2dConfig: {self.channels[0]} channels in do not divide into "
                f"offset_groups={self.offset_groups}"
            )

    def init(self, device: Device | None = None) -> DeformConv2d:
        """The module, its parameters drawn when they are first needed."""
        return DeformConv2d(self, device)


class DeformConv2d(Module):
    """Convolution along two axes, each element of the window moved by an offset and weighed by a mask.

    Shapes:
        x: ``(batch, channels_in, height, width)``
        offset: ``(batch, 2 * offset_groups * k_height * k_width, height_out, width_out)``, in elements, pairs of (y, x)
        mask: ``(batch, offset_groups * k_height * k_width, height_out, width_out)``
        weight: ``(channels_out, channels_in / weight_groups, k_height, k_width)``, as PyTorch
        returns: ``(batch, channels_out, height_out, width_out)``, sizes as of :class:`Conv2d`

    Raises:
        ShapeError: a tensor has another shape, or the padding differs at both ends of an axis.

    Example:
        >>> conv = DeformConv2dConfig((2, 3), (2, 2)).init()
        >>> conv(Tensor.zeros((1, 2, 4, 4)), Tensor.zeros((1, 8, 3, 3))).shape
        (1, 3, 3, 3)

    Source: Burn ``nn::conv::DeformConv2d``; Dai et al. 2017, with the mask of Zhu et al. 2019.
    """

    def __init__(self, config: DeformConv2dConfig, device: Device | None = None) -> None:
        channels_in, channels_out = config.channels
        window = math.prod(config.kernel_size)
        fan_in = channels_in // config.weight_groups * window
        fan_out = channels_out // config.weight_groups * window
        shape = (channels_out, channels_in // config.weight_groups, *config.kernel_size)
        self.weight = config.initializer.init_with(shape, fan_in, fan_out, device)
        self.bias: Param | None = None
        if config.bias:
            self.bias = config.initializer.init_with((channels_out,), fan_in, fan_out, device)
        self.stride = config.stride
        self.kernel_size = config.kernel_size
        self.dilation = config.dilation
        self.weight_groups = config.weight_groups
        self.offset_groups = config.offset_groups
        self.padding = config.padding

    def forward(self, x: Tensor, offset: Tensor, mask: Tensor | None = None) -> Tensor:
        """The convolution of ``x`` with windows moved by ``offset``, weighed by ``mask``."""
        return ops.deform_conv2d(
            x,
            offset,
            self.weight.val(),
            mask,
            None if self.bias is None else self.bias.val(),
            stride=self.stride,
            padding=self._padding(x),
            dilation=self.dilation,
            weight_groups=self.weight_groups,
            offset_groups=self.offset_groups,
        )

    def _padding(self, x: Tensor) -> list[int]:
        """What is added at either end of each axis."""
        pads = self.padding.argument()
        if pads == "valid" or x.ndim != 4:
            return [0, 0]
        if pads == "same":
            axes = zip(x.shape[2:], self.kernel_size, self.stride, strict=True)
            pads = [same_padding(size, kernel, stride) for size, kernel, stride in axes]
        if any(start != end for start, end in pads):
            raise ShapeError(f"DeformConv2d: padding {self.padding} is {pads}, not the same at both ends")
        return [start for start, _ in pads]

    def display_content(self) -> list[tuple[str, object]]:
        """Settings."""
        names = ("stride", "kernel_size", "dilation", "weight_groups", "offset_groups", "padding")
        return [(name, getattr(self, name)) for name in names]
