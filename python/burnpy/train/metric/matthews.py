"""The correlation of decisions and truth."""

from __future__ import annotations

import math

from burnpy.errors import ArgumentError, ConfigError
from burnpy.tensor import Tensor
from burnpy.train.metric.classification import ClassificationMetricConfig, DecisionRule
from burnpy.train.metric.confusion_metric import ConfusionMetric
from burnpy.train.metric.confusion_stats import ConfusionStatsInput
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.metric_input import Values
from burnpy.train.metric.number_text import plain_float
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["MatthewsCorrelationCoefficientMetric"]


class MatthewsCorrelationCoefficientMetric(ConfusionMetric):
    """From -1 to 1, of the epoch's counts: ``(Σ TP·n - Σ p·t) / √((n² - Σ p²)(n² - Σ t²))``, and 0 where that is 0 / 0.

    The sums go over classes, of which p samples were predicted and t hold, of n. Made by ``binary`` or ``multiclass``;
    there is none of several labels.

    Args:
        threshold: above which the one column holds; ``None`` for the best of several classes.

    Raises:
        ConfigError: ``threshold`` is not from 0 to 1.
        ArgumentError: by ``update``: the batch is empty, a score is not finite, or not one class of each row holds.

    Example:
        >>> metric = MatthewsCorrelationCoefficientMetric.binary(0.5)
        >>> metric.name(), metric.update([[0.9], [0.8], [0.1], [0.2]], [[1], [0], [0], [0]]).formatted
        ('MatthewsCorrelationCoefficient @ Threshold(0.5)', 'epoch 0.5774 - batch 0.5774')

    Source: Burn 0.23 ``metric::MatthewsCorrelationCoefficientMetric``; Gorodkin 2004.
    """

    unit = None
    precision = 4

    def __init__(self, threshold: float | None = None) -> None:
        if threshold is not None and not 0.0 <= threshold <= 1.0:
            raise ConfigError(f"threshold must be from 0 to 1, got {threshold}")
        rule = DecisionRule.TopK(1) if threshold is None else DecisionRule.Threshold(threshold)
        super().__init__(ClassificationMetricConfig(rule))
        self.threshold = threshold

    @classmethod
    def binary(cls, threshold: float = 0.5) -> MatthewsCorrelationCoefficientMetric:
        """Of one column, which holds above the threshold."""
        return cls(threshold)

    @classmethod
    def multiclass(cls) -> MatthewsCorrelationCoefficientMetric:
        """Of the best class of each row."""
        return cls()

    def name(self) -> str:
        """Says the threshold."""
        rule = "Multiclass" if self.threshold is None else f"Threshold({plain_float(self.threshold)})"
        return f"MatthewsCorrelationCoefficient @ {rule}"

    def update(
        self, input: ConfusionStatsInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``ConfusionStatsInput``, or predictions and targets."""
        batch = ConfusionStatsInput.of(input, metadata)
        self._check(batch)
        return super().update(batch)

    def _check(self, batch: ConfusionStatsInput) -> None:
        rows, columns = batch.predictions.shape
        if rows == 0:
            raise ArgumentError(f"the batch is empty: its shape is {batch.predictions.shape}")
        if not batch.predictions.is_finite().all().item():
            raise ArgumentError("a prediction is not finite")
        if self.threshold is not None and columns != 1:
            raise ArgumentError(f"{self.name()} takes one column, got {columns}")
        if self.threshold is None:
            self._check_classes(batch, columns)

    def _check_classes(self, batch: ConfusionStatsInput, columns: int) -> None:
        if columns < 2:
            raise ArgumentError(f"{self.name()} takes two classes at least, got {columns}")
        if not batch.targets.cast("i64").sum_dim(1).equal(1).all().item():
            raise ArgumentError("exactly one class of each row must hold")

    def numbers(self, total: Tensor, batch: Tensor) -> tuple[float, float]:
        """Of two tables of counts, in whole numbers up to the quotient."""
        state = self.state
        return _correlation(total.tolist(), state.total_samples), _correlation(
            batch.tolist(), state.batch_samples
        )


def _correlation(counts: list[list[int]], samples: int) -> float:
    hits, predicted, positive = counts
    if len(hits) == 1:  # the other class of two
        hits = [*hits, samples - predicted[0] - positive[0] + hits[0]]
        predicted, positive = [*predicted, samples - predicted[0]], [*positive, samples - positive[0]]
    covariance = sum(hits) * samples - sum(p * t for p, t in zip(predicted, positive, strict=True))
    spread = [samples**2 - sum(count**2 for count in of) for of in (predicted, positive)]
    if 0 in spread:
        return 0.0
    return max(-1.0, min(1.0, covariance / (math.sqrt(spread[0]) * math.sqrt(spread[1]))))
