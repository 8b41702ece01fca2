"""Runs of tokens that outputs share with their references."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from burnpy.config.variant import Variants
from burnpy.errors import ArgumentError, ConfigError
from burnpy.tensor import Tensor
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.metric_input import TokenInput, Values, count
from burnpy.train.metric.serialized_entry import SerializedEntry
from burnpy.train.metric.token_rows import lengths_before_pad

__all__ = ["BleuInput", "BleuScore", "BleuSmoothing"]

# Elements of a table of all pairs of tokens, for so many rows at a time.
_TABLE = 1 << 22


class BleuInput(TokenInput):
    """Ids of tokens ``(batch, width)``, and their references."""

    __slots__ = ()


class BleuSmoothing(Variants):
    """What counts where no run of a length is shared.

    Nothing (``None_``), part of a run (``AddEpsilon(epsilon)``), or half as much with each such length
    (``Exponential``).
    """

    None_: ClassVar[type[_Nothing]]
    AddEpsilon: ClassVar[type[_AddEpsilon]]
    Exponential: ClassVar[type[_Exponential]]


class _Nothing(BleuSmoothing, of=BleuSmoothing, name="None_"):
    """The score is 0."""


class _AddEpsilon(BleuSmoothing, of=BleuSmoothing, name="AddEpsilon"):
    """``value`` runs are shared."""

    value: float


class _Exponential(BleuSmoothing, of=BleuSmoothing, name="Exponential"):
    """Half a run is shared, then a quarter, an eighth."""


class BleuScore(MeanMetric):
    """Percent: geometric mean, over n up to ``max_n``, of the share of n-grams that are in the reference.

    There is one reference per row; n-grams and lengths are counted over the batch, and outputs shorter than their
    references are penalised.
    The epoch is the mean of batches, weighted by their rows, as in Burn: not the BLEU of the whole corpus.

    Cost: tables of all pairs of tokens of a row.

    Args:
        max_n: length of the longest runs, at least 1.
        pad_token: the first one ends its row.
        smoothing: a ``BleuSmoothing``.

    Example:
        >>> metric = BleuScore.with_max_n(1)
        >>> metric.name(), metric.update([[1, 2, 3, 6, 7]], [[1, 2, 3, 4, 5]]).formatted
        ('BLEU-1', 'epoch 60.00 % - batch 60.00 %')

    Source: Burn ``metric::BleuScore``; Papineni et al. 2002.
    """

    Input = BleuInput
    unit = "%"

    def __init__(
        self, max_n: int = 4, *, pad_token: int | None = None, smoothing: BleuSmoothing | None = None
    ) -> None:
        if max_n < 1:
            raise ConfigError(f"max_n must be at least 1, got {max_n}")
        super().__init__()
        self.max_n = max_n
        self.pad_token = pad_token
        self.smoothing = smoothing or BleuSmoothing.None_()

    @classmethod
    def with_max_n(cls, max_n: int) -> BleuScore:
        """One of runs up to this length."""
        return cls(max_n)

    def with_pad_token(self, pad_token: int) -> BleuScore:
        """A copy whose rows end at this token."""
        return self._with(pad_token=pad_token)

    def with_smoothing(self, smoothing: BleuSmoothing) -> BleuScore:
        """A copy that smooths otherwise."""
        return self._with(smoothing=smoothing)

    def name(self) -> str:
        """The name."""
        return f"BLEU-{self.max_n}"

    def update(
        self, input: BleuInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``BleuInput``, or outputs and targets."""
        batch = BleuInput.of(input, metadata)
        rows = batch.outputs.shape[0]
        if rows == 0:
            raise ArgumentError(f"the batch has no rows: its shape is {batch.outputs.shape}")
        return self.add(100.0 * self._score(batch), rows)

    def _score(self, batch: BleuInput) -> float:
        lengths = lengths_before_pad(batch.outputs, self.pad_token)
        references = lengths_before_pad(batch.targets, self.pad_token)
        length, reference = lengths.sum().item(), references.sum().item()
        if length == 0:
            return 0.0
        totals = [lengths.sub(n - 1).clamp_min(0).sum().item() for n in range(1, self.max_n + 1)]
        shared = _shared(_ended(batch.outputs, lengths, 1), _ended(batch.targets, references, 2), self.max_n)
        logs = [math.log(share) for share in self._shares(shared, totals) if share > 0]
        if len(logs) < self.max_n:
            return 0.0
        penalty = math.exp(1 - reference / length) if length < reference else 1.0
        return penalty * math.exp(math.fsum(logs) / self.max_n)

    def _shares(self, shared: list[int], totals: list[int]) -> Iterator[float]:
        halvings = 0
        for hits, total in zip(shared, totals, strict=True):
            if hits or not total:
                yield hits / max(total, 1)
            elif isinstance(self.smoothing, BleuSmoothing.AddEpsilon):
                yield self.smoothing.value / total
            elif isinstance(self.smoothing, BleuSmoothing.Exponential):
                halvings += 1
                yield 1 / (2**halvings * total)
            else:
                yield 0.0


def _ended(tokens: Tensor, lengths: Tensor, past: int) -> Tensor:
    """The tokens behind two columns of their own: ids that nothing else has stand where a row has ended."""
    tokens = tokens.cast("i64")
    inside = Tensor.arange(0, tokens.shape[1], dtype="i64").reshape(1, -1).lower(lengths)
    return Tensor.full(tokens.shape, -(1 << 62) - past, dtype="i64").mask_where(inside, tokens)


def _shared(outputs: Tensor, targets: Tensor, max_n: int) -> list[int]:
    """For each n, how many n-grams of outputs are in their references, none oftener than there."""
    width = max(outputs.shape[1], targets.shape[1], 1)
    size = max(1, _TABLE // width**2)
    parts = zip(outputs.split(size), targets.split(size), strict=True)
    return [sum(part) for part in zip(*(_shared_of_rows(*part, max_n) for part in parts), strict=True)]


def _shared_of_rows(outputs: Tensor, targets: Tensor, max_n: int) -> list[int]:
    left = outputs.unsqueeze_dim(2)
    same, found = left.equal(outputs.unsqueeze_dim(1)), left.equal(targets.unsqueeze_dim(1))
    same_runs, found_runs = same, found
    shared = [_matched(same_runs, found_runs)]
    for n in range(2, max_n + 1):
        if min(found_runs.shape[1:]) < 2:  # a row has no run of this length, and none of a greater one
            return shared + [0] * (max_n + 1 - n)
        same_runs, found_runs = _longer(same_runs, same, n), _longer(found_runs, found, n)
        shared.append(_matched(same_runs, found_runs))
    return shared


def _longer(runs: Tensor, tokens: Tensor, n: int) -> Tensor:
    """Where runs of ``n`` tokens are equal, from where those of ``n - 1`` are; by their starts."""
    _, rows, columns = runs.shape
    starts = runs.narrow(1, 0, rows - 1).narrow(2, 0, columns - 1)
    return starts.bool_and(tokens.narrow(1, n - 1, rows - 1).narrow(2, n - 1, columns - 1))


def _matched(same: Tensor, found: Tensor) -> int:
    """How many runs have fewer of their equals before them than there are in the reference."""
    place = Tensor.arange(0, same.shape[1], dtype="i64")
    earlier = place.unsqueeze_dim(1).greater(place.unsqueeze_dim(0)).unsqueeze_dim(0)
    before = same.bool_and(earlier).cast("i64").sum_dim(2)
    return count(before.lower(found.cast("i64").sum_dim(2)))
