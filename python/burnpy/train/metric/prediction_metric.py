"""Metrics that rank all predictions of an epoch."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from dataclasses import field

from burnpy.errors import ArgumentError
from burnpy.record.state import Float, RecordState
from burnpy.tensor import Tensor
from burnpy.train.metric.classification import ClassReduction
from burnpy.train.metric.confusion_stats import ConfusionStatsInput
from burnpy.train.metric.metric import MetricMetadata, Numeric
from burnpy.train.metric.metric_input import Values
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.serialized_entry import FormatOptions, NumericText, SerializedEntry

__all__ = ["PredictionAccumulatorState", "PredictionMetric", "RankedScores"]


class PredictionAccumulatorState(RecordState):
    """All predictions and targets of the epoch, and its value once that is computed."""

    predictions: list[Tensor] = field(default_factory=list)
    targets: list[Tensor] = field(default_factory=list)
    computed: Float | None = None


class RankedScores:
    """Scores of each column from low to high, and for each place what lies strictly below it.

    All are int ``(samples, columns)``, as are the bool arguments. Equal scores, -0 and 0 too, are at one place.

    Attributes:
        positive, negative: 1 where the sample holds, or does not.
        positive_below, negative_below: samples of lower scores.
    """

    def __init__(self, predictions: Tensor, positive: Tensor, negative: Tensor) -> None:
        scores, order = predictions.sort_with_indices(0)
        self.positive = positive.cast("i64").gather(0, order)
        self.negative = negative.cast("i64").gather(0, order)
        # The first of its equals: what is before it is below all of them.
        rises = scores.slice_dim(0, slice(1, None)).not_equal(scores.slice_dim(0, slice(0, -1)))
        first = Tensor.cat([Tensor.ones((1, scores.shape[1]), dtype="i64"), rises.cast("i64")], 0)
        self.positive_below = _before(self.positive, first)
        self.negative_below = _before(self.negative, first)


class PredictionMetric(Numeric):
    """Base of AUROC and AUC-PR: there is no number of a batch, only one of the epoch.

    Memory: a score and a target per item and class of the epoch.
    """

    Input = ConfusionStatsInput
    state: PredictionAccumulatorState

    def __init__(self, class_reduction: ClassReduction = ClassReduction.Macro) -> None:
        self.class_reduction = class_reduction
        self.state = PredictionAccumulatorState()

    @abstractmethod
    def area(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """The area of each column, f64 ``(1, columns)``; NaN where it has none.

        Args:
            predictions: float ``(samples, columns)``.
            targets: bool, the same.
        """

    def update(
        self, input: ConfusionStatsInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``ConfusionStatsInput``, or outputs and targets."""
        batch = ConfusionStatsInput.of(input, metadata)
        predictions, before = batch.predictions, self.state.predictions
        if before and before[0].shape[1] != predictions.shape[1]:
            raise ArgumentError(
                f"{self.name()}: the batch has {predictions.shape[1]} classes, those before had {before[0].shape[1]}"
            )
        before.append(predictions.inner())
        self.state.targets.append(batch.targets.inner())
        self.state.computed = None
        return SerializedEntry.not_available("%")

    def compute(self) -> SerializedEntry:
        """The epoch so far."""
        if not any(batch.size for batch in self.state.predictions):
            self.state.computed = math.nan
            return SerializedEntry.not_available("%")
        self.state.computed = self._area()
        options = FormatOptions(self.name(), "%", 2)
        return NumericText(options, self.state.computed, None, self.final_value())

    def clear(self) -> None:
        """Forget all batches."""
        self.state = PredictionAccumulatorState()

    def value(self) -> NumericEntry | None:
        """Of the last batch."""
        return None

    def running_value(self) -> NumericEntry | None:
        """Of the epoch so far."""
        return None

    def final_value(self) -> NumericEntry:
        """The value that was computed; NaN if there was no batch.

        Raises:
            RuntimeError: it was not.
        """
        if self.state.computed is None:
            raise RuntimeError(f"{self.name()}: call compute() before final_value()")
        return NumericEntry.Value(self.state.computed)

    def _area(self) -> float:
        predictions, targets = Tensor.cat(self.state.predictions), Tensor.cat(self.state.targets)
        if self.class_reduction is ClassReduction.Micro:
            predictions, targets = predictions.reshape(-1, 1), targets.reshape(-1, 1)
        areas = [
            area for area in self.area(predictions, targets).reshape(-1).tolist() if not math.isnan(area)
        ]
        if not areas:
            warnings.warn(f"{self.name()}: no class has what it takes, 50 is reported", stacklevel=3)
            return 50.0
        return 100.0 * (math.fsum(areas) / len(areas))


def _before(flags: Tensor, first: Tensor) -> Tensor:
    """How many flags are set before the first of the equals of each place."""
    # Counts only grow, so the highest at a first place up to here is that of the latest one.
    return flags.cumsum(0).sub(flags).mul(first).cummax(0)
