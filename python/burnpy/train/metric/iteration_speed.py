"""Iterations per second."""

from __future__ import annotations

import time
from typing import Any

from burnpy.errors import ArgumentError
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["IterationSpeedMetric"]


class IterationSpeedMetric(MeanMetric):
    """Iterations of the epoch (items, where batches have no numbers) per second since its first update, which is 0.

    Unlike Burn: an epoch's mean is its own, not one over all epochs so far.

    Example:
        >>> IterationSpeedMetric().update(None, MetricMetadata(iteration=1)).serialized
        '0,1'

    Source: Burn ``metric::IterationSpeedMetric``.
    """

    unit = "iter/sec"

    def __init__(self) -> None:
        super().__init__()
        self._start: float | None = None

    def name(self) -> str:
        """``Iteration Speed``."""
        return "Iteration Speed"

    def update(self, input: Any, metadata: MetricMetadata | None = None) -> SerializedEntry:
        """Take a batch in."""
        done = _done(metadata)
        if self._start is None:
            self._start = time.perf_counter()
            return self.add(0.0, 1)
        seconds = time.perf_counter() - self._start
        return self.add(done / max(seconds, 1e-9), 1)

    def clear(self) -> None:
        """Forget all batches."""
        super().clear()
        self._start = None


def _done(metadata: MetricMetadata | None) -> int:
    if metadata is not None and metadata.iteration is not None:
        return metadata.iteration
    if metadata is None or metadata.progress is None:
        raise ArgumentError("the speed needs metadata with an iteration or a progress")
    return metadata.progress.items_processed
