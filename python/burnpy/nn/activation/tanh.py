"""Tanh."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Tanh"]


class Tanh(Module):
    """The hyperbolic tangent, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> Tanh()(Tensor([0.0, 1.0])).tolist()
        [0.0, 0.7615...]

    Source: Burn ``nn::Tanh``.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.tanh(x)
