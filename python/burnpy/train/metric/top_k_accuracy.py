"""The share of rows whose right class is among the best."""

from __future__ import annotations

from burnpy.errors import ArgumentError, ConfigError
from burnpy.tensor import Tensor
from burnpy.train.metric.accuracy import percent_of
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.metric_input import ClassInput, Values
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["TopKAccuracyInput", "TopKAccuracyMetric", "best_classes", "checked_top_k"]


class TopKAccuracyInput(ClassInput):
    """Scores ``(batch, classes)`` and classes ``(batch,)``."""

    __slots__ = ()


class TopKAccuracyMetric(MeanMetric):
    """Percent of rows whose target is among the ``k`` best classes.

    Args:
        k: from 1 to the number of classes.
        pad_token: rows with this target are not counted.

    Example:
        >>> TopKAccuracyMetric(2).update([[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]], [1, 0]).serialized
        '50,2'

    Source: Burn ``metric::TopKAccuracyMetric``.
    """

    Input = TopKAccuracyInput
    unit = "%"

    def __init__(self, k: int = 1, *, pad_token: int | None = None) -> None:
        super().__init__()
        self.k = checked_top_k(k)
        self.pad_token = pad_token

    def with_pad_token(self, pad_token: int) -> TopKAccuracyMetric:
        """A copy that does not count rows with this target."""
        return self._with(pad_token=pad_token)

    def name(self) -> str:
        """The name."""
        return f"Top-K Accuracy @ TopK({self.k})"

    def update(
        self, input: TopKAccuracyInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``TopKAccuracyInput``, or outputs and targets."""
        batch = TopKAccuracyInput.of(input, metadata)
        _check_classes(batch.outputs, self.k)
        return self.add(*percent_of(batch, self.k, self.pad_token))


def best_classes(outputs: Tensor, k: int) -> Tensor:
    """The ``k`` classes of the highest scores, int ``(batch, k)`` of scores ``(batch, classes)``.

    Raises:
        ArgumentError: there are fewer classes.
    """
    _check_classes(outputs, k)
    return outputs.argtopk(k, 1)


def _check_classes(outputs: Tensor, k: int) -> None:
    classes = outputs.shape[1]
    if k > classes:
        raise ArgumentError(f"k = {k} is more than the {classes} classes")


def checked_top_k(k: int) -> int:
    """The number, if there can be so many best.

    Raises:
        ConfigError: it is below 1.
    """
    if k < 1:
        raise ConfigError(f"k must be at least 1, got {k}")
    return k
