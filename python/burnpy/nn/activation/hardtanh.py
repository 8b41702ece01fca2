"""Hardtanh."""

from __future__ import annotations

import math

from burnpy.config import KW_ONLY, Config
from burnpy.errors import ConfigError
from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Hardtanh", "HardtanhConfig"]


class HardtanhConfig(Config):
    """What a :class:`Hardtanh` is made of: the bounds, finite and in order.

    Example:
        >>> print(HardtanhConfig(min_val=-2.0, max_val=2.0).init())
        Hardtanh {min_val: -2, max_val: 2}

    Source: Burn ``nn::HardtanhConfig``.
    """

    _: KW_ONLY
    min_val: float = -1.0
    max_val: float = 1.0

    def validate(self) -> None:
        """Refuse bounds that are not finite, or out of order."""
        low, high = self.min_val, self.max_val
        if not (math.isfinite(low) and math.isfinite(high)):
            raise ConfigError(f"HardtanhConfig: min_val and max_val must be finite, got {low} and {high}")
        if low > high:
            raise ConfigError(f"HardtanhConfig: min_val must be at most max_val, got {low} and {high}")

    def init(self) -> Hardtanh:
        """The module."""
        return Hardtanh(self)


class Hardtanh(Module):
    """``x`` kept between ``min_val`` and ``max_val``, element by element; NaN stays NaN.

    Example:
        >>> from burnpy import Tensor
        >>> HardtanhConfig(min_val=-2.0, max_val=2.0).init()(Tensor([-3.0, 1.0, 3.0])).tolist()
        [-2.0, 1.0, 2.0]

    Source: Burn ``nn::Hardtanh``.
    """

    def __init__(self, config: HardtanhConfig) -> None:
        self.min_val = config.min_val
        self.max_val = config.max_val

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.hardtanh(x, self.min_val, self.max_val)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("min_val", self.min_val), ("max_val", self.max_val)]
