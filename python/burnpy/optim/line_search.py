"""The search along a line for a step that the strong Wolfe conditions accept."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from burnpy._core import Tensor

__all__ = ["Point", "cubic_interpolate", "strong_wolfe"]

# How much a step must gain, and how flat its end must be, as parts of the slope at the start.
_GAIN, _FLAT = 1e-4, 0.9


class Point(NamedTuple):
    """A place on the line: how far it is, and loss, gradient and slope there."""

    t: float
    loss: float
    gradient: Tensor
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], Point],
    start: Point,
    t: float,
    *,
    longest: float,
    max_ls: int,
    tolerance_change: float,
) -> tuple[Point, int]:
    """A place that gains enough and is flat enough, or the best one found, and how often the loss was computed.

    Args:
        evaluate: the place at a distance.
        start: the place at distance 0.
        t: the first distance that is tried.
        longest: the largest element of the direction, by which a bracket is measured.
        max_ls: how many places are tried after the first.
        tolerance_change: the bracket that is too short to go on.

    Source: Nocedal & Wright 2006, algorithms 3.5 and 3.6.
    """
    bracket, tried = _bracketed(evaluate, start, t, max_ls)
    if len(bracket) == 1:
        return bracket[0], tried + 1
    is_close = False
    while tried < max_ls and abs(bracket[1].t - bracket[0].t) * longest >= tolerance_change:
        place, is_close = _inside(bracket, is_close)
        new = evaluate(place)
        tried += 1
        low = _low(bracket)
        if not (_gains(new, start) and new.loss < bracket[low].loss):
            bracket[1 - low] = new
            continue
        if _is_flat(new, start):
            return new, tried + 1
        if new.slope * (bracket[1 - low].t - bracket[low].t) >= 0.0:
            bracket[1 - low] = bracket[low]
        bracket[low] = new
    return bracket[_low(bracket)], tried + 1


def _bracketed(
    evaluate: Callable[[float], Point], start: Point, t: float, max_ls: int
) -> tuple[list[Point], int]:
    """Two places with a good one between them, or one that is good; and how many were tried after the first."""
    before, new, tried = start, evaluate(t), 0
    while tried < max_ls:
        if not _gains(new, start) or (tried > 1 and new.loss >= before.loss):
            return [before, new], tried
        if _is_flat(new, start):
            return [new], tried
        if new.slope >= 0.0:
            return [before, new], tried
        bounds = (new.t + 0.01 * (new.t - before.t), new.t * 10.0)
        further = _cubic(before, new, bounds)
        before, new = new, evaluate(further)
        tried += 1
    return [start, new], tried


def _inside(bracket: list[Point], was_close: bool) -> tuple[float, bool]:
    """A distance within the bracket, and whether it is close to an end; not twice in a row."""
    t = _cubic(bracket[0], bracket[1])
    low, high = sorted((bracket[0].t, bracket[1].t))
    margin = 0.1 * (high - low)
    if not min(high - t, t - low) < margin:
        return t, False
    if was_close or t >= high or t <= low:
        return (high - margin if abs(t - high) < abs(t - low) else low + margin), False
    return t, True


def _gains(new: Point, start: Point) -> bool:
    return not new.loss > start.loss + _GAIN * new.t * start.slope


def _is_flat(new: Point, start: Point) -> bool:
    return abs(new.slope) <= -_FLAT * start.slope


def _low(bracket: list[Point]) -> int:
    return 0 if bracket[0].loss <= bracket[1].loss else 1


def _cubic(first: Point, second: Point, bounds: tuple[float, float] | None = None) -> float:
    return cubic_interpolate(first.t, first.loss, first.slope, second.t, second.loss, second.slope, bounds)


def cubic_interpolate(
    x1: float,
    f1: float,
    g1: float,
    x2: float,
    f2: float,
    g2: float,
    bounds: tuple[float, float] | None = None,
) -> float:
    """Where the cubic through two values with their slopes is least; the middle of the bounds if nowhere.

    Args:
        x1: the first place.
        f1: the value there.
        g1: the slope there.
        x2: the second place.
        f2: the value there.
        g2: the slope there.
        bounds: what the result is held within, by default the two places.

    Example:
        >>> cubic_interpolate(-1.0, 1.0, -2.0, 1.0, 1.0, 2.0)
        0.0
    """
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    if x1 == x2:
        return (low + high) / 2.0
    d1 = g1 + g2 - 3.0 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0.0:
        return (low + high) / 2.0
    d2 = math.sqrt(square)
    if x1 > x2:
        x1, g1, x2, g2 = x2, g2, x1, g1
    below = g2 - g1 + 2.0 * d2
    if below == 0.0:
        return (low + high) / 2.0
    return min(max(x2 - (x2 - x1) * ((g2 + d2 - d1) / below), low), high)
