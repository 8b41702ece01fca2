"""What every learning-rate scheduler is."""

from __future__ import annotations

import copy
import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol, Self

from burnpy.errors import RecordValidationError, RecordWarning
from burnpy.record.state import RecordState

if TYPE_CHECKING:
    from burnpy.record import LrSchedulerRecord

__all__ = ["LrScheduler"]


class LrScheduler(ABC):
    """A learning rate for each step of an optimizer: the first :meth:`step` gives the first rate.

    A scheduler of your own needs ``step``, and, if it counts, a ``state``, which is a ``RecordState``: its fields are
    the keys in the record.

    Example:
        >>> class Doubled(LrScheduler):
        ...     def __init__(self, inner: LrScheduler) -> None:
        ...         self.inner = inner
        ...     def step(self) -> float:
        ...         return 2.0 * self.inner.step()
        >>> from burnpy.lr_scheduler import LinearLrSchedulerConfig
        >>> doubled = Doubled(LinearLrSchedulerConfig(0.25, 0.125, 2).build())
        >>> doubled.step(), doubled.peek(), doubled.step()
        (0.5, 0.375, 0.375)

    Source: Burn ``lr_scheduler::LrScheduler``.
    """

    state: RecordState | None = None

    @abstractmethod
    def step(self) -> float:
        """The learning rate of the next step of the optimizer."""

    def peek(self) -> float:
        """What the next :meth:`step` will give."""
        return copy.deepcopy(self).step()

    def to_record(self) -> LrSchedulerRecord:
        """What must be kept to go on later: counters, not the configuration."""
        from burnpy.record import LrSchedulerRecord

        return LrSchedulerRecord() if self.state is None else LrSchedulerRecord.from_state(self.state)

    def load_record(self, record: LrSchedulerRecord, *, strict: bool = False) -> Self:
        """Go on where a record was taken; returns the scheduler itself.

        What is missing, or not usable, leaves that part as it is. A warning names it, as it does keys that are not
        known; with ``strict=True`` they are an error instead, and nothing changes.

        Raises:
            RecordValidationError: ``strict``, and the record is not one of this schedule.
        """
        restore_checked(self, record, strict)
        return self

    def _restore(self, record: LrSchedulerRecord) -> None:
        """Take from the record what can be used."""
        if self.state is not None:
            state = record.into_state(type(self.state))
            if state is not None and self._accepts(state):
                self.state = state

    def _accepts(self, state: RecordState) -> bool:
        """Whether a state from a file is one that the schedule can be in."""
        return True


class _Recorded(Protocol):
    """What goes on from records."""

    def to_record(self) -> LrSchedulerRecord: ...
    def _restore(self, record: LrSchedulerRecord) -> None: ...


def restore_checked(target: _Recorded, record: LrSchedulerRecord, strict: bool) -> None:
    """Restore a scheduler of one rate or of a module; see :meth:`LrScheduler.load_record`."""
    from burnpy.record import LrSchedulerRecord

    LrSchedulerRecord.expect(record)
    trial = copy.deepcopy(target)
    trial._restore(record)
    problems = "; ".join(_problems(record, trial.to_record()))
    if problems and strict:
        raise RecordValidationError(f"the record does not fit the learning-rate scheduler: {problems}")
    if problems:
        text = f"parts of the learning-rate scheduler's record were not used: {problems}"
        warnings.warn(text, RecordWarning, stacklevel=3)
    target._restore(record)


def _problems(given: LrSchedulerRecord, taken: LrSchedulerRecord) -> list[str]:
    found, now = given.scalars(), taken.scalars()
    # By text, for which NaN is NaN.
    unusable = [key for key in found if key in now and str(found[key].value) != str(now[key].value)]
    unknown = sorted(found.keys() - now.keys())
    missing = sorted(now.keys() - found.keys())
    return [
        *(f"{key} is {found[key]}, which cannot be used" for key in sorted(unusable)),
        *([f"unknown: {', '.join(unknown)}"] if unknown else []),
        *([f"missing: {', '.join(missing)}"] if missing else []),
    ]
