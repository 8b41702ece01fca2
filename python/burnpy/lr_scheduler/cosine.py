"""A rate that falls along half a cosine."""

from __future__ import annotations

import math

from burnpy.config import KW_ONLY, Positive
from burnpy.lr_scheduler.checks import check_rate
from burnpy.lr_scheduler.config import LrSchedulerConfig, ScheduleConfig
from burnpy.lr_scheduler.scheduler import LrScheduler
from burnpy.record.state import RecordState, UInt

__all__ = ["CosineAnnealingLrScheduler", "CosineAnnealingLrSchedulerConfig"]

# What counts the calls before the first one: the next number is 0.
_BEFORE_FIRST = 2**64 - 1


class CosineAnnealingLrSchedulerConfig(ScheduleConfig):
    """From ``initial_lr`` down to ``min_lr`` in ``num_iters`` steps, then up again: there is no restart.

    Args:
        initial_lr: the first rate, in (0, 1].
        num_iters: how many steps half a wave has, at least 1.
        min_lr: the lowest rate, in [0, initial_lr].

    Raises:
        ConfigError: one of them is outside.

    Example:
        >>> schedule = CosineAnnealingLrSchedulerConfig(1.0, 2).init()
        >>> [round(schedule.step().base(), 12) for _ in range(4)]
        [1.0, 0.5, 0.0, 0.5]

    Source: Burn ``lr_scheduler::cosine``; Loshchilov & Hutter 2017, "SGDR", without its restarts.
    """

    initial_lr: float
    num_iters: Positive
    _: KW_ONLY
    min_lr: float = 0.0

    def validate(self) -> None:
        """Check the ranges."""
        check_rate(self, "initial_lr")
        check_rate(self, "min_lr", zero=True, limit=("initial_lr", self.initial_lr))

    def build(self) -> CosineAnnealingLrScheduler:
        """The bare schedule."""
        return CosineAnnealingLrScheduler(self)


class _State(RecordState):
    current_iter: UInt


class CosineAnnealingLrScheduler(LrScheduler):
    """``min_lr + ½ (initial_lr − min_lr) (1 + cos(π n / num_iters))`` at call n, from 0."""

    state: _State

    def __init__(self, config: CosineAnnealingLrSchedulerConfig) -> None:
        self.config = config
        self.state = _State(current_iter=_BEFORE_FIRST)

    def step(self) -> float:
        """The next rate."""
        current = (self.state.current_iter + 1) % 2**64
        self.state = _State(current_iter=current)
        low, high = self.config.min_lr, self.config.initial_lr
        return low + 0.5 * (high - low) * (1.0 + math.cos(current / self.config.num_iters * math.pi))


class _Cosine(LrSchedulerConfig, of=LrSchedulerConfig, name="Cosine"):
    value: CosineAnnealingLrSchedulerConfig
