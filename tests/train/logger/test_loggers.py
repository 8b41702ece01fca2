"""Loggers in memory, of anything, and for other tools."""

import builtins
import struct
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from burnpy.train.logger import (
    AsyncLogger,
    EvaluationProgressLogger,
    FileLogger,
    InMemoryLogger,
    InMemoryMetricLogger,
    MetricLogger,
    MlflowMetricLogger,
    ProgressSnapshot,
    TensorboardMetricLogger,
    TrainingProgressLogger,
)
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.store import EpochSummary, MetricsUpdate, Split
from tests.train.updates import entry, numbers


def run(logger: MetricLogger, split: Split = Split.Train, epoch: int = 1) -> None:
    logger.log(numbers(Loss="0.5,4"), epoch, split)
    logger.log(numbers(Loss="0.25,4"), epoch, split)
    final = numbers(Loss="0.375,final", final=True)
    logger.log(MetricsUpdate([entry("Text", "good")], final.entries_numeric, True), epoch, split)
    logger.log_epoch_summary(EpochSummary(epoch, split))


def test_memory_has_the_lines_of_each_epoch_by_its_number() -> None:
    logger = InMemoryMetricLogger()
    for epoch in (3, 5):
        run(logger, epoch=epoch)
    assert logger.lines("Loss", 5, Split.Train) == ["0.5,4", "0.25,4", "0.375,final"]
    assert logger.read_numeric("Loss", 3, Split.Train)[-1] == NumericEntry.Final(0.375)
    assert logger.read_numeric("Text", 3, Split.Train) == []
    assert logger.read_numeric("Loss", 4, Split.Train) == logger.read_numeric("Loss", 3, Split.Valid) == []


def test_what_is_not_available_is_not_kept() -> None:
    logger = InMemoryMetricLogger()
    logger.log(numbers(Loss="N/A"), 1, Split.Train)
    assert logger.lines("Loss", 1, Split.Train) == []


