"""What the configurations of schedulers refuse."""

from __future__ import annotations

import math
from typing import Any

from burnpy.errors import ConfigError

__all__ = ["check_finite", "check_rate", "checked_rate"]


def check_rate(config: Any, name: str, *, zero: bool = False, limit: tuple[str, float] = ("1", 1.0)) -> None:
    """Refuse a field outside of (0, limit], or [0, limit] where zero is allowed.

    Unlike Burn: which lets NaN pass.
    """
    value = getattr(config, name)
    if not (0.0 <= value <= limit[1] and (zero or value > 0.0)):
        raise ConfigError(f"{name} must lie in {'[' if zero else '('}0, {limit[0]}], got {value}")


def check_finite(config: Any, *names: str) -> None:
    """Refuse fields that are infinite or NaN."""
    for name in names:
        if not math.isfinite(getattr(config, name)):
            raise ConfigError(f"{name} must be finite, got {getattr(config, name)}")


def checked_rate(name: str, value: float) -> float:
    """A learning rate that was given as a plain number."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a number or a scheduler, got {value!r}")
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value}")
    return float(value)
