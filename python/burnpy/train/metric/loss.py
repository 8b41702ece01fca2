"""The mean of the loss."""

from __future__ import annotations

from typing import Any, Literal

from burnpy.errors import ArgumentError, ConfigError
from burnpy.record.state import UInt
from burnpy.tensor import Tensor
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.metric_input import Values, tensor_of
from burnpy.train.metric.numeric_state import NumericMetricState
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = ["LossInput", "LossMetric", "LossState"]


class LossInput:
    """A loss, of one element or one per item."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Tensor = value if isinstance(value, Tensor) else tensor_of(value)


class LossState(NumericMetricState):
    """The mean, and how many items the loader had given when the last batch came."""

    items_seen: UInt = 0


class LossMetric(MeanMetric):
    """Mean of the loss over the epoch; lower is better.

    Args:
        weight_by: ``"elements"``, as Burn: a batch weighs as much as its loss has elements, so 1 where that is a mean
            already. ``"items"``: as much as it has items, for the exact mean over items where batches differ;
            their number is ``n``, or the step of the loader's progress.

    Example:
        >>> metric = LossMetric(weight_by="items")
        >>> for loss, n in [(0.7, 256), (0.8, 256), (0.9, 10)]:
        ...     _ = metric.update(Tensor([loss]), n=n)
        >>> round(metric.result(), 6)
        0.752874

    Source: Burn ``metric::LossMetric``.
    """

    Input = LossInput
    higher_is_better = False
    state: LossState

    def __init__(self, *, weight_by: Literal["elements", "items"] = "elements") -> None:
        if weight_by not in ("elements", "items"):
            raise ConfigError(f"weight_by must be 'elements' or 'items', got {weight_by!r}")
        super().__init__()
        self.state = LossState()
        self.weight_by = weight_by

    def name(self) -> str:
        """``Loss``."""
        return "Loss"

    def update(
        self, input: LossInput | Values, metadata: MetricMetadata | None = None, *, n: int | None = None
    ) -> SerializedEntry:
        """Take a loss in.

        Args:
            input: the loss, of any shape.
            metadata: its progress gives the number of items where ``n`` does not.
            n: the weight of this batch, whatever ``weight_by`` says.

        Raises:
            ArgumentError: the loss is empty, or a weight by items is wanted and nothing tells their number.
        """
        loss = input.value if isinstance(input, LossInput) else tensor_of(input)
        elements = loss.size
        if elements == 0:
            raise ArgumentError(f"the loss has no elements: its shape is {loss.shape}")
        if n is None:
            n = elements if self.weight_by == "elements" else self._items(metadata)
        return self.add((loss if elements == 1 else loss.mean()).item(), n)

    def clear(self) -> None:
        """Forget all batches."""
        super().clear()
        self.state.items_seen = 0

    def _items(self, metadata: MetricMetadata | None) -> int:
        if metadata is None or metadata.progress is None:
            raise ArgumentError(
                "a loss weighed by items needs update(loss, n=...), or metadata with a progress"
            )
        seen, self.state.items_seen = self.state.items_seen, metadata.progress.items_processed
        if self.state.items_seen < seen:
            raise ArgumentError(
                f"the loader's progress went back from {seen} to {self.state.items_seen} items"
            )
        return self.state.items_seen - seen
