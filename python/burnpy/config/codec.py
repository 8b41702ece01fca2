"""Between the values of configurations and JSON, by the types that their fields declare."""

from __future__ import annotations

import enum
import json
import math
import types
import typing
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from burnpy.config.number import float_text, round_to_f32
from burnpy.config.variant import Variants
from burnpy.errors import ConfigError

__all__ = ["Mismatch", "check_fields", "checked", "decode", "encode", "ordered_fields"]


class Mismatch(Exception):
    """A value that its type does not allow: where, and why."""

    def __init__(self, path: tuple[str, ...], reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{'.'.join(self.path) or 'the configuration'} {self.reason}"


def ordered_fields(cls: type[Any]) -> list[tuple[str, Any]]:
    """Names and types of the fields in the order of the JSON: required, then optional, then those with a default."""
    hints = typing.get_type_hints(cls, include_extras=True)
    names = [field.name for field in fields(cls) if not field.metadata.get("hidden")]
    ranks = {name: _rank(cls, name) for name in names}
    return [(name, hints[name]) for name in sorted(names, key=lambda name: ranks[name])]


def _rank(cls: type[Any], name: str) -> int:
    field = cls.__dataclass_fields__[name]
    if not field.kw_only:
        return 0
    return 1 if field.default is None and not {"computed", "declared"} & set(field.metadata) else 2


def json_key(cls: type[Any], name: str) -> str:
    """The name of a field in the file: without the underscore that Python's keywords need."""
    key = cls.__dataclass_fields__[name].metadata.get("key")
    return key if isinstance(key, str) else name


def encode(value: Any, kind: Any, path: tuple[str, ...] = (), depth: int = 0) -> str:
    """The JSON text of a value, in two-space steps, as Burn prints it."""
    kind, optional = _without_none(kind)
    if value is None and optional:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) or (_float_width(kind) and isinstance(value, int)):
        if not math.isfinite(value):
            raise Mismatch(path, f"is {value}, which JSON cannot hold")
        return float_text(float(value), single=_float_width(kind) == "f32")
    if isinstance(value, enum.Enum):
        return json.dumps(value.value, ensure_ascii=False)
    if isinstance(value, int | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple | list):
        items = [
            (None, item, item_kind)
            for item, item_kind in zip(value, _item_kinds(kind, len(value)), strict=True)
        ]
        return _block("[]", items, path, depth)
    if isinstance(value, Variants):
        return _encode_variant(value, path, depth)
    if hasattr(value, "to_json"):
        return _indented(value.to_json(), depth)
    members = ordered_fields(type(value))
    named = [(json_key(type(value), name), getattr(value, name), of) for name, of in members]
    return _block("{}", named, path, depth)


def _encode_variant(value: Variants, path: tuple[str, ...], depth: int) -> str:
    name, members = type(value).__name__, ordered_fields(type(value))
    if not members:
        return json.dumps(name)
    if _is_bare(type(value), members):
        return _block("{}", [(name, value.value, members[0][1])], path, depth)  # type: ignore[attr-defined]
    inner = [
        (None if value.as_list else json_key(type(value), key), getattr(value, key), kind)
        for key, kind in members
    ]
    text = _block("[]" if value.as_list else "{}", inner, (*path, name), depth + 1)
    indent = "  " * (depth + 1)
    return f"{{\n{indent}{json.dumps(name)}: {text}\n{'  ' * depth}}}"


def _is_bare(cls: type[Variants], members: list[tuple[str, Any]]) -> bool:
    """Whether a variant carries one value without a name."""
    return [member for member, _ in members] == ["value"] and not cls.as_object


def _block(
    brackets: str, items: Sequence[tuple[str | None, Any, Any]], path: tuple[str, ...], depth: int
) -> str:
    if not items:
        return brackets
    indent = "  " * (depth + 1)
    lines = []
    for i, (key, value, kind) in enumerate(items):
        text = encode(value, kind, (*path, key if key is not None else str(i)), depth + 1)
        lines.append(
            f"{indent}{json.dumps(key, ensure_ascii=False)}: {text}" if key is not None else indent + text
        )
    return f"{brackets[0]}\n" + ",\n".join(lines) + f"\n{'  ' * depth}{brackets[1]}"


