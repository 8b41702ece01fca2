"""The area under the curve of precision and recall."""

from __future__ import annotations

from burnpy.tensor import Tensor
from burnpy.train.metric.classification import ClassReduction
from burnpy.train.metric.metric import MetricAttributes, NumericAttributes
from burnpy.train.metric.prediction_metric import PredictionMetric, RankedScores

__all__ = ["AucPrMetric"]


class AucPrMetric(PredictionMetric):
    """Average precision in percent: over all positives, the share of positives among the samples that score as high.

    Per class and then the mean (``Macro``), or of all decisions together (``Micro``). Classes without a positive are
    left out; if none is left, it warns and reports 50. NaN scores rank last.

    Example:
        >>> metric = AucPrMetric.binary()
        >>> _ = metric.update([[0.9], [0.5], [0.5], [0.1]], [[1], [0], [1], [0]])
        >>> round(metric.result(), 4)
        83.3333

    Source: Burn ``metric::AucPrMetric``.
    """

    @classmethod
    def binary(cls) -> AucPrMetric:
        """Of one column."""
        return cls()

    @classmethod
    def multiclass(cls, class_reduction: ClassReduction) -> AucPrMetric:
        """Each class against the rest."""
        return cls(class_reduction)

    @classmethod
    def multilabel(cls, class_reduction: ClassReduction) -> AucPrMetric:
        """Of each label."""
        return cls(class_reduction)

    def name(self) -> str:
        """The name."""
        return f"AUC-PR [{self.class_reduction.name}]"

    def attributes(self) -> MetricAttributes:
        """Unit and direction."""
        return NumericAttributes("%")

    def area(self, predictions: Tensor, targets: Tensor) -> Tensor:
        """Of each column."""
        scores = predictions.mask_fill(predictions.is_nan(), float("-inf"))
        ranked = RankedScores(scores, targets, targets.bool_not())
        positives = targets.cast("i64").sum_dim(0)
        hits = positives.sub(ranked.positive_below).cast("f64")
        below = ranked.positive_below.add(ranked.negative_below)
        predicted = below.neg().add_scalar(targets.shape[0]).cast("f64")
        precisions = ranked.positive.cast("f64").mul(hits.div(predicted))
        return precisions.sum_dim(0).div(positives.cast("f64"))
