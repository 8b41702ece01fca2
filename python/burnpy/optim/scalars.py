"""Scalars of update rules, in single precision as Burn computes them."""

from __future__ import annotations

from functools import cache, lru_cache

from burnpy.config.number import round_to_f32

__all__ = ["complement", "correction", "power", "smallest_normal"]


def power(base: float, exponent: int) -> float:
    """``base ** exponent`` by repeated squaring, each product rounded to single precision.

    Example:
        >>> power(0.8999999761581421, 2)
        0.809999942779541
    """
    result = 1.0
    while True:
        if exponent & 1:
            result = round_to_f32(result * base)
        exponent >>= 1
        if not exponent:
            return result
        base = round_to_f32(base * base)


@cache
def complement(beta: float) -> float:
    """``1 - beta``: the weight of what is new in a running mean.

    Example:
        >>> complement(0.8999999761581421)
        0.10000002384185791
    """
    return round_to_f32(1.0 - beta)


@lru_cache(maxsize=256)
def correction(beta: float, time: int) -> float:
    """``1 - beta ** time``: what a running mean that began at zero is divided by.

    Example:
        >>> correction(0.5, 2)
        0.75
    """
    return complement(power(beta, time))


def smallest_normal(dtype: str) -> float:
    """What keeps a norm of zero from dividing: the smallest normal number of an element type.

    Example:
        >>> smallest_normal("f16")
        6.103515625e-05
    """
    return {"f64": 2.0**-1022, "f16": 2.0**-14}.get(dtype, 2.0**-126)
