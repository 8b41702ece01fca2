"""SiLU."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["SiLU"]


class SiLU(Module):
    """``x sigmoid(x)``, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> SiLU()(Tensor([0.0, 1.0])).tolist()
        [0.0, 0.7310...]

    Source: Burn ``nn::SiLU``; Elfwing et al. 2018.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.silu(x)
