"""Precision and recall in one number."""

from __future__ import annotations

from burnpy.errors import ConfigError
from burnpy.tensor import Tensor
from burnpy.train.metric.classification import ClassificationMetricConfig, ClassReduction, DecisionRule
from burnpy.train.metric.confusion_metric import ConfusionMetric
from burnpy.train.metric.number_text import plain_float

__all__ = ["FBetaScoreMetric"]


class FBetaScoreMetric(ConfusionMetric):
    """Percent: ``(1 + β²)·TP / ((1 + β²)·TP + β²·FN + FP)``; a class with none of the three is left out of the mean.

    Args:
        config: rule and reduction.
        beta: weight of recall against precision; the default of 0, Burn's, is precision alone.

    Raises:
        ConfigError: ``beta`` is negative or not finite.

    Example:
        >>> metric = FBetaScoreMetric.binary(1.0, 0.5)
        >>> metric.update([[0.3], [0.2], [0.7], [0.1], [0.55]], [[0], [1], [0], [0], [1]]).serialized
        '50,5'
        >>> metric.name()
        'FBetaScore (1) @ Threshold(0.5) [Macro]'

    Source: Burn ``metric::FBetaScoreMetric``.
    """

    def __init__(self, config: ClassificationMetricConfig | None = None, *, beta: float = 0.0) -> None:
        if not 0.0 <= beta < float("inf"):
            raise ConfigError(f"beta must be finite and at least 0, got {beta}")
        super().__init__(config)
        self.beta = beta

    @classmethod
    def binary(cls, beta: float, threshold: float) -> FBetaScoreMetric:
        """Of one column, which holds above the threshold."""
        return cls(ClassificationMetricConfig(DecisionRule.Threshold(threshold)), beta=beta)

    @classmethod
    def multiclass(cls, beta: float, top_k: int, class_reduction: ClassReduction) -> FBetaScoreMetric:
        """Of the best ``top_k`` classes of each row."""
        return cls(ClassificationMetricConfig(DecisionRule.TopK(top_k), class_reduction), beta=beta)

    @classmethod
    def multilabel(cls, beta: float, threshold: float, class_reduction: ClassReduction) -> FBetaScoreMetric:
        """Of the labels above the threshold."""
        return cls(ClassificationMetricConfig(DecisionRule.Threshold(threshold), class_reduction), beta=beta)

    def name(self) -> str:
        """The name."""
        return f"FBetaScore ({plain_float(self.beta)}) @ {self.config}"

    def ratio(self, hits: Tensor, predicted: Tensor, positive: Tensor) -> Tensor:
        """Of each class."""
        # (1 + β²)·TP + β²·FN + FP, with FN = positive - TP and FP = predicted - TP. 0 / 0 is the NaN that is left out.
        square = self.beta**2
        return hits.mul_scalar(1.0 + square).div(positive.mul_scalar(square).add(predicted))
