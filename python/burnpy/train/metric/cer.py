"""Errors per character."""

from __future__ import annotations

from burnpy.tensor import Tensor
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.metric_input import TokenInput, Values
from burnpy.train.metric.serialized_entry import SerializedEntry
from burnpy.train.metric.token_rows import edit_distances, lengths_without_pad

__all__ = ["CerInput", "CharErrorRate", "error_rate"]


class CerInput(TokenInput):
    """Ids of characters ``(batch, width)``, and their references."""

    __slots__ = ()


class CharErrorRate(MeanMetric):
    """Percent: edit distance between the characters of outputs and references, per character of the references.

    Args:
        pad_token: fills rows up at their end. As in Burn, a row is its first characters, as many as it has that are no
            padding.

    Example:
        >>> CharErrorRate().update([[1, 2], [3, 5]], [[1, 3], [3, 4]]).serialized
        '50,4'

    Source: Burn ``metric::CharErrorRate``.
    """

    Input = CerInput
    unit = "%"
    higher_is_better = False

    def __init__(self, *, pad_token: int | None = None) -> None:
        super().__init__()
        self.pad_token = pad_token

    def with_pad_token(self, pad_token: int) -> CharErrorRate:
        """A copy whose rows are filled up with this token."""
        return self._with(pad_token=pad_token)

    def name(self) -> str:
        """``CER``."""
        return "CER"

    def update(
        self, input: CerInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``CerInput``, or outputs and targets."""
        batch = CerInput.of(input, metadata)
        lengths = lengths_without_pad(batch.outputs, self.pad_token)
        references = lengths_without_pad(batch.targets, self.pad_token)
        return self.add(*error_rate(batch, lengths, references))


def error_rate(batch: TokenInput, lengths: Tensor, references: Tensor) -> tuple[float, int]:
    """Percent of errors in rows of these lengths, and the length of all references; 0 where there is none."""
    total: int = references.sum().item()
    if total == 0:
        return 0.0, 0
    targets = batch.targets.cast(batch.outputs.dtype)
    errors: int = edit_distances(batch.outputs, targets, lengths, references).sum().item()
    return 100.0 * errors / total, total
