"""What convolutions of one, two and three axes share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from burnpy.errors import ConfigError
from burnpy.module import Module, Param
from burnpy.tensor import Device, Tensor

if TYPE_CHECKING:
    from burnpy.nn.conv.conv1d import Conv1dConfig
    from burnpy.nn.conv.conv2d import Conv2dConfig
    from burnpy.nn.conv.conv3d import Conv3dConfig
    from burnpy.tensor import PaddingConfig1d, PaddingConfig2d, PaddingConfig3d

__all__ = ["Convolution", "check_groups", "check_same"]


class Convolution(Module):
    """Base of the convolutions: their parameters, one call forward, and how they are shown."""

    _function: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        config: Conv1dConfig | Conv2dConfig | Conv3dConfig,
        channels: tuple[int, int],
        window: tuple[int, ...],
        device: Device | None,
    ) -> None:
        channels_in, channels_out = channels
        fan_in = channels_in // config.groups * math.prod(window)
        fan_out = channels_out // config.groups * math.prod(window)
        shape = (channels_out, channels_in // config.groups, *window)
        self.weight = config.initializer.init_with(shape, fan_in, fan_out, device)
        self.bias: Param | None = None
        if config.bias:
            # As Burn: with one axis the bias has no fan_out, so that Xavier raises when it is drawn.
            bias_out = fan_out if len(window) > 1 else None
            self.bias = config.initializer.init_with((channels_out,), fan_in, bias_out, device)
        self.stride: int | tuple[int, ...] = config.stride
        self.kernel_size: int | tuple[int, ...] = config.kernel_size
        self.dilation: int | tuple[int, ...] = config.dilation
        self.groups: int = config.groups
        self.padding: PaddingConfig1d | PaddingConfig2d | PaddingConfig3d = config.padding

    def forward(self, x: Tensor) -> Tensor:
        """The convolution of ``x``."""
        return type(self)._function(
            x,
            self.weight.val(),
            None if self.bias is None else self.bias.val(),
            stride=self.stride,
            padding=self.padding.argument(),
            dilation=self.dilation,
            groups=self.groups,
        )

    def display_content(self) -> list[tuple[str, object]]:
        """Channels and settings."""
        channels_out, per_group = self.weight.lazy_shape()[:2]
        return [
            ("ch_in", per_group * self.groups),
            ("ch_out", channels_out),
            ("stride", self.stride),
            ("kernel_size", self.kernel_size),
            ("dilation", self.dilation),
            ("groups", self.groups),
            ("padding", self.padding),
        ]


def check_groups(config: object, channels: tuple[int, int], groups: int, name: str = "groups") -> None:
    """Refuse channels that do not divide into groups."""
    for which, count in zip(("in", "out"), channels, strict=True):
        if count % groups:
            raise ConfigError(
                f"{type(config).__name__}: {count} channels {which} do not divide into {name}={groups}"
            )


def check_same(
    config: object, padding: PaddingConfig2d | PaddingConfig3d, kernel_size: tuple[int, ...]
) -> None:
    """Refuse ``Same`` with a window of even size, where both ends of an axis would be padded differently."""
    if padding.argument() == "same" and any(size % 2 == 0 for size in kernel_size):
        raise ConfigError(
            f"{type(config).__name__}: padding Same needs a kernel_size of odd numbers, got {list(kernel_size)}"
        )
