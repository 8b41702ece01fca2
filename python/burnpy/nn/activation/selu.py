"""Selu."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Selu"]


class Selu(Module):
    """``g x`` where ``x >= 0``, else ``g a (e^x - 1)``, with ``g = 1.0507...`` and ``a = 1.6733...``.

    Unlike Burn: the gradient of large numbers is ``g``, where Burn's is NaN.

    Example:
        >>> from burnpy import Tensor
        >>> Selu()(Tensor([0.0, 2.0])).tolist()
        [0.0, 2.1014...]

    Source: Burn ``nn::Selu``; Klambauer et al. 2017.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.selu(x)
