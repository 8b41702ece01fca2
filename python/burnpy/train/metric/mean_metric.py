"""Metrics whose epoch is a weighted mean of their batches."""

from __future__ import annotations

from typing import ClassVar

from burnpy.train.metric.metric import MetricAttributes, Numeric, NumericAttributes
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.numeric_state import NumericMetricState
from burnpy.train.metric.serialized_entry import FormatOptions, SerializedEntry

__all__ = ["MeanMetric"]


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
        self.state.update(value, n)
        return self.state.compute_update(self._options())

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
