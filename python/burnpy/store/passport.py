"""What only a burnpack says of tensors, as texts in the metadata of a format that has nothing but texts."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from burnpy.pack import Scalar

__all__ = ["KEYS", "Passport"]

_ORDER = "burnpy.order"
_PARAM_IDS = "burnpy.param_ids"
_SCALARS = "burnpy.scalars"
_DTYPES = "burnpy.dtypes"
KEYS = (_ORDER, _PARAM_IDS, _SCALARS, _DTYPES)
_MAX_ID = 2**64 - 1
_SCALAR_KINDS: dict[str, tuple[Callable[[Any], Scalar], type]] = {
    "Int": (Scalar.int_, int),
    "UInt": (Scalar.uint, int),
    "Float": (Scalar.float_, float),
    "Bool": (Scalar.bool_, bool),
}


@dataclass
class Passport:
    """Order, parameter ids, scalars and true dtypes of a checkpoint's tensors.

    Attributes:
        order: names in the order of the data, where the format has an order of its own.
        param_ids: ids of parameters by tensor name.
        scalars: numbers and flags by name.
        dtypes: the true dtype of tensors that are kept under another one: a ``flex32`` as ``f32``.

    Example:
        >>> texts = Passport(param_ids={"w": 7}, scalars={"lr": Scalar.float_(0.5)}).texts()
        >>> texts
        {'burnpy.param_ids': '{"w":7}', 'burnpy.scalars': '{"lr":{"Float":0.5}}'}
        >>> Passport.split({"author": "me"} | texts)[0].param_ids
        {'w': 7}
    """

    order: list[str] = field(default_factory=list)
    param_ids: dict[str, int] = field(default_factory=dict)
    scalars: dict[str, Scalar] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)

    def texts(self) -> dict[str, str]:
        """The metadata that says it; nothing for what is empty."""
        scalars = {name: {scalar.kind: _number(scalar)} for name, scalar in sorted(self.scalars.items())}
        parts = {
            _ORDER: self.order,
            _PARAM_IDS: dict(sorted(self.param_ids.items())),
            _SCALARS: scalars,
            _DTYPES: dict(sorted(self.dtypes.items())),
        }
        return {key: _json(part) for key, part in sorted(parts.items()) if part}

    @classmethod
    def split(cls, metadata: Mapping[str, str]) -> tuple[Passport, dict[str, str]]:
        """The passport in a file's metadata, and the metadata without it.

        A text that is not what it should be, because somebody else uses the key, stays metadata.
        """
        passport, rest = cls(), dict(metadata)
        readers = {_ORDER: _order, _PARAM_IDS: _param_ids, _SCALARS: _scalars, _DTYPES: _dtypes}
        for key, read in readers.items():
            if key not in rest:
                continue
            try:
                part = read(json.loads(rest[key]))
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
                continue
            setattr(passport, key.removeprefix("burnpy."), part)
            del rest[key]
        return passport, rest


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _number(scalar: Scalar) -> Any:
    value = scalar.value
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        # JSON has no such numbers; their bits say also which NaN it is.
        return "0x" + struct.pack(">d", value).hex()
    return value


def _order(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise TypeError("order must be a list of names")
    return value


def _param_ids(value: Any) -> dict[str, int]:
    for number in value.values():
        if type(number) is not int or not 0 <= number <= _MAX_ID:
            raise TypeError("an id is a number of 64 bits")
    return dict(value)


def _scalars(value: Any) -> dict[str, Scalar]:
    return {name: _scalar(**said) for name, said in value.items()}


def _scalar(**said: Any) -> Scalar:
    ((kind, value),) = said.items()
    if kind == "Float" and isinstance(value, str):
        (value,) = struct.unpack(">d", bytes.fromhex(value.removeprefix("0x")))
    make, expected = _SCALAR_KINDS[kind]
    if type(value) is not expected:
        raise TypeError(f"{value!r} is no {kind}")
    return make(value)


def _dtypes(value: Any) -> dict[str, str]:
    if not all(isinstance(dtype, str) for dtype in value.values()):
        raise TypeError("a dtype is a text")
    return dict(value)
