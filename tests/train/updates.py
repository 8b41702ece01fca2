"""Updates of metrics, as a training makes them."""

from collections.abc import Mapping

from burnpy.train.metric.metric import MetricEntry
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.serialized_entry import SerializedEntry
from burnpy.train.metric.store import MetricsUpdate, NumericMetricUpdate


def entry(name: str, serialized: str) -> MetricEntry:
    return MetricEntry(name, SerializedEntry(f"epoch {serialized}", serialized))


def numeric(name: str, line: str) -> NumericMetricUpdate:
    number = None if line == "N/A" else NumericEntry.deserialize(line)
    return NumericMetricUpdate(entry(name, line), number)


def numbers(lines: Mapping[str, str] | None = None, *, final: bool = False, **more: str) -> MetricsUpdate:
    """What metrics of numbers said, by name."""
    return MetricsUpdate((), [numeric(name, line) for name, line in {**(lines or {}), **more}.items()], final)
