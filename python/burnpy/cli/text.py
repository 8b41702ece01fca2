"""Names and numbers as a person may see them on a terminal."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable

__all__ = ["cells", "escape", "json_float", "name_text", "scalar_text", "shape_text", "shorten", "size_text"]

_UNITS = ("kB", "MB", "GB", "TB")


def escape(text: str) -> str:
    r"""Show what a terminal would obey, or hide, as escapes.

    Example:
        >>> escape("a\x1b[31m/\u202eb")
        'a\\x1b[31m/\\u202eb'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def name_text(name: str) -> str:
    """A name as a table shows it: in quotes where its ends cannot be seen.

    Example:
        >>> name_text("w"), name_text(""), name_text(" w")
        ('w', '""', '" w"')
    """
    shown = escape(name)
    return shown if name.strip(" ") == name != "" else f'"{shown}"'


def cells(text: str) -> int:
    """How many columns of a terminal a text takes.

    Example:
        >>> cells("weight"), cells("日本")
        (6, 4)
    """
    return len(text) if text.isascii() else sum(map(_char_cells, text))


def _char_cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def shorten(text: str, width: int) -> str:
    """Cut out of the middle what does not fit: both ends of a tensor's name say which it is.

    Example:
        >>> shorten("encoder.layers.11.attention.weight", 17)
        'encoder.…n.weight'
    """
    if cells(text) <= width:
        return text
    room = max(width - 1, 2)
    tail = _fitting(reversed(text), room // 2)[::-1]
    return _fitting(text, room - cells(tail)) + "…" + tail


def _fitting(chars: Iterable[str], room: int) -> str:
    kept = []
    for char in chars:
        room -= _char_cells(char)
        if room < 0:
            break
        kept.append(char)
    return "".join(kept)


def size_text(num_bytes: int) -> str:
    """Bytes in words.

    Example:
        >>> size_text(999), size_text(131_072), size_text(2_200_000_000)
        ('999 B', '131.1 kB', '2.2 GB')
    """
    if num_bytes < 1000:
        return f"{num_bytes} B"
    power = 1
    # What rounds to 1000.0 of a unit is 1.0 of the next.
    while num_bytes / 1000**power >= 999.95 and power < len(_UNITS):
        power += 1
    return f"{num_bytes / 1000**power:,.1f} {_UNITS[power - 1]}"


def shape_text(shape: Iterable[int]) -> str:
    """A shape in words.

    Example:
        >>> shape_text((2, 3)), shape_text(())
        ('2x3', 'scalar')
    """
    return "x".join(map(str, shape)) or "scalar"


def scalar_text(value: bool | int | float) -> str:
    """A scalar's value in words.

    Example:
        >>> scalar_text(True), scalar_text(3), scalar_text(0.5)
        ('true', '3', '0.5')
    """
    return str(value).lower() if isinstance(value, bool) else repr(value)


def json_float(value: float) -> float | str:
    """A float as JSON can say it; the numbers that it cannot say become words.

    Example:
        >>> json_float(0.5), json_float(float("-inf"))
        (0.5, '-Infinity')
    """
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
