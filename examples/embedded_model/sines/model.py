"""The network, without its weights."""

from __future__ import annotations

from burnpy import Module, Tensor, nn

__all__ = ["Sine"]


class Sine(Module):
    """Two layers of tanh between one number and another."""

    def __init__(self, d_hidden: int) -> None:
        self.inner = nn.LinearConfig(1, d_hidden).init()
        self.middle = nn.LinearConfig(d_hidden, d_hidden).init()
        self.outer = nn.LinearConfig(d_hidden, 1).init()
        self.activation = nn.Tanh()

    @classmethod
    def new(cls) -> Sine:
        """The network in the size that the record has."""
        return cls(d_hidden=16)

    def forward(self, x: Tensor) -> Tensor:
        """Values for angles of shape ``(N, 1)``."""
        x = self.activation(self.inner(x))
        return self.outer(self.activation(self.middle(x)))
