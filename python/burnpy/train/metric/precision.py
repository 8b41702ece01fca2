"""How many of the predicted are right."""

from __future__ import annotations

from burnpy.tensor import Tensor
from burnpy.train.metric.classification import ClassificationMetricConfig, ClassReduction, DecisionRule
from burnpy.train.metric.confusion_metric import ConfusionMetric

__all__ = ["PrecisionMetric"]


class PrecisionMetric(ConfusionMetric):
    """Percent: ``TP / (TP + FP)``; a class that was never predicted counts as 0.

    Unlike Burn: ``multilabel`` has the name of its arguments, as the others have.

    Example:
        >>> metric = PrecisionMetric.binary(0.5)
        >>> metric.update([[0.3], [0.2], [0.7], [0.1], [0.55]], [[0], [1], [0], [0], [1]]).serialized
        '50,5'
        >>> PrecisionMetric.multiclass(2, ClassReduction.Micro).name()
        'Precision @ TopK(2) [Micro]'

    Source: Burn ``metric::PrecisionMetric``.
    """

    @classmethod
    def binary(cls, threshold: float) -> PrecisionMetric:
        """Of one column, which holds above the threshold."""
        return cls(ClassificationMetricConfig(DecisionRule.Threshold(threshold)))

    @classmethod
    def multiclass(cls, top_k: int, class_reduction: ClassReduction) -> PrecisionMetric:
        """Of the best ``top_k`` classes of each row."""
        return cls(ClassificationMetricConfig(DecisionRule.TopK(top_k), class_reduction))

    @classmethod
    def multilabel(cls, threshold: float, class_reduction: ClassReduction) -> PrecisionMetric:
        """Of the labels above the threshold."""
        return cls(ClassificationMetricConfig(DecisionRule.Threshold(threshold), class_reduction))

    def name(self) -> str:
        """The name."""
        return f"Precision @ {self.config}"

    def ratio(self, hits: Tensor, predicted: Tensor, positive: Tensor) -> Tensor:
        """Of each class."""
        return hits.div(predicted.clamp_min(1.0))
