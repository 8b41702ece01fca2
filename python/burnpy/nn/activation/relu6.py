"""Relu6."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Relu6"]


class Relu6(Module):
    """``min(max(x, 0), 6)``, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> Relu6()(Tensor([-1.0, 2.0, 7.0])).tolist()
        [0.0, 2.0, 6.0]

    Source: Burn ``nn::Relu6``.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.relu6(x)
