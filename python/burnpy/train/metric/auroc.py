"""The area under the ROC curve."""

from __future__ import annotations

from burnpy.tensor import Tensor
from burnpy.train.metric.classification import ClassReduction
from burnpy.train.metric.prediction_metric import PredictionMetric, RankedScores

__all__ = ["AurocMetric"]


class AurocMetric(PredictionMetric):
    """Percent of pairs of a positive and a negative sample in which the positive scores higher; equal scores are half.

    Per class and then the mean (``Macro``), or of all decisions together (``Micro``). Classes without a positive or a
    negative are left out; if none is left, it warns and reports 50. A NaN score loses all its pairs.

    Example:
        >>> metric = AurocMetric.binary()
        >>> _ = metric.update([[0.9], [0.5], [0.5], [0.1]], [[1], [0], [1], [0]])
        >>> metric.result()
        87.5

    Source: Burn ``metric::AurocMetric``.
    """

    @classmethod
    def binary(cls) -> AurocMetric:
        """Of one column."""
        return cls()

    @classmethod
    def multiclass(cls, class_reduction: ClassReduction) -> AurocMetric:
        """Each class against the rest."""
        return cls(class_reduction)

    @classmethod
    def multilabel(cls, class_reduction: ClassReduction) -> AurocMetric:
        """Of each label."""
        return cls(class_reduction)

    def name(self) -> str:
        """The name."""
        return f"AUROC [{self.class_reduction.name}]"

    def area(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """Of each column."""
        scored = predictions.is_nan().bool_not()
        others = targets.bool_not()
        positive, negative = targets.bool_and(scored), others.bool_and(scored)
        ranked = RankedScores(predictions, positive, negative)
        won = ranked.positive.mul(ranked.negative_below).sum_dim(0)
        lost = ranked.negative.mul(ranked.positive_below).sum_dim(0)
        # won + ties / 2, doubled; ties are what is left of the pairs that have two scores.
        doubled = won.sub(lost).add(_pairs(positive, negative))
        return doubled.cast("f64").div(_pairs(targets, others).cast("f64").mul_scalar(2.0))


def _pairs(positive: Tensor, negative: Tensor) -> Tensor:
    return positive.cast("i64").sum_dim(0).mul(negative.cast("i64").sum_dim(0))
