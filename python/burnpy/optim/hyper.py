"""Checks of hyper-parameters, done when an optimizer is built."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from burnpy.errors import ConfigError

__all__ = ["check", "fraction", "learning_rate", "not_negative", "positive"]

Rule = tuple[Callable[[float], bool], str]

fraction: Rule = (lambda x: 0.0 <= x < 1.0, "lie in [0, 1)")
not_negative: Rule = (lambda x: 0.0 <= x < math.inf, "be finite and not negative")
positive: Rule = (lambda x: 0.0 < x < math.inf, "be finite and positive")


def check(owner: str, rule: Rule, **values: float | None) -> None:
    """Hold values against a rule; ``None`` is not held against it.

    Raises:
        ConfigError: one breaks it (also a ``ValueError``).

    Example:
        >>> check("AdamConfig", fraction, beta_1=1.5)
        Traceback (most recent call last):
        burnpy.errors.ConfigError: AdamConfig: beta_1 must lie in [0, 1), got 1.5
    """
    is_good, wish = rule
    for name, value in values.items():
        if value is not None and not is_good(value):
            raise ConfigError(f"{owner}: {name} must {wish}, got {value}")


def learning_rate(lr: Any) -> float:
    """A learning rate as a float.

    Raises:
        TypeError: it is no number.
        ValueError: it is negative or not finite.

    Example:
        >>> learning_rate(1)
        1.0
    """
    if type(lr) is float and 0.0 <= lr < math.inf:
        return lr
    if isinstance(lr, str | bool) or not hasattr(lr, "__float__"):
        raise TypeError(f"lr must be a number or the rates of a ModuleLrScheduler, got {lr!r}")
    rate = float(lr)
    if not 0.0 <= rate < math.inf:
        raise ValueError(f"lr must be finite and not negative, got {rate}")
    return rate
