"""GLU."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["GLU"]


class GLU(Module):
    """Gated linear unit: ``a sigmoid(b)``, ``a`` the first half of an axis and ``b`` the second.

    Shapes:
        x: ``(..., 2 n, ...)``, the size of axis ``dim`` even
        returns: ``(..., n, ...)``

    Raises:
        ShapeError: the size is odd, or there is no such axis.

    Example:
        >>> from burnpy import Tensor
        >>> GLU(-1)(Tensor([[2.0, 0.0]])).tolist()
        [[1.0]]

    Source: Burn ``nn::GLU``; Dauphin et al. 2017.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: Tensor) -> Tensor:
        """The first half, gated by the second."""
        return activation.glu(x, self.dim)
