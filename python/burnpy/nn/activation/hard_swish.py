"""HardSwish."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["HardSwish"]


class HardSwish(Module):
    """``x min(max(x / 6 + 1/2, 0), 1)``, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> HardSwish()(Tensor([-3.0, 0.0, 3.0])).tolist()
        [-0.0, 0.0, 3.0]

    Source: Burn ``nn::HardSwish``; Howard et al. 2019.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.hard_swish(x)
