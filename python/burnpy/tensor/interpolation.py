"""How values between those of a tensor are found."""

from __future__ import annotations

import enum

__all__ = ["InterpolateMode"]


class InterpolateMode(enum.Enum):
    """Which elements a value between them is made of.

    Example:
        >>> InterpolateMode.Linear.argument()
        'linear'

    Source: Burn ``tensor::ops::InterpolateMode``.
    """

    Nearest = "Nearest"
    """The one at or before the place."""
    NearestExact = "NearestExact"
    """The nearest one, seen from the middle of the new element. Known to files; no function does it, as in Burn."""
    Linear = "Linear"
    """2 along each axis, by their distance."""
    Cubic = "Cubic"
    """4 along each axis, by Keys' kernel with a = -0.75."""
    Lanczos = "Lanczos"
    """6 along each axis, by ``sinc(x) * sinc(x / 3)``."""

    def argument(self) -> str:
        """What ``burnpy.tensor.module.interpolate`` takes for it."""
        return "nearest_exact" if self is InterpolateMode.NearestExact else self.value.lower()
