"""Elu."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Elu", "EluConfig"]


class EluConfig(Config):
    """What an :class:`Elu` is made of: minus the value far below 0.

    Example:
        >>> print(EluConfig(alpha=0.5).init())
        Elu {alpha: 0.5}

    Source: Burn ``nn::EluConfig``.
    """

    _: KW_ONLY
    alpha: float = 1.0

    def init(self) -> Elu:
        """The module."""
        return Elu(self)


class Elu(Module):
    """``x`` where ``x > 0``, else ``alpha (e^x - 1)``, element by element.

    Unlike Burn: the gradient of large numbers is 1, where Burn's is NaN.

    Example:
        >>> from burnpy import Tensor
        >>> EluConfig(alpha=0.5).init()(Tensor([-100.0, 2.0])).tolist()
        [-0.5, 2.0]

    Source: Burn ``nn::Elu``; Clevert et al. 2016.
    """

    def __init__(self, config: EluConfig) -> None:
        self.alpha = config.alpha

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.elu(x, self.alpha)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("alpha", self.alpha)]
