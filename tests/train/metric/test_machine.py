"""Metrics of the machine, of time, and of the learning rate."""

import math
import sys
import types
from typing import Any

import pytest

from burnpy.errors import ArgumentError
from burnpy.train import metric as m
from burnpy.train.metric import machine


class Progress:
    items_processed = 64


def test_iteration_speed_counts_from_the_first_update(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 12.0, 14.0, 20.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    metric = m.IterationSpeedMetric()
    texts = [metric.update(None, m.MetricMetadata(iteration=i)).serialized for i in (1, 2, 4)]
    assert texts == ["0,1", "1,1", "1,1"]
    assert metric.result() == pytest.approx(2 / 3)
    metric.clear()  # the next epoch starts the clock again, and its own mean
    assert metric.update(None, m.MetricMetadata(iteration=1)).formatted == (
        "epoch 0.00e0 iter/sec - batch 0.00e0 iter/sec"
    )


def test_iteration_speed_takes_items_where_batches_have_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 2.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    metric = m.IterationSpeedMetric()
    metric.update(None, m.MetricMetadata(Progress()))
    assert metric.update(None, m.MetricMetadata(Progress())).serialized == "32,1"
    with pytest.raises(ArgumentError, match="iteration or a progress"):
        metric.update(None, m.MetricMetadata())


def test_the_learning_rate_is_the_base_of_the_module_rate() -> None:
    class Rate:
        def base(self) -> float:
            return 0.25

    metric = m.LearningRateMetric()
    assert metric.update(None, m.MetricMetadata(lr=Rate())).serialized == "0.25,1"
    assert metric.update(None, m.MetricMetadata(lr=0.75)).serialized == "0.75,1"
    assert metric.update(None).serialized == "0,1"
    assert metric.result() == pytest.approx(1 / 3)


def test_cpu_use_is_the_busy_share_since_the_last_look(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([(10.0, 100.0), (35.0, 200.0), (35.0, 300.0)])
    clock = iter([0.0, 0.3, 0.4, 0.6])
    monkeypatch.setattr("burnpy.train.metric.cpu_use.read_cpu_times", lambda: next(times))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    metric = m.CpuUse()
    assert metric.update() == m.SerializedEntry("CPU Usage: 25.00 %", "25.00")
    assert metric.update().serialized == "25.00"  # 0.1 s later: not looked
    assert metric.update().serialized == "0.00"
    metric.clear()
    assert metric.compute().serialized == "0.00" and metric.final_value() == m.NumericEntry.Value(0.0)


def test_memory_is_told_in_billions_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnpy.train.metric.cpu_memory.read_memory", lambda: (1_230_000_000, 24_000_000_000))
    entry = m.CpuMemory().update()
    assert entry == m.SerializedEntry("RAM Used: 1.23 / 24.00 Gb", "1.23")


@pytest.mark.parametrize(("degrees", "text"), [(54.0, "54.00"), (math.nan, "NaN")])
def test_temperature(monkeypatch: pytest.MonkeyPatch, degrees: float, text: str) -> None:
    monkeypatch.setattr("burnpy.train.metric.cpu_temperature.read_cpu_temperature", lambda: degrees)
    assert m.CpuTemperature().update() == m.SerializedEntry(f"CPU Temperature: {text} °C", text)


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's files")
def test_this_machine_can_be_read() -> None:
    busy, total = machine.read_cpu_times()
    assert 0 < busy < total
    used, memory = machine.read_memory()
    assert 0 < used < memory
    degrees = machine.read_cpu_temperature()
    assert math.isnan(degrees) or -50 < degrees < 200


def _refuse() -> Any:
    raise OSError("no such file")


def test_other_systems_are_read_through_psutil(monkeypatch: pytest.MonkeyPatch) -> None:
    class Times(tuple[float, ...]):
        idle = 6.0

    psutil: Any = types.ModuleType("psutil")
    psutil.cpu_times = lambda: Times((3.0, 1.0, 6.0))
    psutil.virtual_memory = lambda: types.SimpleNamespace(total=100, available=60)
    psutil.sensors_temperatures = lambda: {"coretemp": [types.SimpleNamespace(current=50.0)]}
    monkeypatch.setitem(sys.modules, "psutil", psutil)
    for name in ("_linux_cpu_times", "_linux_memory", "_linux_temperature"):
        monkeypatch.setattr(machine, name, _refuse)
    assert machine.read_cpu_times() == (4.0, 10.0)
    assert machine.read_memory() == (40, 100)
    assert machine.read_cpu_temperature() == 50.0
    psutil.sensors_temperatures = dict
    assert math.isnan(machine.read_cpu_temperature())
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert machine.read_cpu_times() == (0.0, 0.0) and machine.read_memory() == (0, 0)
    assert m.CpuMemory().update().serialized == m.CpuUse().update().serialized == "NaN"


def test_cards_are_unavailable_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    metric = m.CudaMetric()
    assert metric.update() == m.SerializedEntry("Unavailable", "Unavailable")
    assert not isinstance(metric, m.Numeric) and metric.attributes() is None


def test_cards_are_told_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml: Any = types.ModuleType("pynvml")
    nvml.NVMLError = RuntimeError
    nvml.nvmlInit = lambda: None
    nvml.nvmlDeviceGetCount = lambda: 2
    nvml.nvmlDeviceGetHandleByIndex = lambda i: i
    nvml.nvmlDeviceGetMemoryInfo = lambda i: types.SimpleNamespace(used=(i + 1) * 10**9, total=80 * 10**9)
    nvml.nvmlDeviceGetUtilizationRates = lambda i: types.SimpleNamespace(gpu=12)
    nvml.nvmlDeviceGetPowerUsage = lambda i: 123400 if i == 0 else _no_power()
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    assert m.CudaMetric().update() == m.SerializedEntry(
        " GPU #0 - Memory 1.00/80.00 Gb - Usage 12% - Power 123.4 W GPU #1 - Memory 2.00/80.00 Gb - Usage 12%",
        "2/80 ",
    )
    nvml.nvmlInit = _no_power
    assert m.CudaMetric().compute().serialized == "Unavailable"


def _no_power() -> Any:
    raise RuntimeError("not supported")
