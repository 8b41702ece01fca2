"""From the fields of a row to an item: a dataclass, a named tuple, a tuple, a dict or a single value."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar

__all__ = ["ItemType", "Source"]

T = TypeVar("T")
Source = Literal["text", "json", "sql", "msgpack", "frame"]
Read = Callable[[Any], Any]


class ItemType(Generic[T]):
    """What items are made of: field names with types, in order, and the function that builds one.

    Args:
        item: a dataclass or named tuple (fields are found by name); a mapping of names to types (items are dicts); a
            ``tuple[int, str]`` (fields by position); or a single type such as ``int`` (the first column).
        source: where values come from, which decides what is taken for what: numbers from text, truth from numbers
            and NaN from NULL in SQL, an Enum's member from its name, structures from JSON text in SQL.

    Raises:
        TypeError: the type is none of these.

    Example:
        >>> from typing import NamedTuple
        >>> class Row(NamedTuple):
        ...     name: str
        ...     size: float | None
        >>> kind = ItemType(Row, "text")
        >>> kind.names, kind.from_mapping({"size": "", "name": "a", "more": "x"})
        (('name', 'size'), Row(name='a', size=None))
        >>> kind.from_sequence(["a", "tall"])
        Traceback (most recent call last):
        ValueError: field 'size': 'tall' is no float
    """

    names: tuple[str, ...]
    """The fields' names; empty where they are found by position alone."""

    def __init__(self, item: type[T] | Mapping[str, Any] | Any, source: Source) -> None:
        fields, self._build = _fields(item)
        self.names = tuple(name for name, _ in fields if isinstance(name, str))
        self._fields = [(name, reader(hint, source)) for name, hint in fields]
        self.is_single = self._build is _single

    def from_mapping(self, row: Mapping[str, Any]) -> T:
        """An item from values by name, or the first ones if it has no names; surplus ones are ignored.

        One that is missing is ``None`` where the type allows it.
        """
        if not self.names:
            return self.from_sequence(list(row.values())[: len(self._fields)])
        return self._make([row.get(name, MISSING) for name in self.names])

    def from_sequence(self, row: Sequence[Any]) -> T:
        """An item from values by position; one too many raises, unless the item is a single value."""
        if len(row) != len(self._fields) and not (self.is_single and row):
            raise ValueError(f"the item has {len(self._fields)} fields, the row {len(row)}")
        return self._make(row)

    def _make(self, values: Sequence[Any]) -> T:
        made = []
        for (name, read), value in zip(self._fields, values, strict=False):
            try:
                made.append(read(value))
            except (ValueError, TypeError, OverflowError) as error:
                raise ValueError(f"field {name!r}: {error}") from None
        built: T = self._build(made)
        return built


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


def field_types(item: Any) -> list[tuple[str, Any]] | None:
    """The fields of a dataclass or a named tuple, in order, with their types; ``None`` for other types."""
    if not isinstance(item, type):
        return None
    if dataclasses.is_dataclass(item):
        hints = typing.get_type_hints(item, include_extras=False)
        return [(field.name, hints[field.name]) for field in dataclasses.fields(item) if field.init]
    if issubclass(item, tuple) and hasattr(item, "_fields"):
        hints = typing.get_type_hints(item)
        return [(name, hints.get(name, Any)) for name in item._fields]
    return None


def _fields(item: Any) -> tuple[list[tuple[str | int, Any]], Callable[[list[Any]], Any]]:
    if isinstance(item, Mapping):
        return list(item.items()), lambda values: dict(zip(item, values, strict=True))
    named = field_types(item)
    if named is not None:
        return [*named], _builder(item, [name for name, _ in named])
    if typing.get_origin(item) is tuple and Ellipsis not in typing.get_args(item):
        return list(enumerate(typing.get_args(item))), tuple
    if isinstance(item, type) or typing.get_origin(item) is not None:
        return [(0, item)], _single
    raise TypeError(f"item must be a type, or a mapping of names to types, got {item!r}")


def _builder(item: type, names: list[str]) -> Callable[[list[Any]], Any]:
    if issubclass(item, tuple):
        return lambda values: item(*values)
    return lambda values: item(**dict(zip(names, values, strict=True)))


def _single(values: list[Any]) -> Any:
    return values[0]


def reader(hint: Any, source: Source) -> Read:
    """The function that takes a value of a source for one of a type; it raises ``ValueError``."""
    if hint is Any:
        return _present
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return _optional(hint, source)
    if origin is typing.Annotated:
        return reader(typing.get_args(hint)[0], source)
    if origin is not None or hint in (list, dict, tuple):
        return _structure(hint, source)
    if field_types(hint) is not None:
        return _nested(hint, source)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return lambda value: _member(hint, value)
    return _scalar(hint, source)


