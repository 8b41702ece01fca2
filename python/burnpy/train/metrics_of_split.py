"""The metrics of one split, fed and asked together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from burnpy.train.failure import MetricError
from burnpy.train.metric import AccuracyMetric, LossMetric, TopKAccuracyMetric
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import Metric, MetricDefinition, MetricEntry, MetricMetadata
from burnpy.train.metric.store import (
    Aggregate,
    BatchUpdate,
    EventStore,
    MetricsUpdate,
    NumericMetricUpdate,
    Split,
)

if TYPE_CHECKING:
    from burnpy.record.state import StateSink, StateSource
    from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["MetricsOfSplit", "history_of"]

# Metrics that take numbers out of tensors, and do nothing else with them.
_BLIND = frozenset({AccuracyMetric, LossMetric, TopKAccuracyMetric})


class MetricsOfSplit:
    """Metrics of texts, then those of numbers, each in the order in which they were registered.

    One that fails does not keep the others from being fed; the first failure is raised after all.

    Args:
        split: where they measure.

    Attributes:
        sees_tensors: whether one of them may keep tensors, or compute with them, which takes them off their graph.

    Raises:
        ValueError: two metrics have one name, so that they would write to one file.
        TypeError: something is no metric.
    """

    def __init__(self, split: Split) -> None:
        self.split = split
        self.text: list[Metric] = []
        self.numeric: list[Any] = []
        # Of all: names, and what is needed for a batch.
        self._names: tuple[str, ...] = ()
        self.sees_tensors = False
        self._fed: list[tuple[Any, type[Any] | None, bool, bool]] = []

    def register(self, metric: Any, *, numeric: bool) -> None:
        """Add a metric: a copy with a state of its own."""
        wanted = (
            "name",
            "update",
            "compute",
            "clear",
            "clone",
            *(("value", "final_value") if numeric else ()),
        )
        kind = "a metric of numbers" if numeric else "a metric"
        if isinstance(metric, type):
            raise TypeError(
                f"{metric.__name__} is a class and not {kind}: call it first, {metric.__name__}()"
            )
        for method in wanted:
            if not callable(getattr(metric, method, None)):
                raise TypeError(f"{metric!r} is not {kind}: it has no method {method}")
        if metric.name() in [other.name() for other in self.all()]:
            raise ValueError(f"two metrics of the split {self.split} have the name {metric.name()!r}")
        (self.numeric if numeric else self.text).append(metric.clone())
        self.sees_tensors = not all(type(each) in _BLIND for each in self.all())
        self._names = tuple([each.name() for each in self.all()])
        # Metrics with the same kind of input share it: the first one has it made.
        kinds = [each.Input for each in self.all()]
        makes = [kind is not None and kind not in kinds[:index] for index, kind in enumerate(kinds)]
        asked = [*[False for _ in self.text], *[not _tells_by_text(each) for each in self.numeric]]
        self._fed = list(zip(self.all(), kinds, makes, asked, strict=True))

    def all(self) -> list[Any]:
        """Text first."""
        return [*self.text, *self.numeric]

    def definitions(self) -> list[MetricDefinition]:
        """Who they are."""
        return [metric.definition() for metric in self.all()]

    def update(self, item: Any, metadata: MetricMetadata) -> MetricsUpdate:
        """Feed all with an output.

        Raises:
            MetricError: one failed.
        """
        failures: list[MetricError] = []
        said: list[SerializedEntry] = []
        numbers: dict[str, tuple[Any, Any]] = {}
        inputs: dict[type[Any] | None, Any] = {None: None}
        adapt = getattr(item, "adapt", None)
        for metric, kind, makes, is_asked in self._fed:
            try:
                if makes:
                    inputs[kind] = adapt(kind) if adapt is not None else _refuse(item, metric)
                said.append(metric.update(inputs[kind], metadata))
                if is_asked:
                    numbers[metric.name()] = metric.value(), metric.running_value()
            except Exception as error:
                failures.append(self._failure(metric, error))
        if failures:
            raise failures[0]
        return BatchUpdate(self._names, said, numbers, len(self.text))

    def finish(self) -> MetricsUpdate:
        """Ask all for the epoch, and have them forget it.

        Raises:
            MetricError: one failed.
        """
        try:
            return self._final()
        finally:
            self.clear()

    def clear(self) -> None:
        """Have all forget the batches so far."""
        for metric in self.all():
            metric.clear()

    def _final(self) -> MetricsUpdate:
        failures: list[MetricError] = []
        texts: list[MetricEntry] = []
        numbers: list[NumericMetricUpdate] = []
        for metric in self.text:
            try:
                texts.append(MetricEntry(metric.name(), metric.compute()))
            except Exception as error:
                failures.append(self._failure(metric, error))
        for metric in self.numeric:
            try:
                told = MetricEntry(metric.name(), metric.compute())
                numbers.append(NumericMetricUpdate(told, metric.final_value(), metric.running_value()))
            except Exception as error:
                failures.append(self._failure(metric, error))
        if failures:
            raise failures[0]
        return MetricsUpdate(texts, numbers, final=True)

    def _failure(self, metric: Any, error: Exception) -> MetricError:
        tag = f"{self.split}/{self.split.tag}" if self.split.tag else str(self.split)
        failure = MetricError(f"{tag}/{metric.name()}: {error}", metric=metric.name(), split=self.split)
        failure.__cause__ = error
        return failure

    def save(self, sink: StateSink) -> list[str]:
        """Write all states down; the names in the order of their numbers, for :meth:`load`."""
        for index, metric in enumerate(self.all()):
            if metric.state is not None:
                metric.state.state_flatten(f"{self.split}.{index}", sink)
        return [metric.name() for metric in self.all()]

    def load(self, names: Sequence[str], source: StateSource) -> None:
        """Go on from states that were saved; metrics that were not there then begin empty."""
        by_name = {name: index for index, name in enumerate(names)}
        for metric in self.all():
            index = by_name.get(metric.name())
            if index is None or metric.state is None:
                continue
            state = type(metric.state).state_unflatten(f"{self.split}.{index}", source)
            if state is not None:
                metric.load_state(state)


def _tells_by_text(metric: Any) -> bool:
    """Whether what ``update`` returns has the numbers too: known of the classes of this package."""
    return isinstance(metric, MeanMetric) and type(metric).__module__.startswith("burnpy.")


def _refuse(item: Any, metric: Any) -> NoReturn:
    raise TypeError(
        f"the step returned {type(item).__name__}, which has no method adapt, so {metric.name()!r} cannot read it; "
        f"return a ClassificationOutput, RegressionOutput, … or an object with adapt(input_type)"
    )


def history_of(
    store: EventStore, metrics: Sequence[MetricsOfSplit], num_epochs: int
) -> dict[str, dict[str, dict[int, float]]]:
    """The value of each numeric metric after each epoch, as the first logger that can be read has it."""
    history: dict[str, dict[str, dict[int, float]]] = {}
    for split in metrics:
        of_split = history.setdefault(str(split.split), {})
        for metric in split.numeric:
            try:
                values = {
                    epoch: store.find_metric(metric.name(), epoch, Aggregate.Mean, split.split)
                    for epoch in range(1, num_epochs + 1)
                }
            except Exception:
                # No logger that can be read: the history is what is known, and this is nothing.
                continue
            of_split[metric.name()] = {epoch: v for epoch, v in values.items() if v is not None}
    return history
