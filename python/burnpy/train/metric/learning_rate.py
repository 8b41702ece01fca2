"""The learning rate."""

from __future__ import annotations

from typing import Any

from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["LearningRateMetric"]


class LearningRateMetric(MeanMetric):
    """The base rate, that of the first parameter group; 0 where there is none, as in validation.

    Example:
        >>> LearningRateMetric().update(None, MetricMetadata(lr=0.05)).serialized
        '0.05,1'

    Source: Burn ``metric::LearningRateMetric``.
    """

    higher_is_better = False

    def name(self) -> str:
        """``Learning Rate``."""
        return "Learning Rate"

    def update(self, input: Any, metadata: MetricMetadata | None = None) -> SerializedEntry:
        """Take a batch in."""
        rate = metadata.lr if metadata is not None else None
        if rate is None:
            return self.add(0.0, 1)
        return self.add(float(rate if isinstance(rate, float | int) else rate.base()), 1)
