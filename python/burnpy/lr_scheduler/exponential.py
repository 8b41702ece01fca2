"""A rate that is multiplied by the same factor at every step."""

from __future__ import annotations

from burnpy.lr_scheduler.checks import check_rate
from burnpy.lr_scheduler.config import LrSchedulerConfig, ScheduleConfig
from burnpy.lr_scheduler.scheduler import LrScheduler
from burnpy.record.state import Float, RecordState

__all__ = ["ExponentialLrScheduler", "ExponentialLrSchedulerConfig"]


class ExponentialLrSchedulerConfig(ScheduleConfig):
    """``initial_lr``, then each rate ``gamma`` times the one before.

    Args:
        initial_lr: the first rate, in (0, 1].
        gamma: the factor, in (0, 1].

    Raises:
        ConfigError: one of them is outside.

    Example:
        >>> schedule = ExponentialLrSchedulerConfig(1.0, 0.5).init()
        >>> [schedule.step().base() for _ in range(3)]
        [1.0, 0.5, 0.25]

    Source: Burn ``lr_scheduler::exponential``.
    """

    initial_lr: float
    gamma: float

    def validate(self) -> None:
        """Check the ranges."""
        check_rate(self, "initial_lr")
        check_rate(self, "gamma")

    def build(self) -> ExponentialLrScheduler:
        """The bare schedule."""
        return ExponentialLrScheduler(self)


class _State(RecordState):
    previous_lr: Float


class ExponentialLrScheduler(LrScheduler):
    """By repeated multiplication. The record holds the last rate itself: it wins over another ``initial_lr``."""

    state: _State

    def __init__(self, config: ExponentialLrSchedulerConfig) -> None:
        self.config = config
        self.state = _State(previous_lr=config.initial_lr / config.gamma)

    def step(self) -> float:
        """The next rate."""
        rate = self.state.previous_lr * self.config.gamma
        self.state = _State(previous_lr=rate)
        return rate


class _Exponential(LrSchedulerConfig, of=LrSchedulerConfig, name="Exponential"):
    value: ExponentialLrSchedulerConfig
