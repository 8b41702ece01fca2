"""Which tensors are meant: by pattern, by full path, by a function of the caller's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from burnpy._core import Regex

if TYPE_CHECKING:
    from typing import Self

__all__ = ["PathFilter", "Predicate"]

Predicate: TypeAlias = Callable[[str, str], bool]
"""A function of a path and its container path (``"Struct:Model.Struct:Linear"``, empty where it is not known)."""


class PathFilter:
    r"""Accepts a path that any one of its criteria accepts; without criteria it accepts none.

    Criteria are joined by OR alone; a predicate says everything else. Methods that add change the filter and return
    it, so that they can be chained; ``a | b`` is a new filter.

    Args:
        regexes: patterns in the syntax of Rust's crate ``regex``, found anywhere in a path.
        full_paths: paths that are meant exactly.
        predicates: functions of path and container path.
        match_all: accept every path.

    Raises:
        ValueError: a regex is invalid; the message tells where.
        TypeError: a single text where several are wanted, or a predicate that cannot be called.

    Example:
        >>> encoder = PathFilter(regexes=[r"^encoder\..*"]).with_full_path("head.bias")
        >>> encoder.matches("encoder.fc.weight"), encoder.matches("head.bias"), encoder.matches("head.weight")
        (True, True, False)
        >>> encoder
        PathFilter[regex: [^encoder\..*], paths: [head.bias]]
    """

    def __init__(
        self,
        *,
        regexes: Iterable[str] = (),
        full_paths: Iterable[str] = (),
        predicates: Iterable[Predicate] = (),
        match_all: bool = False,
    ) -> None:
        self._match_all = bool(match_all)
        self.clear_regex()
        self.clear_paths()
        self.clear_predicates()
        self.with_regexes(regexes).with_full_paths(full_paths).with_predicates(predicates)

    @staticmethod
    def none() -> PathFilter:
        """A filter that accepts nothing."""
        return PathFilter()

    @staticmethod
    def all() -> PathFilter:
        """A filter that accepts everything."""
        return PathFilter(match_all=True)

    @staticmethod
    def from_regex_patterns(patterns: Iterable[str]) -> PathFilter:
        """A filter of patterns alone."""
        return PathFilter(regexes=patterns)

    @staticmethod
    def from_paths(paths: Iterable[str]) -> PathFilter:
        """A filter of full paths alone."""
        return PathFilter(full_paths=paths)

    @staticmethod
    def from_predicate(predicate: Predicate) -> PathFilter:
        """A filter of one predicate."""
        return PathFilter(predicates=[predicate])

    def with_regex(self, pattern: str) -> Self:
        """Accept paths in which the pattern is found."""
        self._regexes.append(Regex(pattern))
        return self

    def with_regexes(self, patterns: Iterable[str]) -> Self:
        """As ``with_regex``, for several; none is added if one is invalid."""
        self._regexes.extend([Regex(pattern) for pattern in _several("regexes", patterns)])
        return self

    def with_full_path(self, path: str) -> Self:
        """Accept this very path."""
        return self.with_full_paths([path])

    def with_full_paths(self, paths: Iterable[str]) -> Self:
        """Accept these very paths."""
        paths = list(_several("full_paths", paths))
        for path in paths:
            if not isinstance(path, str):
                raise TypeError(f"a full path must be a text, got {type(path).__name__}")
        self._paths.extend(paths)
        self._path_set.update(paths)
        return self

    def with_predicate(self, predicate: Predicate) -> Self:
        """Accept paths for which a function of path and container path is true."""
        return self.with_predicates([predicate])

    def with_predicates(self, predicates: Iterable[Predicate]) -> Self:
        """As ``with_predicate``, for several."""
        predicates = list(predicates)
        for predicate in predicates:
            if not callable(predicate):
                raise TypeError(f"a predicate must be callable, got {type(predicate).__name__}")
        self._predicates.extend(predicates)
        return self

    def match_all(self) -> Self:
        """Accept every path."""
        self._match_all = True
        return self

    def matches(self, path: str) -> bool:
        """Whether the path is accepted; its container path counts as empty."""
        return self.matches_with_container(path, "")

    def matches_with_container(self, path: str, container_path: str) -> bool:
        """Whether the path is accepted, its container path known."""
        return (
            self._match_all
            or path in self._path_set
            or any(regex.is_match(path) for regex in self._regexes)
            or any(predicate(path, container_path) for predicate in self._predicates)
        )

    def matches_with_container_path_str(self, path: str, container_path: str) -> bool:
        """As ``matches_with_container``, under Burn's other name."""
        return self.matches_with_container(path, container_path)

    def matches_with_container_path(self, path: Sequence[str], container: Sequence[str]) -> bool:
        """As ``matches_with_container``, the parts not joined yet."""
        return self.matches_with_container(
            ".".join(_several("path", path)), ".".join(_several("container", container))
        )

    def unused(self, paths: Iterable[str]) -> list[str]:
        """Patterns and full paths that accept none of the paths: likely a mistake."""
        paths = set(paths)
        regexes = [regex.pattern for regex in self._regexes if not any(map(regex.is_match, paths))]
        return [*regexes, *(path for path in self._paths if path not in paths)]

    def is_empty(self) -> bool:
        """Whether there is nothing by which it could accept a path."""
        return self.criteria_count() == 0

    def criteria_count(self) -> int:
        """How many criteria there are; 1 if it accepts everything."""
        if self._match_all:
            return 1
        return len(self._regexes) + len(self._paths) + len(self._predicates)

    def clear_regex(self) -> None:
        """Take all patterns away."""
        self._regexes: list[Regex] = []

    def clear_paths(self) -> None:
        """Take all full paths away."""
        # The list is for people and keeps order and repetitions; the set answers.
        self._paths: list[str] = []
        self._path_set: set[str] = set()

    def clear_predicates(self) -> None:
        """Take all predicates away."""
        self._predicates: list[Predicate] = []

    def clear(self) -> None:
        """Take everything away: nothing is accepted any more."""
        self.clear_regex()
        self.clear_paths()
        self.clear_predicates()
        self._match_all = False

    def or_(self, other: PathFilter) -> PathFilter:
        """A filter that accepts what either accepts; neither of the two is changed."""
        if self._match_all or other._match_all:
            return PathFilter.all()
        union = PathFilter(
            full_paths=self._paths + other._paths, predicates=self._predicates + other._predicates
        )
        union._regexes = self._regexes + other._regexes
        return union

    def __or__(self, other: object) -> PathFilter:
        return self.or_(other) if isinstance(other, PathFilter) else NotImplemented

    def __repr__(self) -> str:
        if self._match_all:
            return "PathFilter::all()"
        parts = []
        if self._regexes:
            parts.append(f"regex: [{', '.join(regex.pattern for regex in self._regexes)}]")
        if self._paths:
            parts.append(f"paths: [{', '.join(self._paths)}]")
        if self._predicates:
            parts.append(f"predicates: {len(self._predicates)}")
        return f"PathFilter[{', '.join(parts)}]" if parts else "PathFilter::none()"


def _several(argument: str, values: Iterable[str]) -> Iterable[str]:
    # A text is an iterable of its letters, and a filter of single letters would accept nearly everything.
    if isinstance(values, str):
        raise TypeError(f"{argument} must be several texts, got the single text {values!r}")
    return values
