"""Parts of a run, and what is asked of their values."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar

__all__ = ["Aggregate", "Direction", "Split"]


@dataclass(frozen=True, slots=True)
class Split:
    """A part of a run: ``Split.Train``, ``Split.Valid`` or ``Split.Test(tag)``.

    Example:
        >>> str(Split.Train), Split.Test("first set").tag, Split.Test() == Split.Test(None)
        ('train', 'first set', True)

    Source: Burn ``metric::store::Split``.
    """

    name: str
    tag: str | None = None
    Train: ClassVar[Split]
    Valid: ClassVar[Split]

    def __post_init__(self) -> None:
        if self.name not in ("train", "valid", "test") or (self.tag is not None and self.name != "test"):
            raise ValueError(f"a split is train, valid or test with a tag, got {self.name!r}, {self.tag!r}")

    @staticmethod
    def Test(tag: str | None = None) -> Split:
        """The evaluation on a data set."""
        return Split("test", tag)

    def __hash__(self) -> int:
        # Splits are keys of what is looked up for every batch.
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def label(self) -> str:
        """As people read it: with a capital, and with the tag."""
        return f"Test ({self.tag})" if self.tag is not None else self.name.capitalize()


Split.Train = Split("train")
Split.Valid = Split("valid")


class Aggregate(enum.Enum):
    """How the values of an epoch become one."""

    Mean = "mean"
    """Their mean, each counted as many times as it has units."""


class Direction(enum.Enum):
    """Which values are good."""

    Lowest = "lowest"
    Highest = "highest"
