"""A rate that drops every so many steps."""

from __future__ import annotations

import warnings

from burnpy.config import KW_ONLY, Positive
from burnpy.lr_scheduler.checks import check_finite
from burnpy.lr_scheduler.config import LrSchedulerConfig, ScheduleConfig
from burnpy.lr_scheduler.scheduler import LrScheduler
from burnpy.record.state import Int, RecordState

__all__ = ["StepLrScheduler", "StepLrSchedulerConfig"]

_LAST = 2**31 - 1


class StepLrSchedulerConfig(ScheduleConfig):
    """``initial_lr``, multiplied by ``gamma`` after every ``step_size`` steps.

    A rate that is not positive, or a ``gamma`` outside of (0, 1), is taken with a warning when it is built.

    Args:
        initial_lr: the first rate.
        step_size: how many steps a rate lasts, at least 1.
        gamma: the factor.

    Raises:
        ConfigError: ``step_size`` is less than 1, or a number is not finite.

    Example:
        >>> schedule = StepLrSchedulerConfig(0.5, 2).init()
        >>> [schedule.step().base() for _ in range(5)]
        [0.5, 0.5, 0.05, 0.05, 0.005000000000000001]

    Source: Burn ``lr_scheduler::step``.
    """

    initial_lr: float
    step_size: Positive
    _: KW_ONLY
    gamma: float = 0.1

    def validate(self) -> None:
        """Check the ranges."""
        check_finite(self, "initial_lr", "gamma")

    def build(self) -> StepLrScheduler:
        """The bare schedule."""
        if self.initial_lr <= 0.0:
            warnings.warn(f"initial_lr should be positive, got {self.initial_lr}", stacklevel=2)
        if not 0.0 < self.gamma < 1.0:
            warnings.warn(f"gamma should lie in (0, 1), got {self.gamma}", stacklevel=2)
        return StepLrScheduler(self)


class _State(RecordState):
    iter_idx: Int


class StepLrScheduler(LrScheduler):
    """``initial_lr · gamma^⌊n / step_size⌋`` at call n, from 0. It can be called 2³¹ times."""

    state: _State

    def __init__(self, config: StepLrSchedulerConfig) -> None:
        self.config = config
        self.state = _State(iter_idx=-1)

    def step(self) -> float:
        """The next rate.

        Raises:
            OverflowError: there were 2³¹ calls before, or the rate is too large for a number.
        """
        if self.state.iter_idx >= _LAST:
            raise OverflowError(f"a step schedule ends after {_LAST + 1} calls")
        self.state = _State(iter_idx=self.state.iter_idx + 1)
        drops = self.state.iter_idx // self.config.step_size
        try:
            return self.config.initial_lr * self.config.gamma**drops
        except OverflowError:
            raise OverflowError(f"gamma {self.config.gamma} to the power of {drops} is too large") from None

    def _accepts(self, state: RecordState) -> bool:
        return isinstance(state, _State) and -1 <= state.iter_idx <= _LAST


class _Step(LrSchedulerConfig, of=LrSchedulerConfig, name="Step"):
    value: StepLrSchedulerConfig
