"""SwiGlu."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative
from burnpy.module import Initializer, Module
from burnpy.nn.linear import KAIMING, LinearConfig, LinearLayout
from burnpy.tensor import Device, Tensor

__all__ = ["SwiGlu", "SwiGluConfig"]


class SwiGluConfig(Config):
    """What a :class:`SwiGlu` is made of.

    Example:
        >>> print(SwiGluConfig(2, 3).init())
        SwiGlu {d_input: 2, d_output: 3, bias: false, params: 12}

    Source: Burn ``nn::SwiGluConfig``.
    """

    d_input: NonNegative
    d_output: NonNegative
    _: KW_ONLY
    bias: bool = False
    initializer: Initializer = KAIMING
    layout: LinearLayout = LinearLayout.Row

    def init(self, device: Device | None = None) -> SwiGlu:
        """The module, its parameters drawn when they are first needed."""
        return SwiGlu(self, device)


class SwiGlu(Module):
    """``silu(linear_inner(x)) * linear_outer(x)``.

    Shapes:
        x: ``(..., d_input)``
        returns: ``(..., d_output)``

    Raises:
        ShapeError: the last axis of ``x`` is not ``d_input``.

    Example:
        >>> glu = SwiGluConfig(3, 3, initializer=Initializer.Constant(0.5)).init()
        >>> glu.forward(Tensor([[1.0, 2.0, 3.0]])).tolist()
        [[8.573..., 8.573..., 8.573...]]

    Source: Burn ``nn::SwiGlu``; Shazeer 2020.
    """

    def __init__(self, config: SwiGluConfig, device: Device | None = None) -> None:
        linear = LinearConfig(
            config.d_input,
            config.d_output,
            bias=config.bias,
            initializer=config.initializer,
            layout=config.layout,
        )
        self.linear_inner = linear.init(device)
        self.linear_outer = linear.init(device)

    def forward(self, x: Tensor) -> Tensor:
        """``silu(linear_inner(x)) * linear_outer(x)``."""
        return self.linear_inner.forward(x).silu() * self.linear_outer.forward(x)

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes, and whether there are biases."""
        d_input, d_output = self.linear_inner.weight.base().shape
        return [
            ("d_input", d_input),
            ("d_output", d_output),
            ("bias", self.linear_inner.bias is not None),
        ]
