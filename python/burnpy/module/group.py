"""Which parameters are meant."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from burnpy._core import Regex
from burnpy.errors import ParamGroupError
from burnpy.module.param_id import ParamId

if TYPE_CHECKING:
    from burnpy.module.module import Module

__all__ = ["ParamGroup"]

Matcher = tuple[str, Any]


class ParamGroup:
    """A choice of parameters, by id or by path; made by one of the constructors below.

    A path is the names on the way to a parameter joined with dots: ``layers.0.weight``. Where the path is not known,
    matchers of paths match nothing.

    Example:
        >>> group = ParamGroup.from_predicate("backbone").exclude(ParamGroup.from_path("backbone.bias"))
        >>> group.matches(ParamId(1), "backbone.weight"), group.matches(ParamId(2), "backbone.bias")
        (True, False)

    Source: Burn ``module::ParamGroup``.
    """

    __slots__ = ("_excludes", "_matcher", "_regexes")

    def __init__(self, matcher: Matcher, excludes: Matcher | None = None) -> None:
        self._matcher = matcher
        self._excludes = excludes
        self._regexes: dict[str, Regex] = {}
        for pattern in _patterns(matcher):
            try:
                self._regexes[pattern] = Regex(pattern)
            except ValueError as error:
                raise ParamGroupError(str(error)) from None
        for pattern in _patterns(excludes) if excludes else ():
            self._regexes[pattern] = Regex(pattern)

    @classmethod
    def all(cls) -> ParamGroup:
        """Every parameter, also those without a path."""
        return cls(("All", None))

    @classmethod
    def from_ids(cls, ids: Iterable[ParamId]) -> ParamGroup:
        """Those with one of these ids."""
        return cls(("Explicit", tuple(ids)))

    @classmethod
    def ids_from_module(cls, module: Module) -> ParamGroup:
        """All parameters and flags of a module, by id."""
        return cls(("Explicit", tuple(param.id for _, param in module.named_params(flags=True))))

    @classmethod
    def from_path(cls, path: str) -> ParamGroup:
        """The one with exactly this path."""
        return cls.from_paths([path])

    @classmethod
    def from_paths(cls, paths: Iterable[str]) -> ParamGroup:
        """Those with exactly one of these paths."""
        return cls(("Exact", _texts("paths", paths)))

    @classmethod
    def from_predicate(cls, text: str) -> ParamGroup:
        """Those whose path contains the text."""
        return cls.from_predicates([text])

    @classmethod
    def from_predicates(cls, texts: Iterable[str]) -> ParamGroup:
        """Those whose path contains all of the texts; every known path if there are none."""
        return cls(("Include", _texts("texts", texts)))

    @classmethod
    def from_any_predicates(cls, texts: Iterable[str]) -> ParamGroup:
        """Those whose path contains one of the texts; every known path if there are none."""
        return cls(_any("Include", _texts("texts", texts)))

    @classmethod
    def from_regex(cls, pattern: str) -> ParamGroup:
        """Those in whose path the pattern is found, anywhere. The syntax is that of Rust's crate ``regex``.

        Raises:
            ParamGroupError: the pattern is invalid; the message tells where.
        """
        return cls.from_regexes([pattern])

    @classmethod
    def from_regexes(cls, patterns: Iterable[str]) -> ParamGroup:
        """Those in whose path all of the patterns are found; every known path if there are none.

        Raises:
            ParamGroupError: as :meth:`from_regex`.
        """
        return cls(("Regex", _texts("patterns", patterns)))

    @classmethod
    def from_any_regexes(cls, patterns: Iterable[str]) -> ParamGroup:
        """Those in whose path one of the patterns is found; every known path if there are none.

        Raises:
            ParamGroupError: as :meth:`from_regex`.
        """
        return cls(_any("Regex", _texts("patterns", patterns)))

    @classmethod
    def expect(cls, group: object) -> ParamGroup:
        """The group itself, if it is one.

        Raises:
            TypeError: it is none.
        """
        if not isinstance(group, ParamGroup):
            raise TypeError(f"group must be a ParamGroup, got {group!r}")
        return group

    def matches(self, id: ParamId, path: str | None = None) -> bool:
        """Whether a parameter is meant."""
        if self._excludes is not None and self._matches(self._excludes, id, path):
            return False
        return self._matches(self._matcher, id, path)

    def fuse(self, other: ParamGroup) -> ParamGroup:
        """Those of either group. Exclusions of both are kept.

        Unlike Burn: which forgets the exclusions; here a parameter that either group excludes stays excluded unless the
        other one matches it.
        """
        if self._excludes is None and other._excludes is None:
            return ParamGroup(_union(self._matcher, other._matcher))
        return ParamGroup(("Groups", (self, other)))

    def exclude(self, group: ParamGroup) -> ParamGroup:
        """The same without those that another group's matcher matches."""
        excludes = group._matcher if self._excludes is None else _union(self._excludes, group._matcher)
        return ParamGroup(self._matcher, excludes)

    def to_json(self) -> str:
        """The form in configurations, as Burn writes it."""
        excludes = None if self._excludes is None else _matcher_json(self._excludes)
        return json.dumps(
            {"matcher": _matcher_json(self._matcher), "excludes": excludes}, indent=2, ensure_ascii=False
        )

    @classmethod
    def from_json_value(cls, value: Any) -> ParamGroup:
        """The group of parsed JSON.

        Raises:
            ValueError: it is none.
        """
        if not isinstance(value, dict) or "matcher" not in value:
            raise ValueError(f"{value!r} is no parameter group")
        excludes = value.get("excludes")
        return cls(_matcher_of(value["matcher"]), None if excludes is None else _matcher_of(excludes))

    def _matches(self, matcher: Matcher, id: ParamId, path: str | None) -> bool:
        kind, content = matcher
        if kind == "All":
            return True
        if kind == "Explicit":
            return id in content
        if kind == "Combined":
            return any(self._matches(part, id, path) for part in content)
        if kind == "Groups":
            return any(group.matches(id, path) for group in content)
        if path is None:
            return False
        if kind == "Exact":
            return path in content
        if kind == "Include":
            return all(text in path for text in content)
        return all(self._regexes[pattern].is_match(path) for pattern in content)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParamGroup):
            return NotImplemented
        return (self._matcher, self._excludes) == (other._matcher, other._excludes)

    def __hash__(self) -> int:
        return hash((self._matcher, self._excludes))

    def __repr__(self) -> str:
        excludes = "" if self._excludes is None else f", excludes={self._excludes}"
        return f"ParamGroup({self._matcher}{excludes})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ParamGroup, (self._matcher, self._excludes)


