"""Metrics that are a ratio of counts of right and wrong decisions."""

from __future__ import annotations

import math
from typing import ClassVar

from burnpy.errors import ArgumentError
from burnpy.record.state import RecordState, UInt
from burnpy.tensor import Tensor
from burnpy.train.metric.classification import ClassificationMetricConfig
from burnpy.train.metric.confusion_stats import ConfusionStats, ConfusionStatsInput
from burnpy.train.metric.metric import MetricAttributes, MetricMetadata, Numeric, NumericAttributes
from burnpy.train.metric.metric_input import Values
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.serialized_entry import FormatOptions, NumericText, SerializedEntry

__all__ = ["ConfusionMetric", "ConfusionStatsState"]


class ConfusionStatsState(RecordState):
    """Counts of the epoch and of the last batch: int ``(3, classes)`` of ``ConfusionStats``.

    Unlike Burn: integers, which do not stop at 2²⁴ as its single precision does.
    """

    total: Tensor | None = None
    batch: Tensor | None = None
    total_samples: UInt = 0
    batch_samples: UInt = 0


class ConfusionMetric(Numeric):
    """Base of precision, recall and their like: the epoch is the ratio of summed counts, not a mean over batches."""

    Input = ConfusionStatsInput
    unit: ClassVar[str | None] = "%"
    precision: ClassVar[int] = 2
    state: ConfusionStatsState

    def __init__(self, config: ClassificationMetricConfig | None = None) -> None:
        self.config = config or ClassificationMetricConfig()
        self.state = ConfusionStatsState()
        self._numbers: tuple[float, float] | None = None

    def attributes(self) -> MetricAttributes:
        """Unit and direction."""
        return NumericAttributes(self.unit)

    def ratio(self, hits: Tensor, predicted: Tensor, positive: Tensor) -> Tensor:
        """The fraction of each class, f64 of counts as f64; NaN for classes that do not count."""
        raise NotImplementedError

    def update(
        self, input: ConfusionStatsInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``ConfusionStatsInput``, or outputs and targets."""
        batch = ConfusionStatsInput.of(input, metadata)
        counts = ConfusionStats.of(batch, self.config).counts
        state = self.state
        if state.total is not None and state.total.shape != counts.shape:
            raise ArgumentError(
                f"{self.name()}: the batch has {counts.shape[1]} classes, those before had {state.total.shape[1]}"
            )
        state.total = counts if state.total is None else state.total.add(counts)
        state.batch, state.batch_samples = counts, batch.outputs.shape[0]
        state.total_samples += state.batch_samples
        self._numbers = None
        return self._text(NumericEntry.Aggregated(self._values()[1], state.batch_samples))

    def compute(self) -> SerializedEntry:
        """The epoch so far."""
        return self._text(self.final_value())

    def clear(self) -> None:
        """Forget all batches."""
        self.state = ConfusionStatsState()
        self._numbers = None

    def load_state(self, state: RecordState) -> None:
        """Go on from a state that was saved."""
        super().load_state(state)
        self._numbers = None

    def value(self) -> NumericEntry | None:
        """Of the last batch."""
        return _unless_nan(self._values()[1], self.state.batch_samples)

    def running_value(self) -> NumericEntry | None:
        """Of the epoch so far."""
        return _unless_nan(self._values()[0], self.state.total_samples)

    def final_value(self) -> NumericEntry:
        """Of the epoch."""
        return NumericEntry.Final(self._values()[0])

    def _values(self) -> tuple[float, float]:
        """Of the epoch so far and of the last batch, worked out once per batch and both at once."""
        if self._numbers is None:
            total, batch = self.state.total, self.state.batch
            if total is None or batch is None:
                return math.nan, math.nan
            self._numbers = self.numbers(total, batch)
        return self._numbers

    def numbers(self, total: Tensor, batch: Tensor) -> tuple[float, float]:
        """The numbers of two tables of counts, int ``(3, classes)``: here the means of ``ratio`` in percent."""
        counts = Tensor.stack([total, batch], 1).cast("f64")
        running, current = self.ratio(counts[0], counts[1], counts[2]).tolist()
        return _mean_of_classes(running), _mean_of_classes(current)

    def _text(self, entry: NumericEntry) -> SerializedEntry:
        running, current = self._values()
        return NumericText(FormatOptions(self.name(), self.unit, self.precision), running, current, entry)


def _mean_of_classes(ratios: list[float]) -> float:
    """Percent, of the classes that are not NaN."""
    counted = [ratio for ratio in ratios if not math.isnan(ratio)]
    return 100.0 * math.fsum(counted) / len(counted) if counted else math.nan


def _unless_nan(value: float, samples: int) -> NumericEntry | None:
    return None if math.isnan(value) else NumericEntry.Aggregated(value, samples)
