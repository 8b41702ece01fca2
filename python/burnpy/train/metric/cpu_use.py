"""How busy the processor is."""

from __future__ import annotations

import math
import time
from typing import Any

from burnpy.train.metric.machine import LastReading, read_cpu_times, two_decimals
from burnpy.train.metric.metric import MetricAttributes, MetricMetadata, NumericAttributes
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["CpuUse"]


class CpuUse(LastReading):
    """Percent of the time of all logical CPUs that was not idle since the last look, at most five times a second.

    NaN where the system does not say: Linux does, others with the package psutil.

    Example:
        >>> CpuUse().attributes().unit
        '%'

    Source: Burn ``metric::CpuUse``.
    """

    def __init__(self) -> None:
        super().__init__()
        self._times = read_cpu_times()
        self._at = time.monotonic()

    def name(self) -> str:
        """``CPU Usage``."""
        return "CPU Usage"

    def attributes(self) -> MetricAttributes:
        """Unit and direction."""
        return NumericAttributes("%", higher_is_better=False)

    def update(self, input: Any = None, metadata: MetricMetadata | None = None) -> SerializedEntry:
        """Take a batch in."""
        now = time.monotonic()
        if now - self._at >= 0.2 or math.isnan(self.reading):
            self._look(now)
        return self.entry()

    def entry(self) -> SerializedEntry:
        """What to say of the last reading."""
        text = two_decimals(self.reading)
        return SerializedEntry(f"{self.name()}: {text} %", text)

    def _look(self, now: float) -> None:
        (busy, total), (busy_before, total_before) = read_cpu_times(), self._times
        if total > total_before:
            self.reading = 100.0 * (busy - busy_before) / (total - total_before)
            self._times, self._at = (busy, total), now
