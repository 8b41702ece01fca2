"""Metrics whose epoch is a weighted mean of their batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from burnpy.tensor.text import mean_lines
from burnpy.train.metric.metric import MetricAttributes, Numeric, NumericAttributes
from burnpy.train.metric.number_text import plain_float
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.numeric_state import NumericMetricState, Snapshot, entries_of
from burnpy.train.metric.serialized_entry import FormatOptions, SerializedEntry

__all__ = ["MeanMetric", "MeanText"]


class MeanMetric(Numeric):
    """Base of metrics that are a mean: ``update`` hands a number and its weight to ``add``.

    Example:
        >>> class Error(MeanMetric):
        ...     higher_is_better = False
        ...     def name(self):
        ...         return "Error"
        ...     def update(self, input, metadata=None):
        ...         return self.add(abs(input), 1)
        >>> error = Error()
        >>> error.update(-1.0).serialized, error.update(2.0).formatted, error.result()
        ('1,1', 'epoch 1.50 - batch 2.00', 1.5)
    """

    unit: ClassVar[str | None] = None
    precision: ClassVar[int] = 2
    higher_is_better: ClassVar[bool] = True
    state: NumericMetricState

    def __init__(self) -> None:
        self.state = NumericMetricState()

    def attributes(self) -> MetricAttributes:
        """Unit and direction."""
        return NumericAttributes(self.unit, self.higher_is_better)

    def add(self, value: float, n: int) -> SerializedEntry:
        """Take a batch of weight ``n`` in; what to say of it."""
        # A state of another class may give nothing.
        return MeanText(self, self.state.update(value, n) or self.state.snapshot())

    def compute(self) -> SerializedEntry:
        """The epoch so far."""
        return self.state.compute_final(self._options())

    def clear(self) -> None:
        """Forget all batches."""
        self.state.reset()

    def value(self) -> NumericEntry | None:
        """Of the last batch."""
        return self.state.current_value()

    def running_value(self) -> NumericEntry | None:
        """Of the epoch so far."""
        return self.state.running_value()

    def final_value(self) -> NumericEntry:
        """Of the epoch."""
        return self.state.final_value()

    def _options(self) -> FormatOptions:
        return FormatOptions(self.name(), self.unit, self.precision)


class MeanText(SerializedEntry):
    """The texts of a batch, made when they are asked for.

    Args:
        metric: whose they are.
        snapshot: its state after the batch.

    Example:
        >>> from burnpy.train.metric import LossMetric
        >>> MeanText(LossMetric(), (0.5, 1, 2.0, 2)).formatted
        'epoch 1.00 - batch 0.50'
    """

    __slots__ = ("_metric", "snapshot")

    def __init__(self, metric: MeanMetric, snapshot: Snapshot) -> None:
        self._metric = metric
        self.snapshot = snapshot

    @property
    def formatted(self) -> str:
        """The text to show."""
        current, running = entries_of(self.snapshot)
        return self._metric._options().line(running.current(), current.current())

    @property
    def serialized(self) -> str:
        """The text to write."""
        current, count, _, _ = self.snapshot
        return f"{plain_float(current)},{count}"

    @classmethod
    def lines(cls, entries: Sequence[SerializedEntry]) -> str:
        """The texts to write of several, in one call of the core."""
        if cls is not MeanText:
            # A class that is derived from this one may write something else.
            return super().lines(entries)
        return mean_lines([entry.snapshot for entry in entries])  # type: ignore[attr-defined]

    def is_not_available(self) -> bool:
        """Never."""
        return False
