"""How random elements are distributed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Distribution"]


@dataclass(frozen=True)
class Distribution:
    """Where ``Tensor.random`` draws from; made by the methods below.

    Example:
        >>> from burnpy import Tensor
        >>> Tensor.random((2, 3), Distribution.normal(0.0, 1.0)).shape
        (2, 3)
    """

    name: Literal["default", "uniform", "normal", "bernoulli"] = "default"
    first: float = 0.0
    second: float = 0.0

    @classmethod
    def default(cls) -> Distribution:
        """Floats in [0, 1), integers in 0 to 254, booleans evenly."""
        return cls()

    @classmethod
    def uniform(cls, low: float, high: float) -> Distribution:
        """Evenly from ``low`` to below ``high``."""
        return cls("uniform", low, high)

    @classmethod
    def normal(cls, mean: float, std: float) -> Distribution:
        """Around a mean, with a standard deviation."""
        return cls("normal", mean, std)

    @classmethod
    def bernoulli(cls, prob: float) -> Distribution:
        """1 with a probability, else 0."""
        return cls("bernoulli", prob)
