"""Items as MessagePack, in the compact form of Rust's serialiser: structures are arrays of their fields, unnamed."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping
from typing import Any

from burnpy.data.dataset.item import field_types

__all__ = ["decode", "encode"]


def encode(item: Any) -> bytes:
    """An item as one message.

    A dataclass or named tuple becomes an array of its fields in the order of declaration, bytes an array of numbers,
    an Enum's member its name, an int as few bytes as it needs. A Python float has 64 bits; a NumPy scalar its own,
    also where the field's type says ``numpy.float32``.

    Raises:
        TypeError: the item holds something else.
        ImportError: msgpack is not installed.

    Example:
        >>> encode((1, "a", None)).hex()  # doctest: +SKIP
        '9301a161c0'
    """
    return b"".join(_pieces(item, None, _msgpack()))


def decode(message: bytes) -> Any:
    """What a message holds: lists, dicts, text, bytes and numbers.

    Raises:
        ValueError: it is no message, or more than one.
        ImportError: msgpack is not installed.
    """
    msgpack = _msgpack()
    try:
        return msgpack.unpackb(message, raw=False, strict_map_key=False)
    except (ValueError, msgpack.UnpackException) as error:
        raise ValueError(f"no MessagePack item: {type(error).__name__} {error}".rstrip()) from None


def _msgpack() -> Any:
    try:
        import msgpack
    except ImportError as error:
        raise ImportError("items in MessagePack need msgpack: pip install burnpy[msgpack]") from error
    return msgpack


def _pieces(value: Any, hint: Any, msgpack: Any) -> Iterator[bytes]:
    is_structure = dataclasses.is_dataclass(value) or hasattr(value, "_fields")
    if is_structure and not isinstance(value, type):
        fields = field_types(type(value)) or []
        yield msgpack.Packer().pack_array_header(len(fields))
        for name, kind in fields:
            yield from _pieces(getattr(value, name), kind, msgpack)
    elif isinstance(value, enum.Enum):
        yield msgpack.packb(value.name)
    elif isinstance(value, bytes | bytearray):
        yield msgpack.packb(list(value))
    elif isinstance(value, list | tuple):
        yield msgpack.Packer().pack_array_header(len(value))
        inner = getattr(hint, "__args__", (None,))[0]
        for part in value:
            yield from _pieces(part, inner, msgpack)
    elif isinstance(value, Mapping):
        yield msgpack.Packer().pack_map_header(len(value))
        for key, part in value.items():
            yield from _pieces(key, None, msgpack)
            yield from _pieces(part, None, msgpack)
    else:
        yield _single(value, hint, msgpack)


def _single(value: Any, hint: Any, msgpack: Any) -> bytes:
    is_f32 = getattr(hint, "__name__", "") == "float32" or getattr(value, "dtype", None) == "float32"
    plain = value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value
    if plain is not None and not isinstance(plain, bool | int | float | str):
        raise TypeError(f"an item cannot hold {type(value).__name__} in MessagePack")
    packed: bytes = msgpack.packb(plain, use_single_float=is_f32)
    return packed
