"""Relu."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Relu"]


class Relu(Module):
    """``max(x, 0)``, element by element; NaN stays NaN, and the gradient at 0 is 0.

    Example:
        >>> from burnpy import Tensor
        >>> Relu()(Tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]

    Source: Burn ``nn::Relu``.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.relu(x)
