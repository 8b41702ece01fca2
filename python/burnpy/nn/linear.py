"""Affine maps."""

from __future__ import annotations

import enum
import math

from burnpy.config import KW_ONLY, Config, NonNegative
from burnpy.module import Initializer, Module
from burnpy.tensor import Device, Tensor
from burnpy.tensor import module as ops

__all__ = ["KAIMING", "Linear", "LinearConfig", "LinearLayout"]

KAIMING = Initializer.KaimingUniform(gain=1 / math.sqrt(3))
"""Weights and biases in U[−1/√fan_in, 1/√fan_in)."""


class LinearLayout(enum.Enum):
    """How a file holds the weight of a :class:`Linear`."""

    Row = "Row"
    """``(d_input, d_output)``, as in memory."""
    Col = "Col"
    """``(d_output, d_input)``, as PyTorch."""


class LinearConfig(Config):
    """What a :class:`Linear` is made of.

    Example:
        >>> print(LinearConfig(3, 5).init())
        Linear {d_input: 3, d_output: 5, bias: true, params: 20}

    Source: Burn ``nn::LinearConfig``.
    """

    d_input: NonNegative
    d_output: NonNegative
    _: KW_ONLY
    bias: bool = True
    initializer: Initializer = KAIMING
    layout: LinearLayout = LinearLayout.Row

    def init(self, device: Device | None = None) -> Linear:
        """The module, its parameters drawn when they are first needed."""
        return Linear(self, device)


class Linear(Module):
    """Affine map ``y = x @ weight + bias``.

    Shapes:
        x: ``(..., d_input)``
        weight: ``(d_input, d_output)``; PyTorch stores the transpose
        returns: ``(..., d_output)``

    Raises:
        ShapeError: the last axis of ``x`` is not ``d_input``.

    Example:
        >>> from burnpy import Tensor
        >>> LinearConfig(4, 2).init().forward(Tensor.zeros((3, 4))).shape
        (3, 2)

    Source: Burn ``nn::Linear``; initialisation after He et al. 2015, eq. 10.
    """

    def __init__(self, config: LinearConfig, device: Device | None = None) -> None:
        d_in, d_out = config.d_input, config.d_output
        if config.layout is LinearLayout.Row:
            self.weight = config.initializer.init_with((d_in, d_out), d_in, d_out, device)
        else:
            # Drawn in the file's form, with the fans as Burn takes them: those of the transpose.
            weight = config.initializer.init_with((d_out, d_in), d_out, d_in, device)
            self.weight = weight.load_mapper(_transpose).save_mapper(_transpose).init_mapper(_transpose)
        self.bias = config.initializer.init_with((d_out,), d_in, d_out, device) if config.bias else None

    def forward(self, x: Tensor) -> Tensor:
        """``x @ weight + bias`` over the last axis."""
        return ops.linear(x, self.weight.val(), None if self.bias is None else self.bias.val())

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes, and whether there is a bias."""
        d_input, d_output = self.weight.value_shape()
        return [("d_input", d_input), ("d_output", d_output), ("bias", self.bias is not None)]


def _transpose(weight: Tensor) -> Tensor:
    return weight.transpose()
