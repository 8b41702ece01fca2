"""Softplus."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Softplus", "SoftplusConfig"]


class SoftplusConfig(Config):
    """What a :class:`Softplus` is made of.

    Attributes:
        beta: how sharp the corner at 0 is.
        threshold: from where on it is taken for straight; no more than the dtype's largest safe exponent.

    Example:
        >>> print(SoftplusConfig(beta=2.0).init())
        Softplus {beta: 2, threshold: 20}

    Source: Burn ``nn::SoftplusConfig``.
    """

    _: KW_ONLY
    beta: float = 1.0
    threshold: float = 20.0

    def init(self) -> Softplus:
        """The module."""
        return Softplus(self)


class Softplus(Module):
    """``ln(1 + e^(beta x)) / beta``, and ``x`` itself where ``beta x > threshold``, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> SoftplusConfig(beta=2.0).init()(Tensor([0.0, 100.0])).tolist()
        [0.3465..., 100.0]

    Source: Burn ``nn::Softplus``.
    """

    def __init__(self, config: SoftplusConfig) -> None:
        self.beta = config.beta
        self.threshold = config.threshold

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.softplus(x, self.beta, self.threshold)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("beta", self.beta), ("threshold", self.threshold)]
