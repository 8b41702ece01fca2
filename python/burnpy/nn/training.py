"""When a layer behaves as in training."""

from __future__ import annotations

from burnpy.module import Flag
from burnpy.tensor import Tensor

__all__ = ["is_training", "shown"]


def is_training(flag: Flag, x: Tensor) -> bool:
    """Whether a layer with this flag trains on an input: the flag is on, and the input on an autodiff device.

    Example:
        >>> is_training(Flag(True), Tensor([1.0])), is_training(Flag(True), Tensor([1.0]).inner())
        (True, False)
    """
    return flag.is_enabled() and x.is_autodiff()


def shown(flag: Flag) -> list[tuple[str, object]]:
    """What a layer shows of its flag: that it is off, where it is."""
    return [] if flag.is_enabled() else [("training", "disabled")]
