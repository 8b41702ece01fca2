"""How much main memory is in use."""

from __future__ import annotations

import math
import time
from typing import Any

from burnpy.train.metric.machine import LastReading, read_memory
from burnpy.train.metric.metric import MetricAttributes, MetricMetadata, NumericAttributes
from burnpy.train.metric.number_text import plain_float
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["CpuMemory"]


class CpuMemory(LastReading):
    """Main memory in use, by all processes, in 10⁹ bytes; looked at most five times a second. NaN if it is unknown.

    Example:
        >>> CpuMemory().attributes().unit
        'Gb'

    Source: Burn ``metric::CpuMemory``.
    """

    def __init__(self) -> None:
        super().__init__()
        self._look(time.monotonic())

    def name(self) -> str:
        """``CPU Memory``."""
        return "CPU Memory"

    def attributes(self) -> MetricAttributes:
        """Unit and direction."""
        return NumericAttributes("Gb", higher_is_better=False)

    def update(self, input: Any = None, metadata: MetricMetadata | None = None) -> SerializedEntry:
        """Take a batch in."""
        now = time.monotonic()
        if now - self._at >= 0.2:
            self._look(now)
        return self.entry()

    def entry(self) -> SerializedEntry:
        """What to say of the last reading."""
        if math.isnan(self.reading):
            return SerializedEntry("RAM Used: NaN", "NaN")
        return SerializedEntry(
            f"RAM Used: {self.reading:.2f} / {self._total:.2f} Gb", plain_float(self.reading)
        )

    def _look(self, now: float) -> None:
        used, total = read_memory()
        self.reading, self._total = (used / 1e9, total / 1e9) if total else (math.nan, math.nan)
        self._at = now
