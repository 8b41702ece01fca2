"""What metrics said of a batch, whose objects are made late: the same as those that were made at once."""

from pathlib import Path
from typing import Any

import pytest

from burnpy import Tensor
from burnpy.data import Progress
from burnpy.train import ClassificationOutput, LearnerEvent, TrainingItem, TrainingProcessor
from burnpy.train.failure import MetricError
from burnpy.train.logger import FileMetricLogger, InMemoryMetricLogger
from burnpy.train.metric import AccuracyMetric, AurocMetric, LossMetric, NumericEntry, PerplexityMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.store import BatchUpdate, EventStore, MetricsUpdate, Split
from burnpy.train.metric.store.event import by_metric
from burnpy.train.metrics_of_split import MetricsOfSplit
from burnpy.train.renderer import CliMetricsRenderer, MetricsRenderer, MetricState
from tests.train.updates import numbers


def item(loss: float) -> ClassificationOutput:
    return ClassificationOutput(Tensor([loss]), Tensor([[0.1, 0.9], [0.7, 0.3]]), Tensor([1, 1]))


def of_metrics(*metrics: Any) -> MetricsOfSplit:
    split = MetricsOfSplit(Split.Train)
    for metric in metrics:
        split.register(metric, numeric=True)
    return split


def processor(renderer: Any, *metrics: Any, store: EventStore | None = None) -> TrainingProcessor:
    other = MetricsOfSplit(Split.Valid)
    return TrainingProcessor(of_metrics(*metrics), other, store or EventStore([]), renderer)


def process(to: TrainingProcessor, *losses: float) -> None:
    for number, loss in enumerate(losses, start=1):
        progress = Progress(2 * number, 2 * len(losses))
        to.process_train(LearnerEvent.ProcessedItem(TrainingItem(item(loss), progress, number, 0.1)))


def test_numbers_are_those_of_their_batch_also_when_they_are_asked_for_later() -> None:
    metrics = of_metrics(LossMetric(), AccuracyMetric(), PerplexityMetric())
    first, second = (metrics.update(item(loss), MetricMetadata()) for loss in (0.5, 1.0))
    assert isinstance(first, BatchUpdate) and not first.final and list(first.entries) == []
    told = [
        [(each.numeric_entry, each.running_entry) for each in update.entries_numeric[:2]]
        for update in (first, second)
    ]
    mean = NumericEntry.Aggregated
    assert told == [
        [(mean(0.5, 1), mean(0.5, 1)), (mean(50.0, 2), mean(50.0, 2))],
        [(mean(1.0, 1), mean(0.75, 2)), (mean(50.0, 2), mean(50.0, 4))],
    ]
    assert [entry.serialized_entry.serialized for entry in first.all_entries()[:2]] == ["0.5,1", "50,2"]
    assert first.all_entries()[0].serialized_entry.formatted == "epoch 0.50 - batch 0.50"
    assert first.entries_numeric[0].entry is first.all_entries()[0]


def test_a_metric_that_tells_other_numbers_than_its_mean_is_asked() -> None:
    class Doubled(LossMetric):
        def value(self) -> NumericEntry:
            return NumericEntry.Value(2.0 * self.state.current)

    update = of_metrics(Doubled()).update(item(0.5), MetricMetadata())
    (told,) = update.entries_numeric
    assert told.numeric_entry == NumericEntry.Value(1.0)
    assert told.running_entry == NumericEntry.Aggregated(0.5, 1)


