"""The share of rows whose best class is the right one."""

from __future__ import annotations

import math

from burnpy.tensor.hits import count_hits
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.metric_input import ClassInput, Values
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["AccuracyInput", "AccuracyMetric", "percent_of"]


class AccuracyInput(ClassInput):
    """Scores ``(batch, classes)`` and classes ``(batch,)``."""

    __slots__ = ()


class AccuracyMetric(MeanMetric):
    """Percent of rows whose best class (the first of equals) is the target.

    Args:
        pad_token: rows with this target are not counted; a batch of them alone is NaN with weight 0.

    Example:
        >>> metric = AccuracyMetric(pad_token=3)
        >>> metric.update([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], [0, 0, 3]).serialized
        '50,2'

    Source: Burn ``metric::AccuracyMetric``.
    """

    Input = AccuracyInput
    unit = "%"

    def __init__(self, *, pad_token: int | None = None) -> None:
        super().__init__()
        self.pad_token = pad_token

    def with_pad_token(self, pad_token: int) -> AccuracyMetric:
        """A copy that does not count rows with this target."""
        return self._with(pad_token=pad_token)

    def name(self) -> str:
        """``Accuracy``."""
        return "Accuracy"

    def update(
        self, input: AccuracyInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: an ``AccuracyInput``, or outputs and targets."""
        batch = input if isinstance(input, AccuracyInput) else AccuracyInput.of(input, metadata)
        return self.add(*percent_of(batch, None, self.pad_token))


def percent_of(batch: ClassInput, k: int | None, pad_token: int | None) -> tuple[float, int]:
    """Percent of hits among the rows that are not padding, and the number of these rows.

    Args:
        batch: scores and right classes.
        k: how many of the best classes may be the right one; ``None`` for the first of the best.
        pad_token: the target of padding, or ``None``.
    """
    hits, rows = count_hits(batch.outputs, batch.targets, k=k, pad_token=pad_token)
    return (100.0 * (hits / rows) if rows else math.nan), rows