def _indented(text: str, depth: int) -> str:
    return text.replace("\n", "\n" + "  " * depth)


def decode(value: Any, kind: Any, path: tuple[str, ...] = ()) -> Any:
    """What parsed JSON means for a type."""
    kind, optional = _without_none(kind)
    if value is None and optional:
        return None
    if width := _float_width(kind):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Mismatch(path, f"is {_shown(value)}, not a number")
        return round_to_f32(value) if width == "f32" else float(value)
    if kind in (bool, str):
        if not isinstance(value, kind):
            raise Mismatch(path, f"is {_shown(value)}, not {'true or false' if kind is bool else 'a text'}")
        return value
    if kind is int or _lowest(kind) is not None:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Mismatch(path, f"is {_shown(value)}, not an integer")
        return _bounded(value, kind, path)
    if typing.get_origin(kind) in (tuple, list):
        return _decode_items(value, kind, path)
    if hasattr(kind, "from_json_value"):
        return kind.from_json_value(value)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _decode_enum(value, kind, path)
    if isinstance(kind, type) and issubclass(kind, Variants):
        return _decode_variant(value, kind, path)
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        return _decode_union(value, typing.get_args(kind), path)
    return _decode_fields(value, kind, path)


def _decode_items(value: Any, kind: Any, path: tuple[str, ...]) -> Any:
    if not isinstance(value, list):
        raise Mismatch(path, f"is {_shown(value)}, not a list")
    kinds = _item_kinds(kind, len(value))
    if len(kinds) != len(value):
        raise Mismatch(path, f"has {len(value)} items, not {len(kinds)}")
    items = (
        decode(item, kind, (*path, str(i))) for i, (item, kind) in enumerate(zip(value, kinds, strict=True))
    )
    return typing.get_origin(kind)(items)


def _decode_enum(value: Any, kind: type[enum.Enum], path: tuple[str, ...]) -> enum.Enum:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(str(member.value) for member in kind)
        raise Mismatch(path, f"is {_shown(value)}, not one of {known}") from None


def _decode_variant(value: Any, kind: type[Variants], path: tuple[str, ...]) -> Any:
    name, content = (value, None) if isinstance(value, str) else _single(value)
    cls = kind.variants().get(name) if isinstance(name, str) else None
    if cls is None:
        raise Mismatch(path, f"is {_shown(value)}, not one of {', '.join(kind.variants())}")
    members = ordered_fields(cls)
    if isinstance(value, str) != (not members):
        raise Mismatch(path, f"is {_shown(value)}: {name} has {len(members)} values")
    if not members:
        return cls()
    if _is_bare(cls, members):
        return cls(decode(content, members[0][1], (*path, name)))
    if cls.as_list:
        kinds = tuple(kind for _, kind in members)
        return cls(*decode(content, tuple[kinds], (*path, name)))  # type: ignore[valid-type]
    return _decode_fields(content, cls, (*path, name))


def _single(value: Any) -> tuple[Any, Any]:
    return next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else (None, None)


def _decode_union(value: Any, kinds: tuple[Any, ...], path: tuple[str, ...]) -> Any:
    problems = []
    for kind in kinds:
        try:
            return decode(value, kind, path)
        except Mismatch as problem:
            problems.append(problem)
    raise problems[0]


def _decode_fields(value: Any, cls: type[Any], path: tuple[str, ...]) -> Any:
    if not isinstance(value, dict):
        raise Mismatch(path, f"is {_shown(value)}, not an object")
    found = {}
    for name, kind in ordered_fields(cls):
        key = json_key(cls, name)
        if key in value:
            found[name] = decode(value[key], kind, (*path, key))
        elif _rank(cls, name) != 1 and is_dataclass(cls):
            raise Mismatch((*path, key), "is missing")
    return cls(**found)


