"""The schedule of the first transformers: up in a line, down as an inverse square root."""

from __future__ import annotations

import math

from burnpy.config import KW_ONLY, Positive
from burnpy.lr_scheduler.checks import check_finite
from burnpy.lr_scheduler.config import LrSchedulerConfig, ScheduleConfig
from burnpy.lr_scheduler.scheduler import LrScheduler
from burnpy.record.state import Float, RecordState

__all__ = ["NoamLrScheduler", "NoamLrSchedulerConfig"]


class NoamLrSchedulerConfig(ScheduleConfig):
    """Rises for ``warmup_steps`` steps, then falls.

    Args:
        factor: what the rate is multiplied by; the rate may exceed 1.
        warmup_steps: the step of the highest rate, at least 1.
        model_size: the width of the model, at least 1.

    Raises:
        ConfigError: one of them is outside.

    Example:
        >>> schedule = NoamLrSchedulerConfig(2.0, warmup_steps=2, model_size=4).init()
        >>> [round(schedule.step().base(), 4) for _ in range(4)]
        [0.3536, 0.7071, 0.5774, 0.5]

    Source: Burn ``lr_scheduler::noam``; Vaswani et al. 2017, equation 3.
    """

    factor: float
    _: KW_ONLY
    warmup_steps: Positive = 4000
    model_size: Positive = 512

    def validate(self) -> None:
        """Check the ranges."""
        check_finite(self, "factor")

    def build(self) -> NoamLrScheduler:
        """The bare schedule."""
        return NoamLrScheduler(self)


class _State(RecordState):
    step: Float


class NoamLrScheduler(LrScheduler):
    """``factor · model_size^−½ · min(k^−½, k · warmup_steps^−1½)`` at step k, from 1."""

    state: _State

    def __init__(self, config: NoamLrSchedulerConfig) -> None:
        self.config = config
        self.state = _State(step=0.0)

    def step(self) -> float:
        """The next rate."""
        k = self.state.step + 1.0
        self.state = _State(step=k)
        fall, rise = math.pow(k, -0.5), k * math.pow(self.config.warmup_steps, -1.5)
        return self.config.factor * math.pow(self.config.model_size, -0.5) * min(fall, rise)

    def _accepts(self, state: RecordState) -> bool:
        return isinstance(state, _State) and math.isfinite(state.step) and state.step >= 0.0


class _Noam(LrSchedulerConfig, of=LrSchedulerConfig, name="Noam"):
    value: NoamLrSchedulerConfig
