"""What became of each tensor when a checkpoint was applied: a result that says all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from burnpy._core import closest
from burnpy.errors import BurnpyError

__all__ = [
    "AdapterError",
    "ApplyError",
    "ApplyResult",
    "DTypeMismatch",
    "LoadError",
    "ShapeMismatch",
    "suggestion",
]

T = TypeVar("T")

_SHOWN = 10
_ENUM_HINT = (
    "{count} of these lie below an enum variant, whose name PyTorch's names do not have:",
    "  leave it out with skip_enum_variants(True), or put it in with with_key_remapping(from, to)",
)


class ApplyError(BurnpyError):
    """One tensor was not applied; the subclass says why, under Burn's name of the kind.

    Attributes:
        kind: Burn's name of the kind.
        path: the tensor's path in the module.
    """

    kind: ClassVar[str] = "ApplyError"

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


class ShapeMismatch(ApplyError):
    """The checkpoint's tensor has another shape than the module's.

    Attributes:
        expected: the module's shape.
        found: the checkpoint's shape, after the adapter.

    Example:
        >>> print(ShapeMismatch("fc.weight", expected=(2, 3), found=(3, 2)))
        fc.weight: shape is [3, 2], the module has [2, 3]
    """

    kind = "ShapeMismatch"

    def __init__(self, path: str, *, expected: Sequence[int], found: Sequence[int]) -> None:
        super().__init__(path, f"shape is {list(found)}, the module has {list(expected)}")
        self.expected = tuple(expected)
        self.found = tuple(found)


class DTypeMismatch(ApplyError):
    """The checkpoint's tensor is of another kind than the module's: float, integer or bool.

    Attributes:
        expected: the dtype that the module would have.
        found: the checkpoint's dtype, after the adapter.

    Example:
        >>> print(DTypeMismatch("steps", expected="i64", found="f32"))
        steps: dtype is f32, the module has i64
    """

    kind = "DTypeMismatch"

    def __init__(self, path: str, *, expected: str, found: str) -> None:
        super().__init__(path, f"dtype is {found}, the module has {expected}")
        self.expected = expected
        self.found = found


class AdapterError(ApplyError):
    """The adapter raised.

    Attributes:
        cause: its exception, or its text.

    Example:
        >>> print(AdapterError("fc.weight", ValueError("no such case")))
        fc.weight: the adapter failed: no such case
    """

    kind = "AdapterError"

    def __init__(self, path: str, cause: BaseException | str) -> None:
        super().__init__(path, f"the adapter failed: {cause}")
        self.cause = cause


class LoadError(ApplyError):
    """The tensor's data could not be read.

    Attributes:
        cause: the exception, or its text.

    Example:
        >>> print(LoadError("fc.weight", "the file ends at byte 100"))
        fc.weight: cannot be read: the file ends at byte 100
    """

    kind = "LoadError"

    def __init__(self, path: str, cause: BaseException | str) -> None:
        super().__init__(path, f"cannot be read: {cause}")
        self.cause = cause


@dataclass
class ApplyResult:
    """What was carried, and what was not.

    Attributes:
        applied: paths of the target that have the checkpoint's values, in the target's order.
        skipped: paths that the filter rejected, sorted.
        missing: paths of the target that the checkpoint has nothing for, with their container paths, sorted.
        unused: names of the checkpoint that nothing asked for, sorted.
        renamed: new and old name of what was carried under another name.
        cast: path, old and new dtype of what was carried in another dtype.
        errors: what went wrong with single tensors, in the target's order.

    Example:
        >>> result = ApplyResult(applied=["a"], missing=[("b.gamma", "Struct:Norm")], unused=["b.gamma_"])
        >>> result.is_success(), "did you mean 'b.gamma_'?" in str(result)
        (True, True)
    """

    applied: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    cast: list[tuple[str, str, str]] = field(default_factory=list)
    errors: list[ApplyError] = field(default_factory=list)

    def is_success(self) -> bool:
        """Whether there was no error; missing tensors are none."""
        return not self.errors

    def __str__(self) -> str:
        lines = _counters(self)
        lines += _section("missing", self.missing, self._missing_lines, _enum_hint(self.missing))
        lines += _section("unused", self.unused, lambda name: [name])
        lines += _section("errors", self.errors, lambda error: [str(error)])
        lines += _section("renamed", self.renamed, lambda pair: [f"{pair[1]} -> {pair[0]}"])
        lines += _section("cast", self.cast, lambda one: [f"{one[0]}: {one[1]} -> {one[2]}"])
        return "\n".join(lines)

    __repr__ = __str__

    def _missing_lines(self, missing: tuple[str, str]) -> list[str]:
        path, container_path = missing
        lines = [f"{path} ({container_path})" if container_path else path]
        meant = suggestion(path, self.unused)
        return lines if meant is None else [*lines, f"  did you mean {meant!r}?"]


def suggestion(path: str, unused: Sequence[str]) -> str | None:
    """The unused name that a missing path probably means.

    That is the path without the first part that looks like an enum variant, if it is unused; else the name that is
    most like the path, from a similarity of 0.7 on.

    Example:
        >>> suggestion("feature.BaseConv.weight", ["classifier.weight", "feature.weight"])
        'feature.weight'
    """
    parts = path.split(".")
    for position in range(1, len(parts) - 1):
        if _looks_like_a_variant(parts[position]):
            stripped = ".".join(parts[:position] + parts[position + 1 :])
            if stripped in unused:
                return stripped
            break
    return closest(path, sorted(unused))


def _looks_like_a_variant(part: str) -> bool:
    return len(part.encode()) > 1 and part[0].isupper() and any(letter.islower() for letter in part[1:])


def _counters(result: ApplyResult) -> list[str]:
    edge = f"+{'-' * 22}+"
    names = ("applied", "skipped", "missing", "unused", "errors")
    return [edge, *(f"| {name:<10}{len(getattr(result, name)):>10} |" for name in names), edge]


def _section(
    title: str, listed: Sequence[T], lines_of: Callable[[T], Iterable[str]], hint: Sequence[str] = ()
) -> list[str]:
    if not listed:
        return []
    shown = [line for one in listed[:_SHOWN] for line in lines_of(one)]
    more = [f"... and {len(listed) - _SHOWN} more"] if len(listed) > _SHOWN else []
    return ["", f"{title} ({len(listed)}):", *(f"  {line}" for line in (*hint, *shown, *more))]


def _enum_hint(missing: Sequence[tuple[str, str]]) -> list[str]:
    count = sum("Enum:" in container_path for _, container_path in missing)
    return [line.format(count=count) for line in _ENUM_HINT] if count else []
