"""Celu."""

from __future__ import annotations

import math

from burnpy.config import KW_ONLY, Config
from burnpy.errors import ConfigError
from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Celu", "CeluConfig"]


class CeluConfig(Config):
    """What a :class:`Celu` is made of: minus the value far below 0, finite and not 0.

    Example:
        >>> print(CeluConfig(alpha=2.0).init())
        Celu {alpha: 2}

    Source: Burn ``nn::CeluConfig``.
    """

    _: KW_ONLY
    alpha: float = 1.0

    def validate(self) -> None:
        """Refuse an ``alpha`` that is 0 or not finite."""
        if self.alpha == 0 or not math.isfinite(self.alpha):
            raise ConfigError(f"CeluConfig: alpha must be finite and not 0, got {self.alpha}")

    def init(self) -> Celu:
        """The module."""
        return Celu(self)


class Celu(Module):
    """``x`` where ``x > 0``, else ``alpha (e^(x / alpha) - 1)``, element by element.

    Unlike Burn: the gradient of large numbers is 1, where Burn's is NaN.

    Example:
        >>> from burnpy import Tensor
        >>> CeluConfig(alpha=2.0).init()(Tensor([-100.0, 2.0])).tolist()
        [-2.0, 2.0]

    Source: Burn ``nn::Celu``; Barron 2017.
    """

    def __init__(self, config: CeluConfig) -> None:
        self.alpha = config.alpha

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.celu(x, self.alpha)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("alpha", self.alpha)]