def test_all_metrics_are_fed_also_after_one_that_fails() -> None:
    class Broken(LossMetric):
        def name(self) -> str:
            return "Broken"

        def update(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("no")

    metrics = of_metrics(Broken(), LossMetric())
    with pytest.raises(MetricError, match="train/Broken: no"):
        metrics.update(item(0.5), MetricMetadata())
    assert metrics.numeric[1].value() == NumericEntry.Aggregated(0.5, 1)


def test_a_renderer_has_what_the_last_batch_said() -> None:
    renderer = CliMetricsRenderer()
    process(processor(renderer, LossMetric(), AurocMetric()), 0.5, 1.5)
    readings = renderer.state.readings
    assert next(iter(readings)) == "Loss" and len(readings) == 2
    assert readings["Loss"]["Train"].text == "epoch 1.00 - batch 1.50"
    assert readings["Loss"]["Train"].value == 1.5
    assert renderer.state.items == 4 and renderer.state.counters == {"Iteration": 2}


class Told(CliMetricsRenderer):
    """Is told the parts of a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def update_train(self, state: MetricState) -> None:
        super().update_train(state)
        self.calls.append(state.entry.metric_id)

    def update_split(self, items_processed: int) -> None:
        super().update_split(items_processed)
        self.calls.append(str(items_processed))


class Bare:
    """Has methods, and no base."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def update_train(self, state: MetricState) -> None:
        self.calls.append(state.entry.metric_id)

    update_valid = update_train

    def update_split(self, items: int) -> None:
        self.calls.append(str(items))

    def log_event_training(self, event: str) -> None:
        pass


@pytest.mark.parametrize("renderer", [Told(), Bare()], ids=["derived", "bare"])
def test_a_renderer_with_methods_for_the_parts_is_told_the_parts(renderer: Any) -> None:
    process(processor(renderer, LossMetric(), AccuracyMetric()), 0.5, 1.5)
    assert renderer.calls == ["Loss", "Accuracy", "2", "Loss", "Accuracy", "4"]


def test_a_method_of_the_object_alone_is_told_too() -> None:
    renderer, calls = MetricsRenderer(), list[str]()
    renderer.update_valid = lambda state: calls.append(state.entry.metric_id)  # type: ignore[method-assign]
    renderer.update_batch("valid", numbers(Loss="0.5,1"), 2)
    renderer.update_batch("train", numbers(Loss="0.5,1"), 2)
    assert calls == ["Loss"]


@pytest.mark.parametrize("batches", [1, 255, 256, 257, 600])
def test_files_have_all_lines_in_their_order(batches: int, tmp_path: Path) -> None:
    store = EventStore([FileMetricLogger(tmp_path), InMemoryMetricLogger()])
    losses = [0.5 + index for index in range(batches)]
    process(processor(MetricsRenderer(), LossMetric(), AurocMetric(), store=store), *losses)
    assert [entry.current() for entry in store.loggers[0].read_numeric("Loss", 1, Split.Train)] == losses
    store.close()
    lines = (tmp_path / "train/epoch-1/Loss.log").read_text().split()
    assert lines == store.loggers[1].lines("Loss", 1, Split.Train)  # type: ignore[attr-defined]
    assert [path.name for path in (tmp_path / "train/epoch-1").iterdir()] == ["Loss.log"]


def test_what_each_metric_said_is_found_in_updates_of_all_kinds() -> None:
    metrics, others = of_metrics(LossMetric(), AccuracyMetric()), of_metrics(LossMetric())
    batches = [metrics.update(item(loss), MetricMetadata()) for loss in (0.5, 1.5)]
    mixed = [*batches, others.update(item(2.5), MetricMetadata()), numbers(Loss="7,1")]
    for updates, losses in ((batches, ["0.5,1", "1.5,1"]), (mixed, ["0.5,1", "1.5,1", "2.5,1", "7,1"])):
        said = {name: [entry.serialized for entry in entries] for name, entries in by_metric(updates)}
        assert said == {"Loss": losses, "Accuracy": ["50,2", "50,2"]}
    assert list(by_metric([])) == []


def test_a_file_has_lines_of_entries_of_several_classes(tmp_path: Path) -> None:
    logger = FileMetricLogger(tmp_path)
    metrics = of_metrics(LossMetric())
    for update in (
        metrics.update(item(0.5), MetricMetadata()),
        metrics.update(item(1.5), MetricMetadata()),
        numbers(Loss="7,1"),
        numbers(Loss="N/A"),
    ):
        logger.log(update, 1, Split.Train)
    logger.close()
    assert (tmp_path / "train/epoch-1/Loss.log").read_text() == "0.5,1\n1.5,1\n7,1\n"


def test_what_is_held_counts_in_the_positions(tmp_path: Path) -> None:
    logger = FileMetricLogger(tmp_path)
    update = of_metrics(LossMetric()).update(item(0.5), MetricMetadata())
    logger.log(update, 1, Split.Train)
    assert (tmp_path / "train/epoch-1/Loss.log").read_text() == ""
    assert logger.positions() == {"train/epoch-1/Loss.log": len("0.5,1\n")}
    logger.log(update, 1, Split.Train)
    logger.restore({"train/epoch-1/Loss.log": 6})
    logger.log(MetricsUpdate((), numbers(Loss="7,1").entries_numeric), 1, Split.Train)
    logger.close()
    assert (tmp_path / "train/epoch-1/Loss.log").read_text() == "0.5,1\n7,1\n"


@pytest.mark.parametrize(
    "metrics", [[LossMetric()], [LossMetric(), AccuracyMetric()], [LossMetric(), AurocMetric()]]
)
def test_metrics_that_keep_tensors_have_them_off_their_graph_and_others_say_the_same(
    metrics: list[Any],
) -> None:
    scale = Tensor([1.0]).require_grad()
    plain = item(0.5)
    tracked = ClassificationOutput(plain.loss * scale, plain.output * scale, plain.targets)
    said = []
    for given in (plain, tracked):
        logger = InMemoryMetricLogger()
        to = processor(MetricsRenderer(), *metrics, store=EventStore([logger]))
        to.process_item(to.train, given, MetricMetadata(Progress(2, 2), 1))
        said.append([logger.lines(metric.name(), 1, Split.Train) for metric in metrics])
        for metric in to.train.numeric:
            kept = metric.state.predictions if isinstance(metric, AurocMetric) else []
            assert not any(scores.is_tracked() for scores in kept)
    assert said[0] == said[1] and said[0][0] == ["0.5,1"]
    assert tracked.loss.is_tracked()
