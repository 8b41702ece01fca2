"""What is done with what happens: metrics, loggers, renderers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from burnpy.train.event import (
    AnyEvaluatorEvent,
    AnyLearnerEvent,
    EvaluationItem,
    EvaluatorEvent,
    LearnerEvent,
)
from burnpy.train.item import PLAIN_ITEMS
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.store import EpochSummary, Event, EventStore, MetricsUpdate
from burnpy.train.metrics_of_split import MetricsOfSplit
from burnpy.train.renderer import EvaluationName, MetricsRenderer
from burnpy.train.renderer.renderer import tell_all

if TYPE_CHECKING:
    from burnpy.train.logger import EvaluationProgressLogger, TrainingProgressLogger

__all__ = ["EvaluationProcessor", "TrainingProcessor"]


class TrainingProcessor:
    """Feeds the metrics of a training, and tells loggers and renderer, in the order in which things happen.

    Unlike Burn: on the training thread. An item is a few numbers by then, and what fails is raised where it happened.

    Source: Burn ``train::EventProcessorTraining``.
    """

    def __init__(
        self,
        train: MetricsOfSplit,
        valid: MetricsOfSplit,
        store: EventStore,
        renderer: MetricsRenderer,
        progress_logger: TrainingProgressLogger | None = None,
    ) -> None:
        self.train = train
        self.valid = valid
        self.store = store
        self.renderer = renderer
        self._progress_logger = progress_logger
        self._watchers: list[Any] = [progress_logger] if progress_logger is not None else []
        self._watchers.append(renderer)
        # A renderer of another base has the single calls alone.
        self._show = getattr(renderer, "update_batch", partial(MetricsRenderer.update_batch, renderer))
        self._names: dict[str, str] = {}

    def process_train(self, event: AnyLearnerEvent) -> None:
        """Take an event of the training in.

        Raises:
            MetricError: a metric failed.
            OSError: a logger cannot write.
        """
        if isinstance(event, LearnerEvent.ProcessedItem):
            item = event.item
            metadata = MetricMetadata(item.progress, item.iteration, item.lr)
            self.process_item(self.train, item.item, metadata)
        elif isinstance(event, LearnerEvent.Start):
            self._start(event)
        elif isinstance(event, LearnerEvent.StartSplit):
            self._start_split(self.train, event)
        elif isinstance(event, LearnerEvent.EndSplit):
            self._end_split(self.train, event.epoch, self.renderer.update_train)
        elif isinstance(event, LearnerEvent.EndEpoch):
            for watcher in self._watchers:
                watcher.update_epoch(event.epoch)
        elif isinstance(event, LearnerEvent.End):
            for watcher in self._watchers:
                watcher.end()
            self.renderer.on_train_end(event.summary)

    def process_valid(self, event: AnyLearnerEvent) -> None:
        """Take an event of the validation in; see :meth:`process_train`. Start and ends of epochs are told there."""
        if isinstance(event, LearnerEvent.ProcessedItem):
            item = event.item
            metadata = MetricMetadata(item.progress, item.iteration, item.lr)
            self.process_item(self.valid, item.item, metadata)
        elif isinstance(event, LearnerEvent.StartSplit):
            self._start_split(self.valid, event)
        elif isinstance(event, LearnerEvent.EndSplit):
            self._end_split(self.valid, event.epoch, self.renderer.update_valid)

    def process_item(self, metrics: MetricsOfSplit, item: Any, metadata: MetricMetadata) -> None:
        """:meth:`process_train` or :meth:`process_valid` of a processed item, with fewer steps on the way.

        Args:
            metrics: those of the split.
            item: what the step gave.
            metadata: with a progress.
        """
        # What nobody sees need not be off its graph.
        if metrics.sees_tensors or type(item) not in PLAIN_ITEMS:
            item = _synced(item)
        update = metrics.update(item, metadata)
        self.store.add_update(update, metrics.split)
        items = metadata.progress.items_processed  # type: ignore[union-attr]
        self._show(metrics.split.name, update, items)
        if self._progress_logger is not None:
            self._progress_logger.update_split(items)
            self._progress_logger.log_event_training("Iteration")

    def flush(self) -> None:
        """Have all loggers hand what they hold to the system."""
        self.store.flush()

    def _start(self, event: Any) -> None:
        for metrics in (self.train, self.valid):
            definitions = metrics.definitions()
            self.store.add_event(Event.MetricsInit(definitions), metrics.split)
            for definition in definitions:
                if definition.metric_id not in self._names:
                    self._names[definition.metric_id] = definition.name
                    self.renderer.register_metric(definition)
        for watcher in self._watchers:
            watcher.start(event.total_epochs, event.starting_epoch, None, event.label)

    def _start_split(self, metrics: MetricsOfSplit, event: Any) -> None:
        self.store.add_event(Event.StartSplit(event.epoch_number), metrics.split)
        for watcher in self._watchers:
            watcher.start_split(str(metrics.split), event.total_items)

    def _end_split(self, metrics: MetricsOfSplit, epoch: int, render: Callable[[Any], None]) -> None:
        update = metrics.finish()
        self.store.add_event(Event.MetricsUpdate(update), metrics.split)
        tell_all(update, render)
        self.store.add_event(Event.EndEpoch(EpochSummary(epoch, metrics.split)), metrics.split)
        for watcher in self._watchers:
            watcher.end_split()


class EvaluationProcessor:
    """As :class:`TrainingProcessor`, for an evaluation.

    Unlike Burn: metrics are asked at the end of each test and begin empty in the next.

    Source: Burn ``train::EventProcessorEvaluation``.
    """

    def __init__(
        self,
        metrics: Callable[[str], MetricsOfSplit],
        store: EventStore,
        renderer: MetricsRenderer,
        progress_logger: EvaluationProgressLogger | None = None,
    ) -> None:
        self._make = metrics
        self._metrics: MetricsOfSplit | None = None
        self.store = store
        self.renderer = renderer
        self._watchers: list[Any] = [progress_logger] if progress_logger is not None else []
        self._watchers.append(renderer)
        self.last: MetricsUpdate | None = None

    def process_test(self, event: AnyEvaluatorEvent) -> None:
        """Take an event in.

        Raises:
            MetricError: a metric failed.
            OSError: a logger cannot write.
        """
        if isinstance(event, EvaluatorEvent.Start):
            for watcher in self._watchers:
                watcher.start_global_progress(event.total_tests)
        elif isinstance(event, EvaluatorEvent.StartTest):
            self._start_test(event.name, event.total_items)
        elif isinstance(event, EvaluatorEvent.ProcessedItem):
            self._item(event.name, event.item)
        elif isinstance(event, EvaluatorEvent.EndTest):
            self._end_test()
        elif isinstance(event, EvaluatorEvent.End):
            for watcher in self._watchers:
                watcher.end_global_progress()
            self.renderer.on_test_end(event.summary)

    def _start_test(self, name: str, total_items: int | None) -> None:
        first = self._metrics is None
        self._metrics = self._make(name)
        definitions = self._metrics.definitions()
        self.store.add_event(Event.MetricsInit(definitions), self._metrics.split)
        for definition in definitions if first else ():
            self.renderer.register_metric(definition)
        for watcher in self._watchers:
            watcher.start_test(name, total_items)

    def _item(self, name: str, item: EvaluationItem) -> None:
        assert self._metrics is not None, "StartTest comes first"
        update = self._metrics.update(_synced(item.item), MetricMetadata(item.progress, item.iteration))
        self._tell(name, update)
        for watcher in self._watchers:
            watcher.update_test_progress(item.progress.items_processed)
            watcher.log_event_evaluation("Iteration")

    def _end_test(self) -> None:
        assert self._metrics is not None, "StartTest comes first"
        name = self._metrics.split.tag or ""
        self.last = self._metrics.finish()
        self._tell(name, self.last)
        for watcher in self._watchers:
            watcher.end_test()

    def _tell(self, name: str, update: MetricsUpdate) -> None:
        assert self._metrics is not None, "StartTest comes first"
        self.store.add_event(Event.MetricsUpdate(update), self._metrics.split)
        tell_all(update, lambda state: self.renderer.update_test(EvaluationName(name), state))

    def flush(self) -> None:
        """Have all loggers hand what they hold to the system."""
        self.store.flush()


def _synced(item: Any) -> Any:
    """The item off its graph, which metrics that keep tensors would keep alive else."""
    sync = getattr(item, "sync", None)
    if sync is None:
        return item
    synced = sync()
    # One that works in place may return nothing.
    return item if synced is None else synced
