"""What every renderer is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from burnpy.train.logger.progress_logger import EvaluationProgressLogger, TrainingProgressLogger

if TYPE_CHECKING:
    from collections.abc import Callable

    from burnpy.train.metric.metric import MetricDefinition, MetricEntry
    from burnpy.train.metric.numeric_entry import NumericEntry
    from burnpy.train.metric.store import MetricsUpdate

__all__ = [
    "EvaluationName",
    "Generic",
    "MetricState",
    "MetricsRenderer",
    "MetricsRendererEvaluation",
    "MetricsRendererTraining",
    "Numeric",
    "Stoppable",
    "tell_all",
]


class MetricState:
    """What a metric said: ``Generic(entry)`` of a text, ``Numeric(entry, numeric_entry)`` of a number.

    Source: Burn ``renderer::MetricState``.
    """

    __slots__ = ()
    Generic: ClassVar[type[Generic]]
    Numeric: ClassVar[type[Numeric]]
    entry: MetricEntry


@dataclass(slots=True)
class Generic(MetricState):
    """Of a metric of text."""

    entry: MetricEntry


@dataclass(slots=True)
class Numeric(MetricState):
    """Of a metric of numbers; a number of ``None`` counts as a step without a value."""

    entry: MetricEntry
    numeric_entry: NumericEntry | None = None


MetricState.Generic = Generic
MetricState.Numeric = Numeric


def tell_all(update: MetricsUpdate, tell: Callable[[MetricState], None]) -> None:
    """Tell what each metric said, those of text first."""
    for entry in update.entries:
        tell(Generic(entry))
    for number in update.entries_numeric:
        tell(Numeric(number.entry, number.numeric_entry))


@dataclass(frozen=True, slots=True)
class EvaluationName:
    """The name of a test.

    Source: Burn ``renderer::EvaluationName``.
    """

    name: str

    def __str__(self) -> str:
        return self.name


class Stoppable(Protocol):
    """What a key stops: an ``Interrupter``."""

    def stop(self, reason: str | None = None, /) -> object:
        """Ask for the end of the run after the batch at hand."""


class MetricsRendererTraining:
    """What is shown of a training; every method but the last does nothing here."""

    def update_train(self, state: MetricState) -> None:
        """A metric of the training has said something."""

    def update_valid(self, state: MetricState) -> None:
        """A metric of the validation has said something."""

    def on_train_end(self, summary: object | None) -> None:
        """The training is over; prints the summary if there is one."""
        if summary is not None:
            print(summary)


_NOTHING = (MetricsRendererTraining.update_train, MetricsRendererTraining.update_valid)


class MetricsRendererEvaluation:
    """What is shown of an evaluation; every method but the last does nothing here."""

    def update_test(self, name: EvaluationName, state: MetricState) -> None:
        """A metric of a test has said something."""

    def on_test_end(self, summary: object | None) -> None:
        """The evaluation is over; prints the summary if there is one."""
        if summary is not None:
            print(summary)


class MetricsRenderer(
    MetricsRendererTraining, MetricsRendererEvaluation, TrainingProgressLogger, EvaluationProgressLogger
):
    """Base of renderers: every method does nothing, but that the summary is printed; override what you need.

    All methods but ``close`` and ``manual_close`` are called on the thread of the metrics, one after another.

    Example:
        >>> class Epochs(MetricsRenderer):
        ...     def update_epoch(self, epoch):
        ...         print(f"epoch {epoch} is complete")
        >>> renderer = Epochs()
        >>> renderer.start(2, 1)
        >>> renderer.update_epoch(1)
        epoch 1 is complete

    Source: Burn ``renderer::MetricsRenderer``.
    """

    def register_metric(self, definition: MetricDefinition) -> None:
        """Learn of a metric, before the first update."""

    def update_batch(self, split: str, update: MetricsUpdate, items_processed: int) -> None:
        """A batch of ``"train"`` or ``"valid"`` is done.

        This is what a training calls; it tells ``update_train`` or ``update_valid`` of each metric, then
        ``update_split`` and ``log_event_training``.
        """
        tell = self.update_train if split == "train" else self.update_valid
        if getattr(tell, "__func__", None) not in _NOTHING:
            tell_all(update, tell)
        self.update_split(items_processed)
        self.log_event_training("Iteration")

    def manual_close(self) -> None:
        """Wait until the user closes the display; returns at once where there is none."""

    def close(self) -> None:
        """Give the terminal back, whatever has happened; may be called again, and what follows opens it anew."""
