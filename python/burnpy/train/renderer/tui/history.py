"""Values of one metric over a run, in bounded memory, for plots."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from burnpy.train.metric.numeric_entry import NumericEntry

__all__ = ["History", "Point", "Series"]

Point = tuple[int, float]

_FULL, _RECENT = 250, 1000


@dataclass(slots=True)
class Series:
    """The points of one group of a metric.

    Attributes:
        limit: how many points of the whole run are kept; every second one goes when there are more.
        full: points of the whole run.
        recent: the last points.
    """

    limit: int
    full: list[Point] = field(default_factory=list)
    recent: deque[Point] = field(default_factory=deque)
    _step: int = 1
    _sum: float = 0.0
    _weight: float = 0.0
    _final: float | None = None

    @property
    def bar(self) -> float | None:
        """The value of the last epoch, or before there is one the mean of all values; ``None`` before the first."""
        if self._final is not None:
            return self._final
        return self._sum / self._weight if self._weight else None

    def push(self, x: int, entry: NumericEntry) -> None:
        """Take a value at a step; that of an epoch is a point only where no batch has values."""
        value = entry.current()
        if isinstance(entry, NumericEntry.Final):
            self._final = value
            if self.full:
                return
        else:
            weight = entry.count if isinstance(entry, NumericEntry.Aggregated) else 1
            self._sum, self._weight = self._sum + value * weight, self._weight + weight
        self.recent.append((x, value))
        if x % self._step == 0:
            self.full.append((x, value))
            if len(self.full) > self.limit:
                self.full = self.full[::2]
                self._step *= 2


class History:
    """All groups of one metric over one count of steps, which every update moves on, also one without a value.

    Args:
        limit: how many points of the training are kept of the whole run.
        window: how many steps back recent points go.
        ratio: items of a group by items of the training, which its limit goes by.

    Example:
        >>> history = History()
        >>> for value in (0.5, 0.25):
        ...     history.push("Train", NumericEntry.Value(value))
        >>> history.push("Train", NumericEntry.Final(0.375))
        >>> history.series["Train"].full, history.series["Train"].bar, history.steps
        ([(0, 0.5), (1, 0.25)], 0.375, 3)

    Source: Burn's terminal interface.
    """

    def __init__(
        self,
        limit: int = _FULL,
        window: int = _RECENT,
        ratio: Callable[[str], float] = lambda group: 1.0,
    ) -> None:
        self.series: dict[str, Series] = {}
        self.steps = 0
        self._limit, self._window, self._ratio = limit, window, ratio

    def push(self, group: str, entry: NumericEntry | None) -> None:
        """Take what a metric said of a group."""
        x, self.steps = self.steps, self.steps + 1
        if entry is not None:
            if group not in self.series:
                self.series[group] = Series(max(round(self._limit * self._ratio(group)), 2))
            self.series[group].push(x, entry)
        for series in self.series.values():
            while series.recent and series.recent[0][0] < self.steps - self._window:
                series.recent.popleft()

    def recent_bounds(self) -> tuple[float, float] | None:
        """The lowest and the highest recent value; ``None`` if there is none."""
        values = [value for series in self.series.values() for _, value in series.recent]
        return (min(values), max(values)) if values else None
