"""Tanhshrink."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Tanhshrink"]


class Tanhshrink(Module):
    """``x - tanh(x)``, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> Tanhshrink()(Tensor([0.0, 1.0])).tolist()
        [0.0, 0.2384...]

    Source: Burn ``nn::Tanhshrink``.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.tanhshrink(x)
