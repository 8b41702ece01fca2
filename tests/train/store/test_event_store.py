"""What is answered from the values of a run."""

import copy
import json
import math
import pickle
from pathlib import Path
from typing import Any

import pytest

from burnpy.errors import BurnpyError
from burnpy.train.logger import FileMetricLogger, InMemoryMetricLogger, MetricLogger
from burnpy.train.metric.metric import MetricDefinition
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.store import (
    Aggregate,
    Direction,
    EpochSummary,
    Event,
    EventStore,
    MetricsUpdate,
    Split,
    mean_of,
)
from tests.train.updates import numbers

MEAN = Aggregate.Mean


def store_of(*epochs: list[str], split: Split = Split.Train, first: int = 1) -> EventStore:
    """A store in memory that was told the lines of ``Loss`` in successive epochs."""
    store = EventStore([InMemoryMetricLogger()])
    for epoch, lines in enumerate(epochs, start=first):
        run_epoch(store, epoch, lines, split)
    return store


def run_epoch(store: EventStore, epoch: int, lines: list[str], split: Split = Split.Train) -> None:
    store.add_event(Event.StartSplit(epoch), split)
    for line in lines:
        update = numbers(Loss=line, final=line.endswith("final"))
        store.add_event(Event.MetricsUpdate(update), split)
    store.add_event(Event.EndEpoch(EpochSummary(epoch, split)), split)


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["0.5", "1.25,2"], 1.0),
        (["0.6", "0.7", "0.85,final"], 0.85),
        (["0.5,1", "N/A", "1.25,1"], 0.875),
        ([], None),
        (["N/A"], None),
    ],
)
def test_the_value_of_an_epoch_is_its_final_one_or_the_mean(lines: list[str], value: float | None) -> None:
    assert store_of(lines).find_metric("Loss", 1, MEAN, Split.Train) == value


def test_a_final_value_that_is_not_the_last_is_an_error() -> None:
    with pytest.raises(ValueError, match="entry 1 of 2 is final, but not the last one"):
        mean_of([NumericEntry.Final(1.0), NumericEntry.Value(1.0)])


def test_means_of_no_units_are_not_numbers() -> None:
    value = mean_of([NumericEntry.Aggregated(1.0, 0)])
    assert value is not None and math.isnan(value)


def test_the_best_epoch_is_the_lowest_or_the_highest() -> None:
    store = store_of(["500", "1000"], ["200", "1000"], ["10000"])
    assert store.find_epoch("Loss", MEAN, Direction.Lowest, Split.Train) == 2
    assert store.client().find_epoch("Loss", MEAN, Direction.Highest, Split.Train) == 3
    assert store.find_epoch("Loss", MEAN, Direction.Lowest, Split.Valid) is None


def test_the_first_of_equal_epochs_is_the_best() -> None:
    store = store_of(["2"], ["1"], ["1"])
    assert store.find_epoch("Loss", MEAN, Direction.Lowest, Split.Train) == 2


def test_values_that_are_not_finite_are_never_best() -> None:
    store = store_of(["NaN"], ["inf"], ["3"], ["-inf"])
    assert store.find_epoch("Loss", MEAN, Direction.Lowest, Split.Train) == 3
    assert store.find_epoch("Loss", MEAN, Direction.Highest, Split.Train) == 3
    assert store_of(["NaN"]).find_epoch("Loss", MEAN, Direction.Lowest, Split.Train) is None


def test_new_values_change_an_answer_that_was_given_before() -> None:
    store = store_of(["1"])
    assert store.find_metric("Loss", 1, MEAN, Split.Train) == 1.0
    store.add_event(Event.MetricsUpdate(numbers(Loss="2")), Split.Train)
    assert store.find_metric("Loss", 1, MEAN, Split.Train) == 1.5


def test_files_of_another_run_in_the_folder_are_not_counted(tmp_path: Path) -> None:
    old = EventStore([FileMetricLogger(tmp_path)])
    for epoch in (1, 2, 3):
        run_epoch(old, epoch, ["0.001,final"], Split.Valid)
    old.close()
    store = EventStore([FileMetricLogger(tmp_path)])
    store.add_event(Event.StartSplit(1), Split.Train)
    store.add_event(Event.StartSplit(1), Split.Valid)
    assert store.find_metric("Loss", 1, MEAN, Split.Valid) is None
    run_epoch(store, 1, ["5,final"], Split.Valid)
    assert store.find_metric("Loss", 1, MEAN, Split.Valid) == 5.0
    assert store.find_metric("Loss", 2, MEAN, Split.Valid) is None
    assert store.find_epoch("Loss", MEAN, Direction.Lowest, Split.Valid) == 1


def test_a_resumed_run_counts_the_epochs_before_it(tmp_path: Path) -> None:
    first = EventStore([FileMetricLogger(tmp_path)])
    for epoch, loss in enumerate(["3,final", "1,final", "0.5,final"], start=1):
        run_epoch(first, epoch, [loss], Split.Valid)
    first.close()
    resumed = EventStore([FileMetricLogger(tmp_path)])
    run_epoch(resumed, 3, ["2,final"], Split.Valid)
    assert resumed.find_epoch("Loss", MEAN, Direction.Lowest, Split.Valid) == 2
    assert resumed.find_metric("Loss", 3, MEAN, Split.Valid) == 2.0


def test_a_resumed_run_in_an_empty_folder_counts_its_own_epochs() -> None:
    store = store_of(["2"], ["1"], first=7)
    assert store.find_epoch("Loss", MEAN, Direction.Lowest, Split.Train) == 8