def _texts(name: str, texts: Iterable[str]) -> tuple[str, ...]:
    if isinstance(texts, str):
        raise TypeError(f"{name} is a single text, {texts!r}; give a list")
    return tuple(texts)


def _any(kind: str, texts: tuple[str, ...]) -> Matcher:
    # Burn's form, which its files show: no text at all is an empty list of substrings, several come in reverse order.
    if not texts:
        return ("Include", ())
    if len(texts) == 1:
        return (kind, texts)
    return ("Combined", tuple((kind, (text,)) for text in reversed(texts)))


def _union(first: Matcher, second: Matcher) -> Matcher:
    if "All" in (first[0], second[0]):
        return ("All", None)
    parts = [
        part
        for matcher in (first, second)
        for part in (matcher[1] if matcher[0] == "Combined" else [matcher])
    ]
    return ("Combined", tuple(parts))


def _patterns(matcher: Matcher) -> list[str]:
    kind, content = matcher
    if kind == "Combined":
        return [pattern for part in content for pattern in _patterns(part)]
    return list(content) if kind == "Regex" else []


def _matcher_json(matcher: Matcher) -> Any:
    kind, content = matcher
    match kind:
        case "All":
            return "All"
        case "Explicit":
            return {"Explicit": [{"value": id.val()} for id in content]}
        case "Combined":
            return {"Combined": [_matcher_json(part) for part in content]}
        case "Groups":
            raise ParamGroupError("a fusion of groups with exclusions has no form in Burn's JSON")
    return {"Path": {kind: list(content)}}


def _matcher_of(value: Any) -> Matcher:
    match value:
        case "All":
            return ("All", None)
        case {"Explicit": list(ids)}:
            return ("Explicit", tuple(ParamId.from_json_value(id) for id in ids))
        case {"Combined": list(parts)}:
            return ("Combined", tuple(_matcher_of(part) for part in parts))
        case {"Path": dict(path)} if len(path) == 1 and next(iter(path)) in ("Exact", "Include", "Regex"):
            kind, texts = next(iter(path.items()))
            return (kind, tuple(texts))
    raise ValueError(f"{value!r} is no matcher of parameters")
