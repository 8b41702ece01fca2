"""New names for tensors: by patterns, and by closing the gaps in numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from burnpy._core import Regex, replace_names
from burnpy.errors import BurnpyError

if TYPE_CHECKING:
    from typing import Self

__all__ = [
    "KeyRemapper",
    "NameCollision",
    "contiguous_names",
    "map_indices_contiguous",
    "map_indices_contiguous_except",
]

_INDEX = re.compile(r"[0-9]+")
_MAX_INDEX = 2**64 - 1
# What Python and sed write for a group, which Rust's replacements take as it stands.
_PYTHON_GROUP = re.compile(r"\\(?:(\d+)|g<(\w+)>)")


class _Named(Protocol):
    @property
    def name(self) -> str: ...

    def rename(self, name: str, /) -> Self: ...


T = TypeVar("T", bound=_Named)


class NameCollision(BurnpyError, ValueError):
    """Two tensors would have the same name.

    Attributes:
        name: the name that both would have.
        sources: the two names that they have now.
    """

    def __init__(self, message: str = "", *, name: str = "", sources: tuple[str, str] = ("", "")) -> None:
        super().__init__(message)
        self.name = name
        self.sources = sources


class KeyRemapper:
    r"""An ordered list of patterns with what takes the place of their matches.

    A name goes through all patterns in turn; each works on what the one before it left, and replaces every match.
    In a replacement ``$1``, ``${1}``, ``$name`` and ``${name}`` stand for groups and ``$$`` for a dollar. The name of
    a group is as long as it can be: ``$1_x`` is the group ``1_x``, which is empty; write ``${1}_x``.

    Args:
        patterns: pairs of regex and replacement.

    Raises:
        ValueError: a regex is invalid, or a replacement has ``\1`` where ``$1`` is meant.

    Example:
        >>> remapper = KeyRemapper().add_pattern(r"^conv(\d)\.", "layers.$1.")
        >>> remapper.remap_names(["conv1.weight", "fc.bias"])
        [('layers.1.weight', 'conv1.weight'), ('fc.bias', 'fc.bias')]
    """

    def __init__(self, patterns: Iterable[tuple[str, str]] = ()) -> None:
        self.patterns: list[tuple[Regex, str]] = []
        for from_pattern, to_pattern in patterns:
            self.add_pattern(from_pattern, to_pattern)

    @classmethod
    def from_patterns(cls, patterns: Sequence[tuple[str, str]]) -> Self:
        """A remapper of pairs of regex and replacement."""
        return cls(patterns)

    @classmethod
    def from_pattern_iter(cls, patterns: Iterable[tuple[str, str]]) -> Self:
        """As ``from_patterns``, under Burn's name for an iterator."""
        return cls(patterns)

    @classmethod
    def from_compiled_patterns(cls, patterns: Iterable[tuple[Regex, str]]) -> Self:
        """A remapper of what ``to_regex_pairs`` gave."""
        remapper = cls()
        remapper.patterns = [(regex, _replacement(to_pattern)) for regex, to_pattern in patterns]
        return remapper

    def add_pattern(self, from_pattern: str, to_pattern: str) -> Self:
        """Add a pattern at the end, and return the remapper."""
        self.patterns.append((Regex(from_pattern), _replacement(to_pattern)))
        return self

    def is_empty(self) -> bool:
        """Whether every name stays."""
        return not self.patterns

    def to_regex_pairs(self) -> list[tuple[Regex, str]]:
        """The compiled patterns with their replacements, in order."""
        return list(self.patterns)

    def remap(self, tensors: Iterable[T]) -> tuple[list[T], list[tuple[str, str]]]:
        """The tensors under their new names, and a pair ``(new, old)`` for every one, changed or not.

        Raises:
            NameCollision: two would have one name. Unlike Burn, where the last one wins.
        """
        return _rename(tensors, self.remap_names)

    def remap_names(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """As ``remap``, for names alone."""
        names = list(names)
        return _without_collision(replace_names(names, self.patterns), names)

    def unused(self, names: Iterable[str]) -> list[str]:
        """Patterns that match none of the names, as the patterns before them left those: likely a mistake.

        Example:
            >>> KeyRemapper([("^fc", "head"), ("^fc", "body")]).unused(["fc.weight"])
            ['^fc']
        """
        names, unused = list(names), []
        for regex, to_pattern in self.patterns:
            if not any(map(regex.is_match, names)):
                unused.append(regex.pattern)
            names = replace_names(names, [(regex, to_pattern)])
        return unused

    def __repr__(self) -> str:
        return f"KeyRemapper({[(regex.pattern, to_pattern) for regex, to_pattern in self.patterns]})"


def map_indices_contiguous(tensors: Iterable[T]) -> tuple[list[T], list[tuple[str, str]]]:
    """The tensors with their numbers closed up, and a pair ``(new, old)`` for every one.

    Every part of a name that is a number is counted anew from 0, in ascending order, beside the others after the same
    original parts: ``fc.0``, ``fc.2``, ``fc.4`` become ``fc.0``, ``fc.1``, ``fc.2``. PyTorch's ``Sequential`` leaves
    gaps where layers without weights stand. Numbers that begin above 0 for a reason are counted anew too: name them
    in ``map_indices_contiguous_except``.

    Raises:
        NameCollision: ``00`` and ``0`` stand beside each other.
    """
    return map_indices_contiguous_except(tensors, lambda _key: False)


def map_indices_contiguous_except(
    tensors: Iterable[T], keep: Callable[[str], bool]
) -> tuple[list[T], list[tuple[str, str]]]:
    """As ``map_indices_contiguous``, but numbers stay after each prefix that ``keep`` is true for.

    The prefix is all original parts before the number, joined with dots, and empty at the front. Every level is
    decided on its own.
    """
    if not callable(keep):
        raise TypeError(f"keep must be callable, got {type(keep).__name__}")
    return _rename(tensors, lambda names: contiguous_names(names, keep))


def contiguous_names(
    names: Iterable[str], keep: Callable[[str], bool] = lambda _key: False
) -> list[tuple[str, str]]:
    """As ``map_indices_contiguous_except``, for names alone.

    Example:
        >>> contiguous_names(["fc.0.weight", "fc.2.weight"])
        [('fc.0.weight', 'fc.0.weight'), ('fc.1.weight', 'fc.2.weight')]
    """
    names = list(names)
    seen: dict[str, set[int]] = {}
    for name in names:
        for _, key, index in _indices(name.split(".")):
            seen.setdefault(key, set()).add(index)
    places = {
        key: {index: place for place, index in enumerate(sorted(found))}
        for key, found in seen.items()
        if not keep(key)
    }
    return _without_collision([_renumbered(name, places) for name in names], names)


def _indices(parts: Sequence[str]) -> Iterator[tuple[int, str, int]]:
    """The numbers among the parts of a name: position, what stands before it, number."""
    for position, part in enumerate(parts):
        digits = part.lstrip("0")
        if _INDEX.fullmatch(part) and len(digits) <= 20 and int(digits or "0") <= _MAX_INDEX:
            yield position, ".".join(parts[:position]), int(digits or "0")


def _renumbered(name: str, places: dict[str, dict[int, int]]) -> str:
    original = name.split(".")
    parts = list(original)
    for position, key, index in _indices(original):
        if key in places:
            parts[position] = str(places[key][index])
    return ".".join(parts)


def _rename(
    tensors: Iterable[T], pairs_of: Callable[[list[str]], list[tuple[str, str]]]
) -> tuple[list[T], list[tuple[str, str]]]:
    tensors = list(tensors)
    pairs = pairs_of([tensor.name for tensor in tensors])
    renamed = [tensor.rename(new) for tensor, (new, _) in zip(tensors, pairs, strict=True)]
    return renamed, pairs


def _without_collision(new_names: Sequence[str], names: Sequence[str]) -> list[tuple[str, str]]:
    taken: dict[str, str] = {}
    for new, old in zip(new_names, names, strict=True):
        if new in taken:
            message = f"{taken[new]!r} and {old!r} would both be named {new!r}"
            raise NameCollision(message, name=new, sources=(taken[new], old))
        taken[new] = old
    return list(zip(new_names, names, strict=True))


def _replacement(text: str) -> str:
    if found := _PYTHON_GROUP.search(text):
        hint = f"${{{found[1] or found[2]}}}"
        raise ValueError(f"replacement {text!r}: write {hint} for the group, {found[0]} means nothing here")
    return text
