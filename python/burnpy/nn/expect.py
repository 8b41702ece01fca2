"""The check of layers that take more than a tensor."""

from __future__ import annotations

__all__ = ["expect"]


def expect(layer: object, value: object, kind: type, name: str = "input") -> None:
    """Refuse an argument of another class.

    Raises:
        TypeError: so it is; the message names the layer and both classes.

    Example:
        >>> expect(0, "x", float)
        Traceback (most recent call last):
        TypeError: int: input must be a float, got str
    """
    if not isinstance(value, kind):
        raise TypeError(
            f"{type(layer).__name__}: {name} must be a {kind.__name__}, got {type(value).__name__}"
        )
