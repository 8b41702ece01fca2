"""How many tokens the model hesitates between."""

from __future__ import annotations

import math

from burnpy.record.state import Float, RecordState, UInt
from burnpy.tensor.module import cross_entropy
from burnpy.train.metric.metric import MetricAttributes, MetricMetadata, Numeric, NumericAttributes
from burnpy.train.metric.metric_input import ClassInput, Values, count
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.serialized_entry import FormatOptions, NumericText, SerializedEntry

__all__ = ["PerplexityInput", "PerplexityMetric", "PerplexityState"]


class PerplexityInput(ClassInput):
    """Logits ``(tokens, vocabulary)`` and tokens ``(tokens,)``."""

    __slots__ = ()


class PerplexityState(RecordState):
    """Negative log-likelihood and number of the epoch's tokens, and the last batch."""

    sum_nll: Float = 0.0
    total_tokens: UInt = 0
    current: Float = math.nan
    current_tokens: UInt = 0

    def update(self, nll: float, tokens: int) -> None:
        """Take in a batch."""
        self.sum_nll += nll
        self.total_tokens += tokens
        self.current = _perplexity(nll, tokens)
        self.current_tokens = tokens

    def running(self) -> float:
        """Of all tokens so far; infinite if there was none."""
        return _perplexity(self.sum_nll, self.total_tokens)


class PerplexityMetric(Numeric):
    """``exp`` of the mean negative log-likelihood of the target tokens; over the epoch, of all its tokens.

    Args:
        pad_token: tokens with this target are not counted. Unlike Burn: it need not be one of the vocabulary.

    Raises:
        TensorIndexError: by ``update``: a target is not in the vocabulary.

    Example:
        >>> metric = PerplexityMetric()
        >>> metric.update([[0.0, 0.0, 0.0]], [1]).formatted
        'epoch 3.00 - batch 3.00'

    Source: Burn ``metric::PerplexityMetric``.
    """

    Input = PerplexityInput
    state: PerplexityState

    def __init__(self, *, pad_token: int | None = None) -> None:
        self.state = PerplexityState()
        self.pad_token = pad_token

    def with_pad_token(self, pad_token: int) -> PerplexityMetric:
        """A copy that does not count tokens with this target."""
        return self._with(pad_token=pad_token)

    def name(self) -> str:
        """``Perplexity``."""
        return "Perplexity"

    def attributes(self) -> MetricAttributes:
        """Unit and direction."""
        return NumericAttributes(higher_is_better=False)

    def update(
        self, input: PerplexityInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``PerplexityInput``, or outputs and targets."""
        batch = PerplexityInput.of(input, metadata)
        pad, targets = self.pad_token, batch.targets
        ignored = () if pad is None else (pad,)
        losses = cross_entropy(batch.outputs.inner(), targets, ignored=ignored, reduction="none")
        tokens = targets.size if pad is None else count(targets.not_equal(pad))
        self.state.update(losses.sum().item(), tokens)
        return self._text(NumericEntry.Aggregated(self.state.current, tokens))

    def compute(self) -> SerializedEntry:
        """The epoch so far."""
        return self._text(self.final_value())

    def clear(self) -> None:
        """Forget all batches."""
        self.state = PerplexityState()

    def value(self) -> NumericEntry | None:
        """Of the last batch."""
        return NumericEntry.Aggregated(self.state.current, self.state.current_tokens)

    def running_value(self) -> NumericEntry | None:
        """Of the epoch so far."""
        return NumericEntry.Aggregated(self.state.running(), self.state.total_tokens)

    def final_value(self) -> NumericEntry:
        """Of the epoch."""
        return NumericEntry.Final(self.state.running())

    def _text(self, entry: NumericEntry) -> SerializedEntry:
        options = FormatOptions(self.name(), None, 2)
        return NumericText(options, self.state.running(), self.state.current, entry)


def _perplexity(nll: float, tokens: int) -> float:
    if tokens == 0:
        return math.inf
    try:
        return math.exp(nll / tokens)
    except OverflowError:
        return math.inf
