"""Sigmoid."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Sigmoid"]


class Sigmoid(Module):
    """``1 / (1 + e^-x)``, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> Sigmoid()(Tensor([0.0, 1.0])).tolist()
        [0.5, 0.7310...]

    Source: Burn ``nn::Sigmoid``.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.sigmoid(x)
