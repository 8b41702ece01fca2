"""Numbers as text: in metric files, and on screen."""

from __future__ import annotations

import math
from decimal import Decimal

__all__ = ["debug_float", "format_float", "plain_float"]


def plain_float(value: float) -> str:
    """The shortest digits that give the number back, never with an exponent: the form of metric files.

    Example:
        >>> plain_float(50.0), plain_float(1e-7), plain_float(1e21), plain_float(float("nan"))
        ('50', '0.0000001', '1000000000000000000000', 'NaN')
    """
    text = repr(float(value))
    if text.endswith(".0"):
        return text[:-2]
    if "e" in text:
        return format(Decimal(text), "f")
    return text if "n" not in text else _non_finite(value)


def debug_float(value: float) -> str:
    """As ``plain_float``, but always with a decimal point: thresholds in the names of metrics.

    Example:
        >>> debug_float(1.0), debug_float(0.25)
        ('1.0', '0.25')
    """
    text = plain_float(value)
    return text if "." in text or not math.isfinite(value) else f"{text}.0"


def format_float(value: float, precision: int) -> str:
    """The number with so many decimals; in scientific form where few would be left of it, and if it is negative.

    Example:
        >>> format_float(99.995, 2), format_float(0.1, 2), format_float(0.1, 4), format_float(-5.0, 2)
        ('100.00', '1.00e-1', '0.1000', '-5.00e0')
    """
    if not math.isfinite(value):
        return _non_finite(value)
    if value > 0.1 ** (precision - 1):
        return f"{value:.{precision}f}"
    mantissa, exponent = f"{value:.{precision}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _non_finite(value: float) -> str:
    return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
