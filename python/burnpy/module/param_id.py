"""What a parameter is known by, from file to file."""

from __future__ import annotations

import os
from typing import ClassVar

__all__ = ["ParamId"]

_ALPHABET = "0123456789abcdefghijklmnopqrstuv"
_MAX = 2**64 - 1


class ParamId:
    """A 64-bit number that stays with a parameter when it is saved, loaded and cloned.

    Args:
        value: the number. :meth:`new` draws one.

    Raises:
        ValueError: it is negative or over 2⁶⁴ − 1.
        TypeError: it is no integer.

    Example:
        >>> id = ParamId(123456)
        >>> str(id), id.val(), ParamId.parse("83h0200000000") == id
        ('83h0200000000', 123456, True)

    Source: Burn ``module::ParamId``. The text is base 32 (``0-9a-v``) of the eight little-endian bytes.
    """

    __slots__ = ("_value",)
    __match_args__: ClassVar[tuple[str, ...]] = ("_value",)

    def __init__(self, value: int) -> None:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"a ParamId is made of an integer, got {value!r}")
        if not 0 <= value <= _MAX:
            raise ValueError(f"a ParamId lies in [0, {_MAX}], got {value}")
        self._value = value.__index__()

    @classmethod
    def new(cls) -> ParamId:
        """A random one, from the system's generator: no seed repeats it."""
        return cls(int.from_bytes(os.urandom(8), "little"))

    @classmethod
    def parse(cls, text: str) -> ParamId:
        """The one of a text form, upper or lower case; shorter texts are old ids of six bytes, filled with zeros.

        Raises:
            ValueError: it is no such text.
        """
        for character in text.lower():
            if character not in _ALPHABET:
                raise ValueError(f"{text!r} is no ParamId: {character!r} is not one of 0-9, a-v")
        size = len(text) * 5 // 8
        if not 0 < size <= 8 or len(text) != -(-size * 8 // 5):
            raise ValueError(f"{text!r} is no ParamId: {len(text)} characters, expected 13")
        stream = "".join(f"{_ALPHABET.index(c):05b}" for c in text.lower())[: size * 8]
        return cls(int.from_bytes(int(stream, 2).to_bytes(size, "big"), "little"))

    def val(self) -> int:
        """The number."""
        return self._value

    def to_json(self) -> str:
        """The form in configurations."""
        return f'{{\n  "value": {self._value}\n}}'

    @classmethod
    def from_json_value(cls, value: object) -> ParamId:
        """The one of parsed JSON.

        Raises:
            ValueError: it is none.
        """
        match value:
            case {"value": int(number)} if 0 <= number <= _MAX:
                return cls(number)
        raise ValueError(f"{value!r} is no ParamId")

    def __int__(self) -> int:
        return self._value

    def __str__(self) -> str:
        stream = "".join(f"{byte:08b}" for byte in self._value.to_bytes(8, "little")).ljust(65, "0")
        return "".join(_ALPHABET[int(stream[i : i + 5], 2)] for i in range(0, 65, 5))

    def __repr__(self) -> str:
        return f"ParamId({self._value})"

    def __eq__(self, other: object) -> bool:
        return self._value == other._value if isinstance(other, ParamId) else NotImplemented

    def __lt__(self, other: ParamId) -> bool:
        return self._value < other._value

    def __hash__(self) -> int:
        return hash(self._value)
