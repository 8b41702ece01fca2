"""Numbers as text: in metric files, and on screen."""

from __future__ import annotations

import math

from burnpy.tensor.text import plain_float

__all__ = ["debug_float", "format_float", "plain_float"]


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
