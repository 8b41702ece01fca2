"""How hot the processor is."""

from __future__ import annotations

from typing import Any

from burnpy.train.metric.machine import LastReading, read_cpu_temperature, two_decimals
from burnpy.train.metric.metric import MetricAttributes, MetricMetadata, NumericAttributes
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["CpuTemperature"]


class CpuTemperature(LastReading):
    """Degrees Celsius of the hottest sensor of the processor, read with every batch; NaN if there is none.

    Example:
        >>> CpuTemperature().attributes().unit
        '°C'

    Source: Burn ``metric::CpuTemperature``.
    """

    def name(self) -> str:
        """``CPU Temperature``."""
        return "CPU Temperature"

    def attributes(self) -> MetricAttributes:
        """Unit and direction."""
        return NumericAttributes("°C", higher_is_better=False)

    def update(self, input: Any = None, metadata: MetricMetadata | None = None) -> SerializedEntry:
        """Take a batch in."""
        self.reading = read_cpu_temperature()
        return self.entry()

    def entry(self) -> SerializedEntry:
        """What to say of the last reading."""
        text = two_decimals(self.reading)
        return SerializedEntry(f"{self.name()}: {text} °C", text)
