"""One schedule after another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING

from burnpy.errors import ConfigError
from burnpy.lr_scheduler.config import LrSchedulerConfig, ScheduleConfig, ScheduleLike
from burnpy.lr_scheduler.constant import as_scheduler
from burnpy.lr_scheduler.scheduler import LrScheduler
from burnpy.record.state import RecordState, UInt

if TYPE_CHECKING:
    from burnpy.record import LrSchedulerRecord

__all__ = ["SequentialLrScheduler", "SequentialLrSchedulerConfig"]

_MAX_STEP = 2**64 - 1


class SequentialLrSchedulerConfig(ScheduleConfig):
    """Schedules that take turns: the first until the first milestone, and so on. Each begins at its own beginning.

    Args:
        schedulers: configurations, or numbers for constant rates; at least one.
        milestones: the calls, counted from 0, at which the next one takes over; one less than schedules, rising.

    Raises:
        ConfigError: there is no schedule, or the milestones do not fit.

    Example:
        >>> from burnpy.lr_scheduler import LinearLrSchedulerConfig
        >>> warm = LinearLrSchedulerConfig(0.1, 0.3, 2)
        >>> schedule = SequentialLrSchedulerConfig([warm, 0.5], [2]).init()
        >>> [round(schedule.step().base(), 4) for _ in range(4)]
        [0.1, 0.2, 0.5, 0.5]

    Source: Burn ``lr_scheduler::sequential``.
    """

    schedulers: tuple[LrSchedulerConfig, ...]
    milestones: tuple[int, ...]

    def __init__(self, schedulers: Iterable[ScheduleLike], milestones: Iterable[int]) -> None:
        object.__setattr__(self, "schedulers", tuple(LrSchedulerConfig.of(each) for each in schedulers))
        object.__setattr__(self, "milestones", milestones)
        self.__post_init__()

    def validate(self) -> None:
        """Check the milestones."""
        check_milestones(len(self.schedulers), self.milestones)

    def build(self) -> SequentialLrScheduler:
        """The bare schedule."""
        return SequentialLrScheduler((each.build() for each in self.schedulers), self.milestones)


def check_milestones(num_schedulers: int, milestones: tuple[int, ...]) -> None:
    """Refuse milestones that do not part this number of schedules."""
    if not num_schedulers:
        raise ConfigError("schedulers must not be empty")
    if len(milestones) != num_schedulers - 1:
        raise ConfigError(
            f"milestones must be one less than the {num_schedulers} schedulers, got {len(milestones)}"
        )
    for before, after in zip((0, *milestones), milestones, strict=False):
        if after <= before:
            raise ConfigError(f"milestones must rise from above 0, got {list(milestones)}")


class _State(RecordState):
    step: UInt


class SequentialLrScheduler(LrScheduler):
    """Steps only the schedule whose turn it is.

    Raises:
        ConfigError: as :class:`SequentialLrSchedulerConfig`.
    """

    state: _State

    def __init__(self, schedulers: Iterable[LrScheduler | float], milestones: Iterable[int]) -> None:
        self.schedulers = [as_scheduler(each) for each in schedulers]
        self.milestones = tuple(milestones)
        check_milestones(len(self.schedulers), self.milestones)
        self.state = _State(step=0)

    def step(self) -> float:
        """The next rate.

        Raises:
            OverflowError: there were 2⁶⁴ − 1 calls before.
        """
        calls = self.state.step
        if calls >= _MAX_STEP:
            raise OverflowError(f"a sequential schedule ends after {_MAX_STEP} calls")
        self.state = _State(step=calls + 1)
        return self.schedulers[bisect_right(self.milestones, calls)].step()

    def to_record(self) -> LrSchedulerRecord:
        """The number of calls, and the records of all schedules under their numbers."""
        record = super().to_record()
        for index, each in enumerate(self.schedulers):
            record = record.with_record(str(index), each.to_record())
        return record

    def _restore(self, record: LrSchedulerRecord) -> None:
        super()._restore(record)
        for index, each in enumerate(self.schedulers):
            each._restore(record.record(str(index)))


class _Sequential(LrSchedulerConfig, of=LrSchedulerConfig, name="Sequential"):
    value: SequentialLrSchedulerConfig
