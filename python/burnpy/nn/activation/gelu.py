"""Gelu."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Gelu"]


class Gelu(Module):
    """``x (1 + erf(x / √2)) / 2``, element by element; ``approximate``, ``x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2``.

    Example:
        >>> from burnpy import Tensor
        >>> Gelu()(Tensor([0.0, 1.0])).tolist()
        [0.0, 0.8413...]
        >>> Gelu.new_approximate().approximate
        True

    Source: Burn ``nn::Gelu``; Hendrycks & Gimpel 2016.
    """

    def __init__(self, *, approximate: bool = False) -> None:
        self.approximate = approximate

    @classmethod
    def new_approximate(cls) -> Gelu:
        """The one with the hyperbolic tangent."""
        return cls(approximate=True)

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.gelu_approximate(x) if self.approximate else activation.gelu(x)
