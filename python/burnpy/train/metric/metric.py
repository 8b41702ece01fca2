"""What a metric is: fed with every batch, asked at the end of the epoch."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, TypeAlias, TypeVar

from burnpy.record.state import RecordState
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.serialized_entry import SerializedEntry

__all__ = [
    "Adaptor",
    "Metric",
    "MetricAttributes",
    "MetricDefinition",
    "MetricEntry",
    "MetricId",
    "MetricMetadata",
    "Numeric",
    "NumericAttributes",
]

MetricId: TypeAlias = str
"""What metrics are told apart by: their names."""

I_co = TypeVar("I_co", covariant=True)


@dataclass(frozen=True, slots=True)
class NumericAttributes:
    """What plots and searches for the best epoch need: the unit of a metric's numbers, and their good end."""

    unit: str | None = None
    higher_is_better: bool = True


MetricAttributes: TypeAlias = NumericAttributes | None
"""Of a metric: those of its numbers, or ``None``."""


class _Progress(Protocol):
    @property
    def items_processed(self) -> int: ...


@dataclass(slots=True)
class MetricMetadata:
    """What a metric is told beside its input.

    Attributes:
        progress: the loader's ``Progress``, this batch included.
        iteration: number of the batch in its epoch, from 1.
        lr: the ``ModuleLearningRate`` of the last optimizer step, or a number; ``None`` outside of training.
    """

    progress: _Progress | None = None
    iteration: int | None = None
    lr: Any = None


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """Who a metric is, for loggers and renderers."""

    metric_id: MetricId
    name: str
    description: str | None
    attributes: MetricAttributes


@dataclass(slots=True)
class MetricEntry:
    """What one metric said."""

    metric_id: MetricId
    serialized_entry: SerializedEntry


class Adaptor(Protocol):
    """An output item that metrics can be fed from."""

    def adapt(self, input_type: type[I_co], /) -> I_co:
        """The input of a metric.

        Raises:
            TypeError: the item has nothing for inputs of this type.
        """


class Metric(ABC):
    """Base of metrics: ``update`` once per batch, ``compute`` at the end of the epoch, then ``clear``.

    Alone, without a training loop: ``update(outputs, targets)``, and for metrics of numbers ``result()``, and
    ``reset()`` before the next epoch.

    A metric of your own gives ``Input``, ``name``, ``update``, ``compute`` and ``clear``; for a mean derive
    from ``MeanMetric``, which needs two of them. What it keeps between batches is its ``state``, a ``RecordState``, so
    that checkpoints inside an epoch can hold it.

    Attributes:
        Input: what the output item is adapted to; ``None`` for a metric that reads only the metadata.
        state: what is kept between batches, or ``None``.

    Source: Burn ``metric::Metric``.
    """

    Input: ClassVar[type[Any] | None] = None
    state: RecordState | None = None

    @abstractmethod
    def name(self) -> str:
        """The name, which is also the identity: it differs where the parameters do."""

    def description(self) -> str | None:
        """More than the name says, or ``None``."""
        return None

    def attributes(self) -> MetricAttributes:
        """Unit and direction of the numbers, or ``None``."""
        return None

    @abstractmethod
    def update(self, input: Any, metadata: Any = None) -> SerializedEntry:
        """Take a batch in; what it says of it.

        Args:
            input: what the class says in ``Input``; built-in metrics take the outputs too, and then
            metadata: the targets in place of the ``MetricMetadata``.
        """

    @abstractmethod
    def compute(self) -> SerializedEntry:
        """What it says of the epoch so far; nothing is forgotten by that."""

    @abstractmethod
    def clear(self) -> None:
        """Forget all batches."""

    def reset(self) -> None:
        """As ``clear``, by the name that other libraries have."""
        self.clear()

    def definition(self) -> MetricDefinition:
        """Name, description and attributes."""
        return MetricDefinition(self.name(), self.name(), self.description(), self.attributes())

    def clone(self) -> Self:
        """An independent metric of the same parameters and state."""
        return copy.deepcopy(self)

    def load_state(self, state: RecordState) -> None:
        """Go on from a state that was saved.

        Raises:
            TypeError: it is another metric's.
        """
        if type(state) is not type(self.state):
            raise TypeError(
                f"{self.name()} has a state of type {type(self.state).__name__}, got {type(state).__name__}"
            )
        self.state = state

    def _with(self, **changes: Any) -> Self:
        """A copy with other parameters."""
        changed = self.clone()
        for name, value in changes.items():
            setattr(changed, name, value)
        return changed


class Numeric(Metric):
    """Base of metrics whose batches and epochs are numbers, for plots, summaries and early stopping.

    A metric of another base counts as one if it defines the same methods.

    Source: Burn ``metric::Numeric``.
    """

    @abstractmethod
    def value(self) -> NumericEntry | None:
        """Of the last batch; ``None`` if that has none."""

    @abstractmethod
    def running_value(self) -> NumericEntry | None:
        """Of the epoch so far; ``None`` if there is none yet."""

    @abstractmethod
    def final_value(self) -> NumericEntry:
        """Of the epoch, asked after ``compute``."""

    def result(self) -> float:
        """The number of all batches since ``reset``; NaN if there was none."""
        self.compute()
        return self.final_value().current()