def _present(value: Any) -> Any:
    if value is MISSING:
        raise ValueError("is missing")
    return value


def _optional(hint: Any, source: Source) -> Read:
    kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
    if len(kinds) == len(typing.get_args(hint)):
        return _present
    inner = reader(kinds[0], source) if len(kinds) == 1 else _present
    none = (None, MISSING, "") if source == "text" else (None, MISSING)
    return lambda value: (
        None if any(value is one or (one == "" and value == "") for one in none) else inner(value)
    )


def _structure(hint: Any, source: Source) -> Read:
    origin, kinds = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin is dict:
        inner = reader(kinds[1] if kinds else Any, source)
        make: Read = lambda value: {key: inner(part) for key, part in _expect(value, Mapping).items()}  # noqa: E731
    elif origin is tuple and kinds and kinds[-1] is not Ellipsis:
        whole: ItemType[Any] = ItemType(hint, source)
        make = lambda value: whole.from_sequence(_expect(value, list, tuple))  # noqa: E731
    elif origin in (list, tuple) or (isinstance(origin, type) and issubclass(origin, Sequence)):
        inner = reader(kinds[0] if kinds else Any, source)
        container = tuple if origin is tuple else list
        make = lambda value: container(inner(part) for part in _expect(value, list, tuple, bytes))  # noqa: E731
    else:
        raise TypeError(f"no field can be of type {hint}")
    return _from_json_text(make) if source in ("sql", "text") else make


def _nested(hint: type, source: Source) -> Read:
    kind: ItemType[Any] = ItemType(hint, source)

    def make(value: Any) -> Any:
        by_name = isinstance(_expect(value, Mapping, list, tuple), Mapping)
        return kind.from_mapping(value) if by_name else kind.from_sequence(value)

    return _from_json_text(make) if source in ("sql", "text") else make


def _from_json_text(make: Read) -> Read:
    return lambda value: make(json.loads(value) if isinstance(value, str) else value)


def _expect(value: Any, *kinds: type) -> Any:
    if not isinstance(value, kinds):
        raise ValueError(f"{_shown(value)} is no {' or '.join(kind.__name__.lower() for kind in kinds)}")
    return value


def _member(hint: type[enum.Enum], value: Any) -> enum.Enum:
    try:
        return hint[value]
    except KeyError:
        raise ValueError(f"{_shown(value)} is no member of {hint.__name__}") from None


def _scalar(hint: Any, source: Source) -> Read:
    rules = {bool: _bool, int: _int, float: _float, str: _str, bytes: _bytes}
    if hint in rules:
        rule = rules[hint]
        return lambda value: rule(value, source)
    if hasattr(hint, "dtype") and isinstance(hint, type):  # NumPy's scalar types
        rule = _float if hint.__name__.startswith("float") else _int
        return lambda value: hint(rule(value, source))
    if not isinstance(hint, type):
        raise TypeError(f"no field can be of type {hint}")
    return lambda value: _expect(value, hint)


def _bool(value: Any, source: Source) -> bool:
    if source == "text":
        if value in ("true", "false"):
            return bool(value == "true")
    elif isinstance(value, bool) or (source == "sql" and isinstance(value, int | float)):
        return bool(value)
    raise _not(value, "bool")


def _int(value: Any, source: Source) -> int:
    if source == "text" and isinstance(value, str) and value.isascii() and value.lstrip("+-").isdigit():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if source == "frame" and isinstance(value, datetime.date | datetime.time):
        return _days_or_nanoseconds(value)
    raise _not(value, "int")


def _days_or_nanoseconds(value: datetime.date | datetime.time) -> int:
    if isinstance(value, datetime.time):
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        return seconds * 1_000_000_000 + value.microsecond * 1000
    if isinstance(value, datetime.datetime):
        raise _not(value, "int")
    return (value - datetime.date(1970, 1, 1)).days


def _float(value: Any, source: Source) -> float:
    if source == "text" and isinstance(value, str) and value == value.strip() and "_" not in value:
        try:
            return float(value)
        except ValueError:
            raise _not(value, "float") from None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if source == "sql" and value is None:
        return math.nan
    raise _not(value, "float")


def _str(value: Any, source: Source) -> str:
    if isinstance(value, str):
        return value
    raise _not(value, "str")


def _bytes(value: Any, source: Source) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if source != "text" and isinstance(value, list) and all(isinstance(one, int) for one in value):
        return bytes(value)
    raise _not(value, "bytes")


def _not(value: Any, wanted: str) -> ValueError:
    return ValueError("is missing" if value is MISSING else f"{_shown(value)} is no {wanted}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
