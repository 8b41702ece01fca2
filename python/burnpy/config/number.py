"""Numbers as Burn's JSON writes them."""

import math
import struct
from decimal import Decimal
from typing import Annotated

__all__ = ["F32", "NonNegative", "Positive", "float_text", "round_to_f32"]

F32 = Annotated[float, "f32"]
"""A float that Burn keeps in single precision: rounded when the configuration is made, written in its shortest form."""

NonNegative = Annotated[int, 0]
"""An integer of at least 0: a size, where Burn has an unsigned integer."""

Positive = Annotated[int, 1]
"""An integer of at least 1."""


def round_to_f32(value: float) -> float:
    """The double that is the nearest single-precision number; infinite beyond its range.

    Example:
        >>> round_to_f32(0.1)
        0.10000000149011612
    """
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def float_text(value: float, *, single: bool) -> str:
    """The shortest decimal that leads back to the number, in the form that Burn writes.

    Plain from 1e-6 to below 1e13 in single precision, and from 1e-5 to below 1e16 in double; with an exponent outside.

    Example:
        >>> float_text(0.1, single=True), float_text(1e-6, single=False), float_text(3.0, single=True)
        ('0.1', '1e-6', '3.0')
    """
    shortest = _shortest_f32(value) if single else repr(value)
    sign, digits, exponent = Decimal(shortest).normalize().as_tuple()
    assert isinstance(exponent, int), f"{value} is not finite"
    text = "".join(map(str, digits))
    point = len(text) + exponent
    lowest, highest = (-5, 13) if single else (-4, 16)
    minus = "-" if sign else ""
    if text == "0":
        return f"{minus}0.0"
    if not lowest <= point <= highest:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        return f"{minus}{text[0]}{fraction}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{text}"
    return f"{minus}{text[:point].ljust(point, '0')}.{text[point:] or '0'}"


def _shortest_f32(value: float) -> str:
    wanted = round_to_f32(value)
    texts = (f"{wanted:.{precision}g}" for precision in range(1, 10))
    return next(text for text in texts if round_to_f32(float(text)) == wanted)
