"""Points and lines on cells of a terminal, eight dots each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

__all__ = ["Canvas"]

# Bits of the dots of a Braille cell, by row and column.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BLANK = 0x2800


class Canvas:
    """A grid of ``width`` by ``height`` cells, twice as many dots across and four times as many down.

    Where series share a cell, it has the colour of the later one.

    Args:
        width: cells across.
        height: cells down.
        x_bounds: what the left and the right edge stand for.
        y_bounds: what the lower and the upper edge stand for.

    Example:
        >>> canvas = Canvas(3, 1, (0, 5), (0, 3))
        >>> canvas.line(0, [(0, 0), (5, 3)])
        >>> canvas.rows()
        [[('⡠', 0), ('⠔', 0), ('⠊', 0)]]
    """

    def __init__(
        self, width: int, height: int, x_bounds: tuple[float, float], y_bounds: tuple[float, float]
    ) -> None:
        self._width, self._height = max(width, 1), max(height, 1)
        self._x, self._y = x_bounds, y_bounds
        self._bits = [[0] * self._width for _ in range(self._height)]
        self._owner: list[list[int | None]] = [[None] * self._width for _ in range(self._height)]

    def scatter(self, series: int, points: Iterable[tuple[float, float]]) -> None:
        """Set a dot per point."""
        for point in points:
            self._set(series, *self._dot(point))

    def line(self, series: int, points: Sequence[tuple[float, float]]) -> None:
        """Join the points in their order."""
        dots = [self._dot(point) for point in points]
        if len(dots) == 1:
            self._set(series, *dots[0])
        for (x0, y0), (x1, y1) in pairwise(dots):
            steps = max(abs(x1 - x0), abs(y1 - y0), 1)
            for step in range(steps + 1):
                self._set(series, x0 + round((x1 - x0) * step / steps), y0 + round((y1 - y0) * step / steps))

    def rows(self) -> list[list[tuple[str, int | None]]]:
        """The cells from top to bottom: a character, and the series that it belongs to."""
        return [
            [(chr(_BLANK + bits) if bits else " ", owner) for bits, owner in zip(line, owners, strict=True)]
            for line, owners in zip(self._bits, self._owner, strict=True)
        ]

    def _dot(self, point: tuple[float, float]) -> tuple[int, int]:
        across = _place(point[0], self._x, 2 * self._width)
        return across, 4 * self._height - 1 - _place(point[1], self._y, 4 * self._height)

    def _set(self, series: int, x: int, y: int) -> None:
        row, column = y // 4, x // 2
        self._bits[row][column] |= _DOTS[y % 4][x % 2]
        self._owner[row][column] = series


def _place(value: float, bounds: tuple[float, float], count: int) -> int:
    low, high = bounds
    if high <= low:
        return count // 2
    return min(max(round((value - low) / (high - low) * (count - 1)), 0), count - 1)
