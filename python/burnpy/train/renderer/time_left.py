"""How long a run will still take."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

__all__ = ["TimeLeft", "duration_text", "run_fraction"]

_LONG_S, _SHORT_S, _SHORT_ITEMS = 30.0, 10.0, 10


def run_fraction(epoch: int, epochs: int, items: int, items_per_epoch: int | None) -> float | None:
    """The part of a run that is done, of all its epochs, validation aside; ``None`` where items are not known.

    Example:
        >>> run_fraction(2, 4, 50, 100)
        0.375
    """
    total = epochs * (items_per_epoch or 0)
    return ((epoch - 1) * (items_per_epoch or 0) + items) / total if total else None


@dataclass(slots=True)
class TimeLeft:
    """Estimates from the speed since a warm-up: 30 seconds, or 10 seconds and 10 items.

    Unlike Burn: the items of the warm-up are not counted as still to be done, so that short runs come to zero.

    Attributes:
        resumed_epoch: the last epoch of an earlier run that goes on in this one; 0 for a new one.

    Source: Burn's terminal interface.
    """

    resumed_epoch: int
    _started_s: float | None = None
    _warm_s: float | None = None
    _warm_items: int = field(default=0)
    # Before it, there is nothing to learn.
    due_s: float = field(default=-math.inf)

    def update(self, now_s: float, items_done: int) -> None:
        """Learn that so many items are done, in all epochs since the start."""
        if self._started_s is None:
            self._started_s = now_s
            self.due_s = now_s + _SHORT_S
        elapsed = now_s - self._started_s
        if self._warm_s is None and (
            elapsed >= _LONG_S or (elapsed >= _SHORT_S and items_done >= _SHORT_ITEMS)
        ):
            self._warm_s, self._warm_items = now_s, items_done
            self.due_s = math.inf

    def fraction(self, epoch: int, epochs: int, items: int, items_per_epoch: int) -> float:
        """The part of what there was to do after the warm-up that is done."""
        done = (epoch - self.resumed_epoch - 1) * items_per_epoch + items
        total = (epochs - self.resumed_epoch) * items_per_epoch
        return (done - self._warm_items) / max(total - self._warm_items, 1)

    def seconds(
        self, now_s: float, epoch: int, epochs: int, items: int, items_per_epoch: int | None
    ) -> int | None:
        """The estimate; ``None`` before there is one."""
        if self._warm_s is None or not items_per_epoch:
            return None
        fraction = self.fraction(epoch, epochs, items, items_per_epoch)
        if fraction <= 0.0:
            return None
        return int(int(now_s - self._warm_s) / fraction * (1.0 - fraction))


def duration_text(seconds: int | None) -> str:
    """A duration in its largest unit.

    Example:
        >>> [duration_text(seconds) for seconds in (55, 61, 7202, 172848, None)]
        ['55 secs', '1 min', '2 hours', '2 days', '---']
    """
    if seconds is None:
        return "---"
    for unit, length in (("day", 86400), ("hour", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}{'s' if seconds >= 2 * length else ''}"
    return f"{seconds} sec{'' if seconds == 1 else 's'}"
