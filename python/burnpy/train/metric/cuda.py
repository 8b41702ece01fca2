"""What NVIDIA's cards are doing."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from burnpy.train.metric.metric import Metric, MetricMetadata
from burnpy.train.metric.number_text import plain_float
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["CudaMetric"]


class CudaMetric(Metric):
    """Memory, use and power of each card, as text; ``Unavailable`` without a card or the package nvidia-ml-py.

    Example:
        >>> CudaMetric().name()
        'Cuda'

    Source: Burn ``metric::CudaMetric``.
    """

    def name(self) -> str:
        """``Cuda``."""
        return "Cuda"

    def update(self, input: Any = None, metadata: MetricMetadata | None = None) -> SerializedEntry:
        """Take a batch in."""
        return self.compute()

    def compute(self) -> SerializedEntry:
        """The epoch so far."""
        try:
            import pynvml
        except ImportError:
            return SerializedEntry("Unavailable", "Unavailable")
        return _report(pynvml)

    def clear(self) -> None:
        """Nothing: there is only the last reading."""


def _report(nvml: ModuleType) -> SerializedEntry:
    try:
        nvml.nvmlInit()
        cards = [nvml.nvmlDeviceGetHandleByIndex(i) for i in range(nvml.nvmlDeviceGetCount())]
        memories = [nvml.nvmlDeviceGetMemoryInfo(card) for card in cards]
        uses = [nvml.nvmlDeviceGetUtilizationRates(card).gpu for card in cards]
    except nvml.NVMLError:
        return SerializedEntry("Unavailable", "Unavailable")
    lines = []
    serialized = ""
    for i, (card, memory, use) in enumerate(zip(cards, memories, uses, strict=True)):
        used, total = memory.used * 1e-9, memory.total * 1e-9
        lines.append(f" GPU #{i} - Memory {used:.2f}/{total:.2f} Gb - Usage {use}%{_power(nvml, card)}")
        serialized = f"{plain_float(used)}/{plain_float(total)} "
    return SerializedEntry("".join(lines), serialized)


def _power(nvml: ModuleType, card: Any) -> str:
    try:
        return f" - Power {nvml.nvmlDeviceGetPowerUsage(card) / 1000:.1f} W"
    except nvml.NVMLError:
        return ""
