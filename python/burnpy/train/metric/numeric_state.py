"""A weighted mean over the batches of an epoch."""

from __future__ import annotations

import math
from typing import TypeAlias

from burnpy.record.state import Float, RecordState, UInt
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.serialized_entry import FormatOptions, NumericText, SerializedEntry

__all__ = ["NumericMetricState", "Snapshot", "entries_of"]

Snapshot: TypeAlias = tuple[float, int, float, int]
"""The last batch with its weight, and the sums: fields of a ``NumericMetricState``."""


class NumericMetricState(RecordState):
    """Sums in double precision: ``mean = Σ value·n / Σ n``; a batch of weight 0 leaves it untouched, even if it is NaN.

    Example:
        >>> state = NumericMetricState()
        >>> for value, n in [(0.7, 256), (0.8, 256), (0.9, 10)]:
        ...     _ = state.update(value, n)
        >>> round(state.running_value().current(), 8)
        0.75287356

    Source: Burn ``metric::state::NumericMetricState``.
    """

    sum: Float = 0.0
    count: UInt = 0
    current: Float = math.nan
    current_count: UInt = 0

    def update(self, value: float, n: int) -> Snapshot | None:
        """Take in a batch of weight ``n``; what the state is then, where a class tells it."""
        self.current = value
        self.current_count = n
        if n > 0:
            self.sum += value * n
            self.count += n
        return value, n, self.sum, self.count

    def running(self) -> float:
        """The mean so far; NaN if nothing was counted."""
        return _mean(self.sum, self.count)

    def compute_update(self, options: FormatOptions) -> SerializedEntry:
        """What to say of a batch."""
        return NumericText(options, self.running(), self.current, self.current_value())

    def compute_final(self, options: FormatOptions) -> SerializedEntry:
        """What to say of the epoch."""
        return NumericText(options, self.running(), self.current, self.final_value())

    def current_value(self) -> NumericEntry:
        """The last batch."""
        return NumericEntry.Aggregated(self.current, self.current_count)

    def running_value(self) -> NumericEntry:
        """The epoch so far."""
        return NumericEntry.Aggregated(self.running(), self.count)

    def final_value(self) -> NumericEntry:
        """The epoch."""
        return NumericEntry.Final(self.running())

    def reset(self) -> None:
        """Forget all batches."""
        self.sum, self.count, self.current, self.current_count = 0.0, 0, math.nan, 0

    def snapshot(self) -> Snapshot:
        """What the state is."""
        return self.current, self.current_count, self.sum, self.count


def entries_of(snapshot: Snapshot) -> tuple[NumericEntry, NumericEntry]:
    """The last batch and the epoch so far, as they were when the snapshot was taken."""
    current, current_count, total, count = snapshot
    return NumericEntry.Aggregated(current, current_count), NumericEntry.Aggregated(
        _mean(total, count), count
    )


def _mean(total: float, count: int) -> float:
    return total / count if count else math.nan
