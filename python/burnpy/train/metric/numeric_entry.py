"""A number of a metric, and its line in a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from burnpy.train.metric.number_text import plain_float

__all__ = ["NumericEntry"]

# What Rust reads as a float, and as an unsigned integer: no spaces, no underscores.
_FLOAT = re.compile(r"[+-]?(inf|infinity|nan|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)", re.ASCII | re.IGNORECASE)
_COUNT = re.compile(r"\+?\d+", re.ASCII)


class NumericEntry:
    """A number of a metric: by itself (``Value``), a mean (``Aggregated``), or that of an epoch (``Final``).

    Example:
        >>> NumericEntry.Aggregated(0.5, 64).serialize(), NumericEntry.Final(59.0).serialize()
        ('0.5,64', '59,final')
        >>> NumericEntry.deserialize("0.5,64")
        Aggregated(aggregated_value=0.5, count=64)

    Source: Burn ``metric::NumericEntry``.
    """

    __slots__ = ()
    Value: ClassVar[type[Value]]
    Aggregated: ClassVar[type[Aggregated]]
    Final: ClassVar[type[Final]]

    def current(self) -> float:
        """The number."""
        raise NotImplementedError

    def serialize(self) -> str:
        """Its line in a file."""
        raise NotImplementedError

    @staticmethod
    def deserialize(text: str) -> NumericEntry:
        """The entry of a line, without its end.

        Raises:
            ValueError: it is none: spaces and underscores are refused too.
        """
        parts = text.split(",")
        if len(parts) > 2:
            raise ValueError(f"a metric's line has one or two parts, got {len(parts)}: {text!r}")
        if not _FLOAT.fullmatch(parts[0]):
            raise ValueError(f"a metric's line begins with a number, got {text!r}")
        number = float(parts[0])
        if len(parts) == 1:
            return Value(number)
        if parts[1] == "final":
            return Final(number)
        if not _COUNT.fullmatch(parts[1]):
            raise ValueError(f"a metric's line ends with a count or 'final', got {text!r}")
        return Aggregated(number, int(parts[1]))

    def better_than(self, other: NumericEntry, higher_is_better: bool) -> bool:
        """Whether this number is above the other's, or is not, as ``higher_is_better`` says.

        As in Burn, an equal number is better where lower is.
        """
        return (self.current() > other.current()) == higher_is_better


@dataclass(slots=True)
class Value(NumericEntry):
    """A single number."""

    value: float

    def current(self) -> float:
        """The number."""
        return self.value

    def serialize(self) -> str:
        """Its line in a file."""
        return plain_float(self.value)


@dataclass(slots=True)
class Aggregated(NumericEntry):
    """A mean of so many units."""

    aggregated_value: float
    count: int

    def current(self) -> float:
        """The number."""
        return self.aggregated_value

    def serialize(self) -> str:
        """Its line in a file."""
        return f"{plain_float(self.aggregated_value)},{self.count}"


@dataclass(slots=True)
class Final(NumericEntry):
    """The number of a whole epoch."""

    value: float

    def current(self) -> float:
        """The number."""
        return self.value

    def serialize(self) -> str:
        """Its line in a file."""
        return f"{plain_float(self.value)},final"


NumericEntry.Value = Value
NumericEntry.Aggregated = Aggregated
NumericEntry.Final = Final
