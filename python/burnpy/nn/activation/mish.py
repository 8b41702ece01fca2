"""Mish."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Mish"]


class Mish(Module):
    """``x tanh(softplus(x))``, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> Mish()(Tensor([0.0, 1.0])).tolist()
        [0.0, 0.8650...]

    Source: Burn ``nn::Mish``; Misra 2020.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.mish(x)