def test_a_file_is_emptied_and_has_a_line_per_item(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "items.log"
    for items in ([1, 2], ["x"]):
        with FileLogger(path) as logger:
            for item in items:
                logger.log(item)
    assert path.read_text() == "x\n"


def test_a_file_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        FileLogger(tmp_path)


def test_a_logger_on_a_thread_takes_all_items_in_order() -> None:
    kept = InMemoryLogger()
    with AsyncLogger(kept) as logger:
        for item in range(1000):
            logger.log(item)
    assert kept.values == [str(item) for item in range(1000)]
    with pytest.raises(ValueError, match="the logger is closed"):
        logger.log(1)
    assert not any(thread.name == "burnpy-logger" for thread in threading.enumerate())


def test_a_failure_on_the_thread_is_raised_at_the_end() -> None:
    class Failing:
        def log(self, item: int) -> None:
            raise OSError(f"item {item}")

    logger = AsyncLogger[int](Failing())
    for item in range(3):
        logger.log(item)
    with pytest.raises(OSError, match="item 0"):
        logger.close()


def scalars_of(directory: Path) -> list[tuple[str, int, float]]:
    """The numbers in the event files of a folder, by the format of TensorFlow's records."""
    from tensorboardX.proto.event_pb2 import Event

    found = []
    for path in sorted(directory.iterdir()):
        data, offset = path.read_bytes(), 0
        while offset < len(data):
            (length,) = struct.unpack_from("<Q", data, offset)
            event = Event.FromString(data[offset + 12 : offset + 12 + length])
            found += [
                (value.tag, event.step, value.simple_value)
                for value in event.summary.value
                if value.HasField("simple_value")
            ]
            offset += 16 + length
    return found


def test_tensorboard_gets_numbers_by_batch_over_the_run_and_by_epoch(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    logger = TensorboardMetricLogger(tmp_path)
    for epoch in (1, 2):
        run(logger, epoch=epoch)
    run(logger, Split.Test("set"), 1)
    logger.close()
    scalars = scalars_of(tmp_path)
    assert [each for each in scalars if each[0] == "Loss/train"] == [
        ("Loss/train", step, loss) for step, loss in enumerate([0.5, 0.25, 0.5, 0.25], start=1)
    ]
    assert [each for each in scalars if each[0] == "epoch/Loss/train"] == [
        ("epoch/Loss/train", epoch, 0.375) for epoch in (1, 2)
    ]
    assert ("Loss/test/set", 1, 0.5) in scalars


class FakeWriter:
    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        self.calls.append((tag, scalar_value, global_step))

    def add_text(self, tag: str, text_string: str, global_step: int) -> None:
        self.calls.append((tag, text_string, global_step))

    def flush(self) -> None:
        self.calls.append(("flush",))

    def close(self) -> None:
        self.calls.append(("close",))


def test_tensorboard_takes_another_writer() -> None:
    writer = FakeWriter()
    logger = TensorboardMetricLogger("unused", writer=writer)
    run(logger)
    logger.close()
    assert writer.calls == [
        ("Loss/train", 0.5, 1),
        ("Loss/train", 0.25, 2),
        ("epoch/Loss/train", 0.375, 1),
        ("Text/train", "epoch good", 1),
        ("flush",),
        ("close",),
    ]


class FakeRun:
    def __init__(self) -> None:
        self.calls: list[tuple[dict[str, float], int]] = []

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        self.calls.append((dict(metrics), step))


def test_mlflow_gets_numbers_by_batch_over_the_run_and_by_epoch() -> None:
    mlflow = FakeRun()
    logger = MlflowMetricLogger(mlflow)
    for epoch in (1, 2):
        run(logger, epoch=epoch)
    logger.log(MetricsUpdate([entry("Text", "x")]), 2, Split.Train)
    assert mlflow.calls[:3] == [
        ({"train/Loss": 0.5}, 1),
        ({"train/Loss": 0.25}, 2),
        ({"epoch/train/Loss": 0.375}, 1),
    ]
    assert [step for _, step in mlflow.calls] == [1, 2, 1, 3, 4, 2]


def test_mlflow_gets_names_that_it_allows() -> None:
    mlflow = FakeRun()
    MlflowMetricLogger(mlflow).log(numbers({"Top-K @ (2)": "1"}), 1, Split.Valid)
    assert mlflow.calls == [({"valid/Top-K _ _2_": 1.0}, 1)]


@pytest.mark.parametrize(
    "make", [lambda: MlflowMetricLogger(FakeRun()), lambda: TensorboardMetricLogger("x", writer=FakeWriter())]
)
def test_batches_are_counted_on_after_a_stop(make: Any) -> None:
    first, second = make(), make()
    run(first)
    second.restore(first.positions())
    run(second)
    assert second.positions() == {"train": 4}


@pytest.mark.parametrize(
    ("package", "logger"),
    [("tensorboardX", TensorboardMetricLogger("x")), ("mlflow", MlflowMetricLogger())],
)
def test_a_package_that_is_missing_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, package: str, logger: MetricLogger
) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name == package:
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.delitem(sys.modules, package, raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=rf"burnpy\[{package.removesuffix('X').lower()}\]"):
        logger.log(numbers(Loss="1"), 1, Split.Train)


def test_bases_of_progress_loggers_do_nothing() -> None:
    training, evaluation = TrainingProgressLogger(), EvaluationProgressLogger()
    training.start(3, 1)
    training.start_split("train", None)
    training.update_split(5)
    training.log_event_training("Iteration")
    training.end_split()
    training.update_epoch(1)
    training.end()
    evaluation.start_global_progress(1)
    evaluation.start_test("a", 3)
    evaluation.update_test_progress(3)
    evaluation.log_event_evaluation("Iteration")
    evaluation.end_test()
    evaluation.end_global_progress()


def test_a_logger_without_a_method_log_says_so() -> None:
    with pytest.raises(NotImplementedError, match="MetricLogger has no method log"):
        MetricLogger().log(numbers(Loss="1"), 1, Split.Train)


def test_a_snapshot_holds_both_progresses() -> None:
    Progress = pytest.importorskip("burnpy.data.dataloader").Progress
    snapshot = ProgressSnapshot(Progress(1, 2, "epochs"), Progress(3, 4))
    assert (snapshot.global_.unit, snapshot.split.items_total) == ("epochs", 4)
