"""LogSigmoid."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["LogSigmoid"]


class LogSigmoid(Module):
    """``ln(sigmoid(x))``, element by element, finite for large numbers.

    Example:
        >>> from burnpy import Tensor
        >>> LogSigmoid()(Tensor([0.0, -300.0])).tolist()
        [-0.6931..., -300.0]

    Source: Burn ``nn::LogSigmoid``.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.log_sigmoid(x)
