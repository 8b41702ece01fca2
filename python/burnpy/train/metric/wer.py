"""Errors per word."""

from __future__ import annotations

from burnpy.train.metric.cer import error_rate
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.metric_input import TokenInput, Values
from burnpy.train.metric.serialized_entry import SerializedEntry
from burnpy.train.metric.token_rows import lengths_before_pad

__all__ = ["WerInput", "WordErrorRate"]


class WerInput(TokenInput):
    """Ids of words ``(batch, width)``, and their references."""

    __slots__ = ()


class WordErrorRate(MeanMetric):
    """Percent: edit distance between the words of outputs and references, per word of the references.

    Args:
        pad_token: the first one ends its row.

    Example:
        >>> WordErrorRate(pad_token=9).update([[1, 2, 9], [3, 5, 9]], [[1, 3, 9], [3, 4, 9]]).serialized
        '50,4'

    Source: Burn ``metric::WordErrorRate``.
    """

    Input = WerInput
    unit = "%"
    higher_is_better = False

    def __init__(self, *, pad_token: int | None = None) -> None:
        super().__init__()
        self.pad_token = pad_token

    def with_pad_token(self, pad_token: int) -> WordErrorRate:
        """A copy whose rows end at this token."""
        return self._with(pad_token=pad_token)

    def name(self) -> str:
        """``WER``."""
        return "WER"

    def update(
        self, input: WerInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``WerInput``, or outputs and targets."""
        batch = WerInput.of(input, metadata)
        lengths = lengths_before_pad(batch.outputs, self.pad_token)
        references = lengths_before_pad(batch.targets, self.pad_token)
        return self.add(*error_rate(batch, lengths, references))
