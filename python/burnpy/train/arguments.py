"""Checks of what a run is configured with."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["at_least", "with_methods"]

T = TypeVar("T")


def at_least(name: str, value: Any, least: int) -> int:
    """A whole number, also one of NumPy.

    Raises:
        TypeError: it is none.
        ValueError: it is less.

    Example:
        >>> at_least("num_epochs", -1, 0)
        Traceback (most recent call last):
        ValueError: num_epochs must be 0 or more, got -1
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be {least} or more, got {value}")
    return int(value)


def with_methods(name: str, given: T, *methods: str) -> T:
    """An object that has methods; a class has not.

    Raises:
        TypeError: it lacks one; the message names all.

    Example:
        >>> with_methods("logger", "x", "log")
        Traceback (most recent call last):
        TypeError: logger must have log, got str
    """
    if isinstance(given, type) or not all(callable(getattr(given, method, None)) for method in methods):
        what = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
        raise TypeError(f"{name} must have {', '.join(methods)}, got {what}")
    return given