def check_fields(value: Any) -> None:
    """Bring every field of a frozen dataclass into the form that its type wants; see :func:`checked`.

    Raises:
        ConfigError: a field is of another type; the message names it.
    """
    try:
        for name, kind in ordered_fields(type(value)):
            object.__setattr__(value, name, checked(getattr(value, name), kind, name))
    except Mismatch as problem:
        raise ConfigError(f"{_type_name(value)}: {problem}", kind="InvalidValue") from None


def _type_name(value: Any) -> str:
    """The name that messages begin with: with its choice, for a variant."""
    return type(value).__qualname__ if isinstance(value, Variants) else type(value).__name__


def checked(value: Any, kind: Any, name: str) -> Any:
    """A field's value as its type wants it: lists for tuples, whole numbers for floats, single precision rounded.

    Raises:
        Mismatch: it is of another type.
    """
    kind, optional = _without_none(kind)
    if value is None and optional:
        return None
    width = _float_width(kind)
    if width or kind is int or _lowest(kind) is not None:
        return _bounded(_checked_number(value, width, name), kind, (name,))
    if kind in (bool, str) and not isinstance(value, kind):
        raise Mismatch((name,), f"must be a {kind.__name__}, got {value!r}")
    if typing.get_origin(kind) in (tuple, list):
        if isinstance(value, str) or not hasattr(value, "__iter__"):
            raise Mismatch((name,), f"must be a sequence, got {value!r}")
        items = list(value)
        kinds = _item_kinds(kind, len(items))
        if len(kinds) != len(items):
            raise Mismatch((name,), f"must have {len(kinds)} values, got {value!r}")
        pairs = enumerate(zip(items, kinds, strict=True))
        return typing.get_origin(kind)(checked(item, of, f"{name}[{i}]") for i, (item, of) in pairs)
    if isinstance(kind, type) and not isinstance(value, kind):
        if isinstance(value, type) and issubclass(value, Variants) and issubclass(value, kind):
            return value()  # a variant that carries nothing, named without being called
        raise Mismatch((name,), f"must be a {kind.__name__}, got {value!r}")
    return value


def _checked_number(value: Any, width: str | None, name: str) -> Any:
    if isinstance(value, bool) or not hasattr(value, "__float__") or isinstance(value, str):
        raise Mismatch((name,), f"must be a number, got {value!r}")
    if width:
        return round_to_f32(float(value)) if width == "f32" else float(value)
    if not hasattr(value, "__index__"):
        raise Mismatch((name,), f"must be an integer, got {value!r}")
    return value.__index__()


def _item_kinds(kind: Any, count: int) -> list[Any]:
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        return list(arguments)
    return [arguments[0] if arguments else Any] * count


def _float_width(kind: Any) -> str | None:
    if typing.get_origin(kind) is typing.Annotated:
        return typing.get_args(kind)[1] if typing.get_args(kind)[0] is float else None
    return "f64" if kind is float else None


def _lowest(kind: Any) -> int | None:
    """The bound of an integer that is declared with one."""
    if typing.get_origin(kind) is typing.Annotated and typing.get_args(kind)[0] is int:
        bound = typing.get_args(kind)[1]
        return bound if isinstance(bound, int) else None
    return None


def _bounded(value: Any, kind: Any, path: tuple[str, ...]) -> Any:
    lowest = _lowest(kind)
    if lowest is not None and value < lowest:
        raise Mismatch(path, f"must be at least {lowest}, got {value}")
    return value


def _without_none(kind: Any) -> tuple[Any, bool]:
    if typing.get_origin(kind) in (typing.Union, types.UnionType) and type(None) in typing.get_args(kind):
        rest = [argument for argument in typing.get_args(kind) if argument is not type(None)]
        return (rest[0] if len(rest) == 1 else typing.Union[tuple(rest)]), True  # noqa: UP007
    return kind, False


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
