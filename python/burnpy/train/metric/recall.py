"""How many of the right are predicted."""

from __future__ import annotations

from burnpy.tensor import Tensor
from burnpy.train.metric.classification import ClassificationMetricConfig, ClassReduction, DecisionRule
from burnpy.train.metric.confusion_metric import ConfusionMetric

__all__ = ["RecallMetric"]


class RecallMetric(ConfusionMetric):
    """Percent: ``TP / (TP + FN)``; a class that never held counts as 0.

    Example:
        >>> metric = RecallMetric.binary(0.5)
        >>> metric.update([[0.3], [0.2], [0.7], [0.1], [0.55]], [[0], [1], [0], [0], [1]]).serialized
        '50,5'

    Source: Burn ``metric::RecallMetric``.
    """

    @classmethod
    def binary(cls, threshold: float) -> RecallMetric:
        """Of one column, which holds above the threshold."""
        return cls(ClassificationMetricConfig(DecisionRule.Threshold(threshold)))

    @classmethod
    def multiclass(cls, top_k: int, class_reduction: ClassReduction) -> RecallMetric:
        """Of the best ``top_k`` classes of each row."""
        return cls(ClassificationMetricConfig(DecisionRule.TopK(top_k), class_reduction))

    @classmethod
    def multilabel(cls, threshold: float, class_reduction: ClassReduction) -> RecallMetric:
        """Of the labels above the threshold."""
        return cls(ClassificationMetricConfig(DecisionRule.Threshold(threshold), class_reduction))

    def name(self) -> str:
        """The name."""
        return f"Recall @ {self.config}"

    def ratio(self, hits: Tensor, predicted: Tensor, positive: Tensor) -> Tensor:
        """Of each class."""
        return hits.div(positive.clamp_min(1.0))
