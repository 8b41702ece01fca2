"""The overlap of masks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from burnpy.errors import ConfigError, ShapeError
from burnpy.record.state import Float, RecordState, UInt
from burnpy.tensor import Tensor
from burnpy.train.metric.metric import MetricAttributes, MetricMetadata, Numeric, NumericAttributes
from burnpy.train.metric.metric_input import MetricInput, Values
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.serialized_entry import FormatOptions, NumericText, SerializedEntry

__all__ = ["DiceInput", "DiceMetric", "DiceMetricConfig", "DiceState"]


class DiceInput(MetricInput):
    """Masks of 0 and 1, int ``(batch, classes, …)``, of three dimensions at least.

    Raises:
        ShapeError, DTypeError: they are not.
    """

    __slots__ = ()

    def _check(self) -> None:
        super()._check()
        if self.outputs.ndim < 3:
            self._refuse("must have three dimensions at least")
        self._want("int", self.outputs, "outputs")
        self._want("int", self.targets, "targets")


@dataclass(frozen=True)
class DiceMetricConfig:
    """What is added to numerator and denominator, and whether class 0 counts.

    Raises:
        ConfigError: ``epsilon`` is not positive and finite.
    """

    epsilon: float = 1e-7
    include_background: bool = False

    def __post_init__(self) -> None:
        if not 0.0 < self.epsilon < math.inf:
            raise ConfigError(f"epsilon must be positive and finite, got {self.epsilon}")

    def with_epsilon(self, epsilon: float) -> DiceMetricConfig:
        """The same with another epsilon."""
        return replace(self, epsilon=epsilon)

    def with_include_background(self, include_background: bool) -> DiceMetricConfig:
        """The same with class 0, or without."""
        return replace(self, include_background=include_background)


class DiceState(RecordState):
    """Sums of the epoch, and the last batch."""

    numerator: Float = 0.0
    denominator: Float = 0.0
    samples: UInt = 0
    current: Float = math.nan
    current_count: UInt = 0


class DiceMetric(Numeric):
    """``(2·Σ(o·t) + ε) / (Σo + Σt + ε)`` over batch, classes and space; of the epoch's sums, not a mean over batches.

    Args:
        config: ``DiceMetricConfig``; class 0 is left out by default, if there are others.
        ndim: number of dimensions of the masks, at least 3.

    Example:
        >>> DiceMetric().update([[[[1, 1], [0, 0]]]], [[[[1, 0], [1, 0]]]]).formatted
        'epoch 0.5000 - batch 0.5000'

    Source: Burn ``metric::DiceMetric``.
    """

    Input = DiceInput
    state: DiceState

    def __init__(self, config: DiceMetricConfig | None = None, *, ndim: int = 4) -> None:
        if ndim < 3:
            raise ConfigError(f"ndim must be at least 3, got {ndim}")
        self.config = config or DiceMetricConfig()
        self.ndim = ndim
        self.state = DiceState()

    @classmethod
    def with_config(cls, config: DiceMetricConfig, *, ndim: int = 4) -> DiceMetric:
        """One of this configuration."""
        return cls(config, ndim=ndim)

    def name(self) -> str:
        """The name."""
        return f"{self.ndim}D Dice Metric"

    def attributes(self) -> MetricAttributes:
        """Unit and direction."""
        return NumericAttributes()

    def update(
        self, input: DiceInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``DiceInput``, or outputs and targets."""
        batch = DiceInput.of(input, metadata)
        outputs, targets = self._foreground(batch.outputs), self._foreground(batch.targets)
        both = 2.0 * _total(outputs.mul(targets))
        either = _total(outputs) + _total(targets)
        self._add(both, either, batch.outputs.shape[0])
        return self._text(NumericEntry.Aggregated(self.state.current, self.state.current_count))

    def compute(self) -> SerializedEntry:
        """The epoch so far."""
        return self._text(self.final_value())

    def clear(self) -> None:
        """Forget all batches."""
        self.state = DiceState()

    def value(self) -> NumericEntry | None:
        """Of the last batch."""
        return NumericEntry.Aggregated(self.state.current, self.state.current_count)

    def running_value(self) -> NumericEntry | None:
        """Of the epoch so far."""
        return NumericEntry.Aggregated(self._running(), self.state.samples)

    def final_value(self) -> NumericEntry:
        """Of the epoch."""
        return NumericEntry.Final(self._running())

    def _foreground(self, masks: Tensor) -> Tensor:
        classes = masks.shape[1]
        if masks.ndim != self.ndim:
            raise ShapeError(f"{self.name()}: masks have {masks.ndim} dimensions, not {self.ndim}")
        if self.config.include_background:
            if classes < 2:
                raise ShapeError(f"{self.name()}: with the background there are two classes, got {classes}")
            return masks
        return masks.narrow(1, 1, classes - 1) if classes > 1 else masks

    def _add(self, numerator: float, denominator: float, samples: int) -> None:
        state, epsilon = self.state, self.config.epsilon
        state.numerator += numerator
        state.denominator += denominator
        state.samples += samples
        state.current, state.current_count = (numerator + epsilon) / (denominator + epsilon), samples

    def _running(self) -> float:
        if not self.state.samples:
            return math.nan
        epsilon = self.config.epsilon
        return (self.state.numerator + epsilon) / (self.state.denominator + epsilon)

    def _text(self, entry: NumericEntry) -> SerializedEntry:
        return NumericText(FormatOptions(self.name(), None, 4), self._running(), self.state.current, entry)


def _total(masks: Tensor) -> int:
    total: int = masks.cast("i64").sum().item()
    return total
