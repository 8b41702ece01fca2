"""What the commands share in declaring their arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

__all__ = ["Subparsers", "at_least", "place"]

if TYPE_CHECKING:
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]
else:
    # What a command is declared to; argparse has no public name for it.
    Subparsers = argparse.Action


def at_least(minimum: int) -> Callable[[str], int]:
    """A whole number that is not smaller than ``minimum``."""

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None
        if number < minimum:
            raise argparse.ArgumentTypeError(f"must be at least {minimum}, got {number}")
        return number

    return parse


def place(text: str) -> Any:
    """A path as it is, or the place of a URL."""
    if "://" not in text:
        return text
    # Here, not at the top: `burnpy --help` need not load what reads files.
    from burnpy._places import place_of

    try:
        return place_of(text)
    except (ImportError, ValueError) as error:
        # The extra that is not installed, or a scheme that nobody knows: both say so.
        raise argparse.ArgumentTypeError(str(error)) from None
