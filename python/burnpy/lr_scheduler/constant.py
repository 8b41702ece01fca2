"""One learning rate for ever."""

from __future__ import annotations

from burnpy.lr_scheduler.checks import checked_rate
from burnpy.lr_scheduler.scheduler import LrScheduler

__all__ = ["ConstantLr", "as_scheduler"]


class ConstantLr(LrScheduler):
    """The same rate at every step. A plain number stands for it wherever a scheduler is wanted.

    Raises:
        ValueError: ``lr`` is not finite.
        TypeError: it is no number.

    Example:
        >>> schedule = ConstantLr(0.01)
        >>> schedule.step(), schedule.step()
        (0.01, 0.01)

    Source: Burn ``lr_scheduler::constant::ConstantLr``.
    """

    def __init__(self, lr: float) -> None:
        self.lr = checked_rate("lr", lr)

    def step(self) -> float:
        """The rate."""
        return self.lr

    def __repr__(self) -> str:
        return f"ConstantLr({self.lr})"


def as_scheduler(value: LrScheduler | float) -> LrScheduler:
    """A scheduler as it is, a number as a :class:`ConstantLr`.

    Raises:
        TypeError: it is neither.
    """
    return value if isinstance(value, LrScheduler) else ConstantLr(value)
