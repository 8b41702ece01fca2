"""The module that does nothing."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor

__all__ = ["Identity"]


class Identity(Module):
    """Gives back its input: a placeholder where some models have a layer and others have none.

    Example:
        >>> Identity()(Tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]

    Source: Burn ``nn::Identity``.
    """

    def forward(self, x: Tensor) -> Tensor:
        """``x``."""
        return x
