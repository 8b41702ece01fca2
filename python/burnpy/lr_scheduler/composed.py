"""Several schedules at once, made one by their product, sum or mean."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from burnpy.config import KW_ONLY
from burnpy.lr_scheduler.config import LrSchedulerConfig, ScheduleConfig, ScheduleLike
from burnpy.lr_scheduler.constant import as_scheduler
from burnpy.lr_scheduler.cosine import CosineAnnealingLrSchedulerConfig
from burnpy.lr_scheduler.exponential import ExponentialLrSchedulerConfig
from burnpy.lr_scheduler.linear import LinearLrSchedulerConfig
from burnpy.lr_scheduler.noam import NoamLrSchedulerConfig
from burnpy.lr_scheduler.scheduler import LrScheduler
from burnpy.lr_scheduler.step import StepLrSchedulerConfig

if TYPE_CHECKING:
    from burnpy.lr_scheduler.sequential import SequentialLrSchedulerConfig
    from burnpy.record import LrSchedulerRecord

__all__ = ["ComposedLrScheduler", "ComposedLrSchedulerConfig", "SchedulerReduction"]


class SchedulerReduction(enum.Enum):
    """How the rates of several schedules become one."""

    Avg = "Avg"
    """Their mean; 0 for none."""
    Sum = "Sum"
    """Their sum; 0 for none."""
    Prod = "Prod"
    """Their product; 1 for none."""

    def of(self, rates: list[float]) -> float:
        """One rate, worked out from left to right."""
        if self is SchedulerReduction.Prod:
            return math.prod(rates, start=1.0)
        count = len(rates) if self is SchedulerReduction.Avg else 1
        total = 0.0
        for rate in rates:  # `sum` rounds otherwise since Python 3.12
            total += rate / count
        return total


class ComposedLrSchedulerConfig(ScheduleConfig):
    """Schedules that all step together. Each of the methods named after a schedule gives a copy with one more.

    Args:
        schedulers: configurations, or numbers for constant rates.
        reduction: how their rates become one.

    Raises:
        ConfigError: one of the schedules is none.

    Example:
        >>> warm = LinearLrSchedulerConfig(0.25, 1.0, 3)
        >>> schedule = ComposedLrSchedulerConfig().linear(warm).constant(0.1).init()
        >>> [schedule.step().base() for _ in range(4)]
        [0.025, 0.05, 0.07500000000000001, 0.1]

    Source: Burn ``lr_scheduler::composed``.
    """

    _: KW_ONLY
    schedulers: tuple[LrSchedulerConfig, ...] = ()
    reduction: SchedulerReduction = SchedulerReduction.Prod

    def __init__(
        self,
        *,
        schedulers: Iterable[ScheduleLike] = (),
        reduction: SchedulerReduction = SchedulerReduction.Prod,
    ) -> None:
        object.__setattr__(self, "schedulers", tuple(LrSchedulerConfig.of(each) for each in schedulers))
        object.__setattr__(self, "reduction", reduction)
        self.__post_init__()

    def build(self) -> ComposedLrScheduler:
        """The bare schedule."""
        return ComposedLrScheduler((each.build() for each in self.schedulers), self.reduction)

    def constant(self, lr: float) -> Self:
        """A copy with a constant rate more."""
        return self._and(lr)

    def linear(self, config: LinearLrSchedulerConfig) -> Self:
        """A copy with a linear schedule more."""
        return self._and(config)

    def cosine(self, config: CosineAnnealingLrSchedulerConfig) -> Self:
        """A copy with a cosine schedule more."""
        return self._and(config)

    def exponential(self, config: ExponentialLrSchedulerConfig) -> Self:
        """A copy with an exponential schedule more."""
        return self._and(config)

    def noam(self, config: NoamLrSchedulerConfig) -> Self:
        """A copy with a Noam schedule more."""
        return self._and(config)

    def step(self, config: StepLrSchedulerConfig) -> Self:
        """A copy with a step schedule more."""
        return self._and(config)

    def composed(self, config: ComposedLrSchedulerConfig) -> Self:
        """A copy with a composed schedule more."""
        return self._and(config)

    def sequential(self, config: SequentialLrSchedulerConfig) -> Self:
        """A copy with a sequence of schedules more."""
        return self._and(config)

    def _and(self, schedule: ScheduleLike) -> Self:
        return type(self)(schedulers=(*self.schedulers, schedule), reduction=self.reduction)


class ComposedLrScheduler(LrScheduler):
    """Steps all its schedules and reduces their rates.

    Example:
        >>> schedule = ComposedLrScheduler([0.5], SchedulerReduction.Sum).with_custom_scheduler(0.25)
        >>> schedule.step()
        0.75
    """

    def __init__(
        self,
        schedulers: Iterable[LrScheduler | float] = (),
        reduction: SchedulerReduction = SchedulerReduction.Prod,
    ) -> None:
        self.schedulers = [as_scheduler(each) for each in schedulers]
        self.reduction = SchedulerReduction(reduction)

    def with_custom_scheduler(self, scheduler: LrScheduler | float) -> Self:
        """Add a schedule, also one of your own; returns the scheduler itself."""
        self.schedulers.append(as_scheduler(scheduler))
        return self

    def step(self) -> float:
        """The next rate."""
        return self.reduction.of([each.step() for each in self.schedulers])

    def to_record(self) -> LrSchedulerRecord:
        """The records of all schedules under their numbers."""
        record = super().to_record()
        for index, each in enumerate(self.schedulers):
            record = record.with_record(str(index), each.to_record())
        return record

    def _restore(self, record: LrSchedulerRecord) -> None:
        for index, each in enumerate(self.schedulers):
            each._restore(record.record(str(index)))


class _Composed(LrSchedulerConfig, of=LrSchedulerConfig, name="Composed"):
    value: ComposedLrSchedulerConfig
