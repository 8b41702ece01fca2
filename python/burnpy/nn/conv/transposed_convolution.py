"""What transposed convolutions of one, two and three axes share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from burnpy.module import Module, Param
from burnpy.tensor import Device, Tensor

if TYPE_CHECKING:
    from burnpy.nn.conv.conv_transpose1d import ConvTranspose1dConfig
    from burnpy.nn.conv.conv_transpose2d import ConvTranspose2dConfig
    from burnpy.nn.conv.conv_transpose3d import ConvTranspose3dConfig

__all__ = ["TransposedConvolution"]


class TransposedConvolution(Module):
    """Base of the transposed convolutions: their parameters, one call forward, and how they are shown."""

    _function: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        config: ConvTranspose1dConfig | ConvTranspose2dConfig | ConvTranspose3dConfig,
        window: tuple[int, ...],
        device: Device | None,
    ) -> None:
        channels_in, channels_out = config.channels
        per_group = channels_out // config.groups
        # As Burn: no fan_out, so that Xavier raises when a value is drawn.
        fan_in = per_group * math.prod(window)
        self.weight = config.initializer.init_with((channels_in, per_group, *window), fan_in, None, device)
        self.bias: Param | None = None
        if config.bias:
            self.bias = config.initializer.init_with((channels_out,), fan_in, None, device)
        self.stride: int | tuple[int, ...] = config.stride
        self.kernel_size: int | tuple[int, ...] = config.kernel_size
        self.dilation: int | tuple[int, ...] = config.dilation
        self.groups: int = config.groups
        self.padding: int | tuple[int, ...] = config.padding
        self.padding_out: int | tuple[int, ...] = config.padding_out
        self.channels: tuple[int, int] = config.channels

    def forward(self, x: Tensor) -> Tensor:
        """The transposed convolution of ``x``."""
        return type(self)._function(
            x,
            self.weight.val(),
            None if self.bias is None else self.bias.val(),
            stride=self.stride,
            padding=self.padding,
            padding_out=self.padding_out,
            dilation=self.dilation,
            groups=self.groups,
        )

    def display_content(self) -> list[tuple[str, object]]:
        """Channels and settings."""
        names = ("channels", "stride", "kernel_size", "dilation", "groups", "padding", "padding_out")
        return [(name, getattr(self, name)) for name in names]
