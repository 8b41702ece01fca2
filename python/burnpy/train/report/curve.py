"""A metric over a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["Curve", "lower_is_better"]

# Files do not tell it. A test compares this with the metrics of the package.
_LOWER = ("Loss", "Perplexity", "CER", "WER", "CPU ", "Learning Rate")


def lower_is_better(metric: str) -> bool:
    """Whether small values of a metric are good ones, by its name; of a metric that burnpy does not have, no.

    Example:
        >>> lower_is_better("Loss"), lower_is_better("Accuracy")
        (True, False)
    """
    return metric.startswith(_LOWER)


@dataclass(frozen=True)
class Curve:
    """A metric on one split.

    Attributes:
        metric: its name.
        split: ``train`` or ``valid``.
        epochs: the value of each epoch, from 1; ``nan`` is one.
        batches: by epoch, the values of batches, where the metric has such.

    Example:
        >>> loss = Curve("Loss", "valid", {1: 0.9, 2: 0.5, 3: 0.7})
        >>> loss.last, loss.best, loss.lowest, loss.highest
        ((3, 0.7), (2, 0.5), (2, 0.5), (1, 0.9))
    """

    metric: str
    split: str
    epochs: Mapping[int, float]
    batches: Mapping[int, Sequence[float]] = field(default_factory=dict)

    @property
    def last(self) -> tuple[int, float] | None:
        """The newest epoch and its value."""
        return max(self.epochs.items(), default=None)

    @property
    def lowest(self) -> tuple[int, float] | None:
        """The epoch of the lowest value, and that; the first of equals."""
        return min(self._numbers(), key=lambda each: (each[1], each[0]), default=None)

    @property
    def highest(self) -> tuple[int, float] | None:
        """The epoch of the highest value, and that; the first of equals."""
        return min(self._numbers(), key=lambda each: (-each[1], each[0]), default=None)

    @property
    def best(self) -> tuple[int, float] | None:
        """The lowest or highest, as is better for the metric."""
        return self.lowest if lower_is_better(self.metric) else self.highest

    def _numbers(self) -> list[tuple[int, float]]:
        return [(epoch, value) for epoch, value in self.epochs.items() if not math.isnan(value)]
