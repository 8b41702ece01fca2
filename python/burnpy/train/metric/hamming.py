"""The share of labels that are right."""

from __future__ import annotations

from burnpy.errors import ArgumentError
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.metric_input import MetricInput, Values, count
from burnpy.train.metric.number_text import debug_float
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["HammingScore", "HammingScoreInput"]


class HammingScoreInput(MetricInput):
    """Scores of labels, float ``(batch, labels)``, and targets, int of the same shape: those that are not 0 hold.

    Raises:
        ShapeError, DTypeError: they are not.
    """

    __slots__ = ()

    def _check(self) -> None:
        super()._check()
        if self.outputs.ndim != 2:
            self._refuse("must have shape (batch, labels)")
        self._want("float", self.outputs, "outputs")
        self._want("int", self.targets, "targets")


class HammingScore(MeanMetric):
    """Percent of labels, over all rows, that are predicted right; a score above the threshold predicts one.

    Args:
        threshold: of scores, exclusive.
        sigmoid: outputs are logits: take their sigmoid first.

    Example:
        >>> HammingScore().update([[0.9, 0.6], [0.2, 0.5]], [[1, 0], [0, 0]]).serialized
        '75,2'

    Source: Burn ``metric::HammingScore``.
    """

    Input = HammingScoreInput
    unit = "%"

    def __init__(self, *, threshold: float = 0.5, sigmoid: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.sigmoid = sigmoid

    def with_threshold(self, threshold: float) -> HammingScore:
        """A copy with another threshold."""
        return self._with(threshold=threshold)

    def with_sigmoid(self, sigmoid: bool) -> HammingScore:
        """A copy that takes the sigmoid of outputs, or does not."""
        return self._with(sigmoid=sigmoid)

    def name(self) -> str:
        """The name."""
        return f"Hamming Score @ Threshold({debug_float(self.threshold)})"

    def update(
        self, input: HammingScoreInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``HammingScoreInput``, or outputs and targets."""
        batch = HammingScoreInput.of(input, metadata)
        if batch.outputs.size == 0:
            raise ArgumentError(f"the batch has no labels: its shape is {batch.outputs.shape}")
        scores = batch.outputs.sigmoid() if self.sigmoid else batch.outputs
        right = scores.greater(self.threshold).equal(batch.targets.not_equal(0))
        return self.add(100.0 * (count(right) / right.size), right.shape[0])
