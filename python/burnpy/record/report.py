"""What became of a record when it was loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from burnpy._core import closest

__all__ = ["Difference", "RecordReport"]

T = TypeVar("T")

# How many of a kind a text tells; the fields have all.
_SHOWN = 20


@dataclass(frozen=True)
class Difference:
    """A tensor that does not fit its parameter.

    Attributes:
        path: the parameter's path.
        what: ``"shape"`` or ``"dtype"``.
        expected: the module's.
        found: the record's.

    Example:
        >>> print(Difference("fc.bias", "shape", (3,), (4,)))
        fc.bias: shape is (4,), the module has (3,)
    """

    path: str
    what: str
    expected: object
    found: object

    def __str__(self) -> str:
        return f"{self.path}: {self.what} is {self.found}, the module has {self.expected}"


@dataclass(frozen=True)
class RecordReport:
    """What became of a record when it was loaded into a module, or what would have.

    Attributes:
        loaded: paths of the parameters that fit, in the module's order.
        missing: paths that the record has nothing for, in the module's order.
        unused: names of the record that no parameter has, sorted.
        errors: tensors that do not fit, in the module's order.
        cast: path, old and new dtype of those that were cast.

    Example:
        >>> print(RecordReport(loaded=["bias"], missing=["gamma"], unused=["gama"]))
        1 loaded, 1 missing, 1 unused
        missing:
          gamma (did you mean 'gama'?)
        unused:
          gama
    """

    loaded: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    errors: list[Difference] = field(default_factory=list)
    cast: list[tuple[str, str, str]] = field(default_factory=list)

    def is_success(self) -> bool:
        """Whether all of the module was loaded from all of the record."""
        return not (self.errors or self.missing or self.unused)

    def __str__(self) -> str:
        counts = [f"{len(self.loaded)} loaded"]
        counts += [
            f"{len(getattr(self, name))} {text}"
            for name, text in (("errors", "wrong"), ("missing", "missing"), ("unused", "unused"))
            if getattr(self, name)
        ]
        lines = [", ".join(counts)]
        lines += _section("wrong", self.errors, str)
        lines += _section("missing", self.missing, self._missing)
        lines += _section("unused", self.unused, str)
        return "\n".join(lines)

    def _missing(self, path: str) -> str:
        meant = closest(path, self.unused)
        return path if meant is None else f"{path} (did you mean {meant!r}?)"


def _section(title: str, items: Sequence[T], line: Callable[[T], str]) -> list[str]:
    if not items:
        return []
    more = [f"  … and {len(items) - _SHOWN} more"] if len(items) > _SHOWN else []
    return [f"{title}:", *(f"  {line(item)}" for item in items[:_SHOWN]), *more]
