"""A typed configuration out of plain data."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

from burnpy.errors import PytorchError

__all__ = ["config_of"]


def config_of(cls: Any, data: Any) -> Any:
    """An object of a dataclass, or of any type that plain data can have.

    Raises:
        PytorchError: of the kind ``Serde``: something is missing, or of another type; the message says where.

    Example:
        >>> @dataclasses.dataclass
        ... class Size:
        ...     width: int
        ...     scale: float = 1.0
        >>> config_of(Size, {"width": 3, "note": "left out"})
        Size(width=3, scale=1.0)
    """
    return _value(cls, data, "the configuration")


def _value(wanted: Any, data: Any, where: str) -> Any:
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if wanted is Any:
        return data
    if origin in (types.UnionType, typing.Union):
        return _one_of(arguments, data, where)
    if dataclasses.is_dataclass(wanted):
        return _object(wanted, data, where)
    if origin in (list, tuple):
        item = arguments[0] if arguments else Any
        items = _typed(list, data, where)
        return origin(_value(item, each, f"{where}[{i}]") for i, each in enumerate(items))
    if origin is dict:
        entries = _typed(dict, data, where)
        return {key: _value(arguments[1], each, f"{where}.{key}") for key, each in entries.items()}
    return _typed(type(None) if wanted is None else wanted, data, where)


def _one_of(wanted: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None and type(None) in wanted:
        return None
    faults = []
    for each in wanted:
        try:
            return _value(each, data, where)
        except PytorchError as error:
            faults.append(error)
    raise faults[0]


def _object(cls: Any, data: Any, where: str) -> Any:
    entries = _typed(dict, data, where)
    hints = typing.get_type_hints(cls)
    values = {}
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        if field.name in entries:
            values[field.name] = _value(hints[field.name], entries[field.name], f"{where}.{field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise PytorchError(f"{where}: the field {field.name!r} is missing", kind="Serde")
    return cls(**values)


def _typed(wanted: Any, data: Any, where: str) -> Any:
    # A flag is no number, although Python says so; and a whole number is no float, as in Burn.
    is_right = isinstance(data, wanted) and (wanted is bool or not isinstance(data, bool))
    if not is_right:
        found = getattr(data, "type_name", type(data).__name__)
        raise PytorchError(f"{where} must be {wanted.__name__}, found {found}", kind="Serde")
    return data
