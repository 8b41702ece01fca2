"""True and false, positives and negatives: counted per class."""

from __future__ import annotations

from burnpy.errors import ArgumentError
from burnpy.tensor import Tensor
from burnpy.train.metric.classification import ClassificationMetricConfig, ClassReduction, DecisionRule
from burnpy.train.metric.metric_input import MetricInput
from burnpy.train.metric.top_k_accuracy import best_classes

__all__ = ["ConfusionStats", "ConfusionStatsInput"]


class ConfusionStatsInput(MetricInput):
    """Scores of classes, float ``(batch, classes)``, best normalised, and which hold, of the same shape.

    Targets are bool; integers hold where they are not 0.

    Raises:
        ShapeError, DTypeError: they are not.
    """

    __slots__ = ()

    @property
    def predictions(self) -> Tensor:
        """The scores."""
        return self.outputs

    def _check(self) -> None:
        super()._check()
        if self.outputs.ndim != 2:
            self._refuse("must have shape (batch, classes)")
        self._want("float", self.outputs, "predictions")
        if self.targets.kind == "int":
            self.targets = self.targets.not_equal(0)
        self._want("bool", self.targets, "targets")


class ConfusionStats:
    """Counts of a batch, or of several: per class, or of all together.

    Args:
        counts: int ``(3, classes)``: true positives, predicted positives, positives; one column if they are together.
        cells: number of decisions per column.

    Example:
        >>> batch = ConfusionStatsInput([[0.3], [0.2], [0.7], [0.1], [0.55]], [[0], [1], [0], [0], [1]])
        >>> stats = ConfusionStats.of(batch, ClassificationMetricConfig())
        >>> stats.true_positive(), stats.false_positive(), stats.true_negative(), stats.false_negative()
        ([1], [1], [2], [1])
    """

    def __init__(self, counts: Tensor, cells: int) -> None:
        self.counts = counts
        self.cells = cells

    @classmethod
    def of(cls, batch: ConfusionStatsInput, config: ClassificationMetricConfig) -> ConfusionStats:
        """The counts of a batch.

        Raises:
            ArgumentError: there is no class, or the rule wants more best classes than there are.
        """
        rows, classes = batch.predictions.shape
        if classes == 0:
            raise ArgumentError(f"the batch has no classes: its shape is {batch.predictions.shape}")
        predicted, positive = _decide(batch.predictions, config.decision_rule), batch.targets
        masks = Tensor.stack([predicted.bool_and(positive), predicted, positive]).cast("i64")
        counts = masks.sum_dim(1).reshape(3, classes)
        if config.class_reduction is ClassReduction.Macro:
            return cls(counts, rows)
        return cls(counts.sum_dim(1), rows * classes)

    def true_positive(self) -> list[int]:
        """Predicted and right, per class."""
        return self._row(0)

    def predicted_positive(self) -> list[int]:
        """Predicted."""
        return self._row(1)

    def positive(self) -> list[int]:
        """Right."""
        return self._row(2)

    def false_positive(self) -> list[int]:
        """Predicted and wrong."""
        return [predicted - hit for predicted, hit in zip(self._row(1), self._row(0), strict=True)]

    def false_negative(self) -> list[int]:
        """Right and not predicted."""
        return [positive - hit for positive, hit in zip(self._row(2), self._row(0), strict=True)]

    def true_negative(self) -> list[int]:
        """Neither."""
        return [
            self.cells - wrong - positive
            for wrong, positive in zip(self.false_positive(), self._row(2), strict=True)
        ]

    def negative(self) -> list[int]:
        """Not right."""
        return [self.cells - positive for positive in self._row(2)]

    def support(self) -> list[int]:
        """All decisions."""
        return [self.cells] * self.counts.shape[1]

    def _row(self, index: int) -> list[int]:
        row: list[int] = self.counts.select_dim(0, index).tolist()
        return row


def _decide(predictions: Tensor, rule: DecisionRule) -> Tensor:
    if isinstance(rule, DecisionRule.Threshold):
        return predictions.greater(rule.value)
    assert isinstance(rule, DecisionRule.TopK)
    best = best_classes(predictions, rule.value)
    none = Tensor.zeros(predictions.shape, dtype="i32")
    return none.scatter(1, best, best.ones_like().cast("i32"), "add").not_equal(0)
