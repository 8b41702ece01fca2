"""Readings of the machine: Linux tells them in files, other systems through psutil, if that is installed."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from burnpy.train.metric.metric import Numeric
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["LastReading", "read_cpu_temperature", "read_cpu_times", "read_memory", "two_decimals"]

T = TypeVar("T")

# Names of the sensors of processors, in /sys and with psutil.
_CPU_SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "x86_pkg_temp", "acpitz")


class LastReading(Numeric):
    """Base of metrics of the machine: an epoch's value is the last reading."""

    def __init__(self) -> None:
        self.reading = math.nan

    @abstractmethod
    def entry(self) -> SerializedEntry:
        """What to say of the last reading."""

    def compute(self) -> SerializedEntry:
        """The epoch so far."""
        return self.entry()

    def clear(self) -> None:
        """Nothing: there is only the last reading."""

    def value(self) -> NumericEntry | None:
        """Of the last batch."""
        return NumericEntry.Value(self.reading)

    def running_value(self) -> NumericEntry | None:
        """Of the epoch so far."""
        return NumericEntry.Value(self.reading)

    def final_value(self) -> NumericEntry:
        """Of the epoch."""
        return NumericEntry.Value(self.reading)


def two_decimals(value: float) -> str:
    """The number with two decimals, or NaN."""
    return "NaN" if math.isnan(value) else f"{value:.2f}"


def read_cpu_times() -> tuple[float, float]:
    """Time of all logical CPUs since the start that was not idle, and all of it, in one unit; 0 if it is unknown."""
    return _read(_linux_cpu_times, _psutil_cpu_times, (0.0, 0.0))


def read_memory() -> tuple[int, int]:
    """Bytes of main memory that are in use, and all of it; 0 if it is unknown."""
    return _read(_linux_memory, _psutil_memory, (0, 0))


def read_cpu_temperature() -> float:
    """Degrees Celsius of the hottest sensor of the processor; NaN if there is none."""
    return _read(_linux_temperature, _psutil_temperature, math.nan)


def _read(linux: Callable[[], T], other: Callable[[ModuleType], T], unknown: T) -> T:
    try:
        return linux()
    except (OSError, ValueError, KeyError):
        pass
    try:
        import psutil
    except ImportError:
        return unknown
    try:
        return other(psutil)
    except (OSError, ValueError, AttributeError):
        return unknown


def _linux_cpu_times() -> tuple[float, float]:
    with open("/proc/stat", encoding="ascii") as file:
        # user nice system idle iowait irq softirq steal; guests are part of the first two
        times = [int(text) for text in file.readline().split()[1:9]]
    total = sum(times)
    return float(total - times[3] - times[4]), float(total)


def _linux_memory() -> tuple[int, int]:
    with open("/proc/meminfo", encoding="ascii") as file:
        kib = {line.split(":")[0]: int(line.split()[1]) for line in file}
    return (kib["MemTotal"] - kib["MemAvailable"]) * 1024, kib["MemTotal"] * 1024


def _linux_temperature() -> float:
    names = [
        *Path("/sys/class/hwmon").glob("hwmon*/name"),
        *Path("/sys/class/thermal").glob("thermal_zone*/type"),
    ]
    of_cpu = [path.parent for path in names if path.read_text().strip() in _CPU_SENSORS]
    readings = [path for folder in of_cpu for path in (*folder.glob("temp*_input"), *folder.glob("temp"))]
    if not readings:
        raise ValueError("no sensor of the processor")
    return max(int(path.read_text()) for path in readings) / 1000


def _psutil_cpu_times(psutil: Any) -> tuple[float, float]:
    times = psutil.cpu_times()
    total = float(sum(times))
    return total - times.idle, total


def _psutil_memory(psutil: Any) -> tuple[int, int]:
    memory = psutil.virtual_memory()
    return int(memory.total - memory.available), int(memory.total)


def _psutil_temperature(psutil: Any) -> float:
    sensors = psutil.sensors_temperatures()
    return float(max(reading.current for name in _CPU_SENSORS for reading in sensors.get(name, ())))
