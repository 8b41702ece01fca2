"""A rate that moves evenly from one value to another."""

from __future__ import annotations

from burnpy.config import Positive
from burnpy.lr_scheduler.checks import check_rate
from burnpy.lr_scheduler.config import LrSchedulerConfig, ScheduleConfig
from burnpy.lr_scheduler.scheduler import LrScheduler
from burnpy.record.state import RecordState, UInt

__all__ = ["LinearLrScheduler", "LinearLrSchedulerConfig"]


class LinearLrSchedulerConfig(ScheduleConfig):
    """From ``initial_lr`` to ``final_lr`` in ``num_iters`` steps.

    Args:
        initial_lr: the first rate, in (0, 1].
        final_lr: the last rate, in [0, 1].
        num_iters: how many steps lie between them, at least 1.

    Raises:
        ConfigError: one of them is outside.

    Example:
        >>> schedule = LinearLrSchedulerConfig(0.5, 0.25, 2).init()
        >>> [schedule.step().base() for _ in range(4)]
        [0.5, 0.375, 0.25, 0.25]

    Source: Burn ``lr_scheduler::linear``.
    """

    initial_lr: float
    final_lr: float
    num_iters: Positive

    def validate(self) -> None:
        """Check the ranges."""
        check_rate(self, "initial_lr")
        check_rate(self, "final_lr", zero=True)

    def build(self) -> LinearLrScheduler:
        """The bare schedule."""
        return LinearLrScheduler(self)


class _State(RecordState):
    remaining_iters: UInt


class LinearLrScheduler(LrScheduler):
    """``final_lr − (final_lr − initial_lr) / num_iters · r``, r steps before the last; ``final_lr`` afterwards."""

    state: _State

    def __init__(self, config: LinearLrSchedulerConfig) -> None:
        self.config = config
        self.state = _State(remaining_iters=config.num_iters + 1)

    def step(self) -> float:
        """The next rate."""
        remaining = max(self.state.remaining_iters - 1, 0)
        self.state = _State(remaining_iters=remaining)
        slope = (self.config.final_lr - self.config.initial_lr) / self.config.num_iters
        return self.config.final_lr - slope * remaining


class _Linear(LrSchedulerConfig, of=LrSchedulerConfig, name="Linear"):
    value: LinearLrSchedulerConfig