def test_a_run_that_was_stopped_inside_an_epoch_goes_on_with_its_values(tmp_path: Path) -> None:
    first = EventStore([FileMetricLogger(tmp_path)])
    run_epoch(first, 1, ["8,final"])
    first.add_event(Event.StartSplit(2), Split.Train)
    first.add_event(Event.MetricsUpdate(numbers(Loss="4,1")), Split.Train)
    state = json.loads(json.dumps(first.state()))
    first.add_event(Event.MetricsUpdate(numbers(Loss="100,1")), Split.Train)
    first.close()

    second = EventStore([FileMetricLogger(tmp_path)])
    second.restore(state)
    second.add_event(Event.StartSplit(2), Split.Train)
    assert second.find_metric("Loss", 2, MEAN, Split.Train) == 4.0
    second.add_event(Event.MetricsUpdate(numbers(Loss="2,1")), Split.Train)
    assert second.find_metric("Loss", 2, MEAN, Split.Train) == 3.0
    assert second.find_epoch("Loss", MEAN, Direction.Lowest, Split.Train) == 2
    second.close()
    assert (tmp_path / "train/epoch-2/Loss.log").read_text() == "4,1\n2,1\n"


def test_a_logger_that_was_not_there_begins_with_the_new_run() -> None:
    known = store_of()
    store = EventStore([])
    store.restore(json.loads(json.dumps(known.state())))
    assert store.state()["known"] == known.state()["known"]


class Recorder(MetricLogger):
    def __init__(self, failure: Exception | None = None) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.failure = failure

    def log(self, update: MetricsUpdate, epoch: int, split: Split) -> None:
        self.calls.append(("log", update, epoch, split))

    def log_metric_definition(self, definition: MetricDefinition) -> None:
        self.calls.append(("definition", definition))

    def log_epoch_summary(self, summary: EpochSummary) -> None:
        self.calls.append(("end", summary))

    def flush(self) -> None:
        self.calls.append(("flush",))

    def close(self) -> None:
        self.calls.append(("close",))
        if self.failure:
            raise self.failure


def test_events_reach_all_loggers_with_the_epoch_of_their_split() -> None:
    loggers = [Recorder(), Recorder()]
    store = EventStore(loggers)
    definition = MetricDefinition("Loss", "Loss", None, None)
    store.add_event(Event.MetricsInit([definition]), Split.Train)
    store.add_event(Event.StartSplit(4), Split.Train)
    update = numbers(Loss="1")
    for split in (Split.Train, Split.Valid):
        store.add_event(Event.MetricsUpdate(update), split)
    store.add_event(Event.EndEpoch(EpochSummary(4, Split.Train)), Split.Train)
    store.flush()
    for logger in loggers:
        assert logger.calls == [
            ("definition", definition),
            ("log", update, 4, Split.Train),
            ("log", update, 1, Split.Valid),
            ("end", EpochSummary(4, Split.Train)),
            ("flush",),
        ]


def test_all_loggers_are_closed_though_one_fails() -> None:
    loggers = [Recorder(OSError("full")), Recorder()]
    with pytest.raises(OSError, match="full"):
        EventStore(loggers).close()
    assert loggers[1].calls == [("close",)]


def test_the_first_logger_that_can_read_answers() -> None:
    store = EventStore([Recorder(), InMemoryMetricLogger()])
    run_epoch(store, 1, ["0.5"])
    assert store.find_metric("Loss", 1, MEAN, Split.Train) == 0.5


@pytest.mark.parametrize("loggers", [[], [Recorder()]])
def test_a_question_that_no_logger_can_answer_is_an_error(loggers: list[MetricLogger]) -> None:
    store = EventStore(loggers)
    run_epoch(store, 1, ["0.5"])
    with pytest.raises(
        BurnpyError, match=f"none of {len(loggers)} metric loggers can read 'Loss' of train in epoch 1"
    ):
        store.find_metric("Loss", 1, MEAN, Split.Train)


def test_what_is_no_event_is_refused() -> None:
    with pytest.raises(TypeError, match="event must be one of Event, got 'start'"):
        EventStore([]).add_event("start", Split.Train)  # type: ignore[arg-type]


def test_what_is_no_aggregate_or_direction_is_refused() -> None:
    with pytest.raises(ValueError, match="'median' is not a valid Aggregate"):
        store_of(["1"]).find_metric("Loss", 1, "median", Split.Train)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'up' is not a valid Direction"):
        store_of(["1"]).find_epoch("Loss", MEAN, "up", Split.Train)  # type: ignore[arg-type]


def test_splits_are_told_apart_by_name_and_tag() -> None:
    splits = [Split.Train, Split.Valid, Split.Test(), Split.Test("a"), Split.Test("b")]
    assert len(set(splits)) == 5
    assert [str(split) for split in splits] == ["train", "valid", "test", "test", "test"]
    assert [split.label() for split in splits] == ["Train", "Valid", "Test", "Test (a)", "Test (b)"]
    assert pickle.loads(pickle.dumps(splits)) == splits == copy.deepcopy(splits)


@pytest.mark.parametrize(("name", "tag"), [("dev", None), ("train", "a")])
def test_what_is_no_split_is_refused(name: str, tag: str | None) -> None:
    with pytest.raises(ValueError, match="a split is train, valid or test with a tag"):
        Split(name, tag)
