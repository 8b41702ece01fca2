"""Softsign."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Softsign"]


class Softsign(Module):
    """``x / (1 + |x|)``, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> Softsign()(Tensor([0.0, 1.0, -3.0])).tolist()
        [0.0, 0.5, -0.75]

    Source: Burn ``nn::Softsign``.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.softsign(x)
