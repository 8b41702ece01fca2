"""The longest common subsequence of outputs and references."""

from __future__ import annotations

from burnpy.errors import ArgumentError
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.metric_input import TokenInput, Values
from burnpy.train.metric.serialized_entry import SerializedEntry
from burnpy.train.metric.token_rows import common_lengths, lengths_before_pad

__all__ = ["RougeLInput", "RougeLScore"]


class RougeLInput(TokenInput):
    """Ids of tokens ``(batch, width)``, and their references."""

    __slots__ = ()


class RougeLScore(MeanMetric):
    """Percent, mean over rows: F1 of the longest common subsequence, ``2·l / (c + r)``; 100 if both rows are empty.

    Args:
        pad_token: the first one ends its row.

    Example:
        >>> RougeLScore().update([[1, 3, 5, 7, 9]], [[1, 2, 3, 4, 5]]).serialized
        '60,1'

    Source: Burn ``metric::RougeLScore``; Lin 2004.
    """

    Input = RougeLInput
    unit = "%"

    def __init__(self, *, pad_token: int | None = None) -> None:
        super().__init__()
        self.pad_token = pad_token

    def with_pad_token(self, pad_token: int) -> RougeLScore:
        """A copy whose rows end at this token."""
        return self._with(pad_token=pad_token)

    def name(self) -> str:
        """``ROUGE-L``."""
        return "ROUGE-L"

    def update(
        self, input: RougeLInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``RougeLInput``, or outputs and targets."""
        batch = RougeLInput.of(input, metadata)
        rows = batch.outputs.shape[0]
        if rows == 0:
            raise ArgumentError(f"the batch has no rows: its shape is {batch.outputs.shape}")
        lengths = lengths_before_pad(batch.outputs, self.pad_token)
        references = lengths_before_pad(batch.targets, self.pad_token)
        targets = batch.targets.cast(batch.outputs.dtype)
        common = common_lengths(batch.outputs, targets, lengths, references).cast("f64")
        both = lengths.add(references)
        scores = common.mul_scalar(200.0).div(both.cast("f64")).mask_fill(both.equal(0), 100.0)
        return self.add(scores.mean().item(), rows)
