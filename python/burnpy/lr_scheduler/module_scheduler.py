"""Learning rates of a whole module: one for all parameters, others for groups of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from burnpy.lr_scheduler.checks import checked_rate
from burnpy.lr_scheduler.constant import as_scheduler
from burnpy.lr_scheduler.scheduler import LrScheduler, restore_checked
from burnpy.module import ParamGroup

if TYPE_CHECKING:
    from burnpy.module import ParamId
    from burnpy.record import LrSchedulerRecord

__all__ = ["ModuleLearningRate", "ModuleLrScheduler"]


class ModuleLearningRate:
    """The learning rates of one step.

    Args:
        lr: the rate of all parameters, or one per group: where several groups match, the last one counts.

    Raises:
        ValueError: there is no rate, or one is not finite.
        TypeError: one is no number.

    Example:
        >>> rates = ModuleLearningRate([(ParamGroup.all(), 0.1), (ParamGroup.from_predicate("head"), 0.5)])
        >>> from burnpy.module import ParamId
        >>> rates.base(), rates.lr_from_param(ParamId(1), "head.weight"), rates.lr_from_param(ParamId(2), "body")
        (0.1, 0.5, 0.1)

    Source: Burn ``lr_scheduler::module::ModuleLearningRate``.
    """

    __slots__ = ("groups",)

    def __init__(self, lr: float | list[tuple[ParamGroup, float]]) -> None:
        given = lr if isinstance(lr, (list, tuple)) else [(ParamGroup.all(), lr)]
        if not given:
            raise ValueError("lr must hold at least one rate, got an empty list")
        self.groups = tuple([(group, checked_rate("lr", rate)) for group, rate in given])

    def base(self) -> float:
        """The rate of the first group, which is that of parameters in no other."""
        return self.groups[0][1]

    def lr_from_param(self, id: ParamId, path: str | None = None) -> float:
        """The rate of one parameter: that of the last group that matches it.

        Raises:
            ValueError: no group does.
        """
        for group, rate in reversed(self.groups):
            if group.matches(id, path):
                return rate
        raise ValueError(f"no group has parameter {id}, path {path!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModuleLearningRate) and self.groups == other.groups

    def __hash__(self) -> int:
        return hash(self.groups)

    def __repr__(self) -> str:
        if len(self.groups) == 1:
            return f"ModuleLearningRate({self.base()})"
        return f"ModuleLearningRate({list(self.groups)})"


class ModuleLrScheduler:
    """A schedule for all parameters, and schedules of their own for groups of them.

    Args:
        scheduler: the schedule, or a number for a constant rate.

    Raises:
        TypeError: it is neither.

    Example:
        >>> from burnpy.lr_scheduler import LinearLrSchedulerConfig
        >>> schedule = LinearLrSchedulerConfig(0.5, 0.1, 4).init()
        >>> schedule = schedule.with_group(ParamGroup.from_predicate("frozen"), 0.0)
        >>> from burnpy.module import ParamId
        >>> rates = schedule.step()
        >>> rates.base(), rates.lr_from_param(ParamId(1), "frozen.weight")
        (0.5, 0.0)

    Source: Burn ``lr_scheduler::module::ModuleLrScheduler``.
    """

    def __init__(self, scheduler: LrScheduler | float) -> None:
        self._groups: list[tuple[ParamGroup, LrScheduler]] = [(ParamGroup.all(), _bare(scheduler))]
        self._last: tuple[float, ModuleLearningRate] | None = None

    @classmethod
    def of(cls, scheduler: ModuleLrScheduler | LrScheduler | float) -> ModuleLrScheduler:
        """The scheduler itself, or one of the schedule or the constant rate given.

        Raises:
            TypeError: it is none of them.
        """
        return scheduler if isinstance(scheduler, ModuleLrScheduler) else cls(scheduler)

    def with_group(self, group: ParamGroup, scheduler: Any) -> Self:
        """Give a group of parameters a schedule of its own; the last group that matches counts.

        Args:
            group: the parameters.
            scheduler: a schedule, its configuration, or a number for a constant rate.

        Returns:
            The scheduler itself.

        Raises:
            TypeError: ``scheduler`` is none of them, or ``group`` is no group.
        """
        if not isinstance(group, ParamGroup):
            raise TypeError(f"group must be a ParamGroup, got {group!r}")
        self._groups.append((group, _bare(scheduler)))
        return self

    def step(self) -> ModuleLearningRate:
        """The rates of the next step of the optimizer; all schedules go on."""
        if len(self._groups) > 1:
            return ModuleLearningRate([(group, scheduler.step()) for group, scheduler in self._groups])
        rate = self._groups[0][1].step()
        # The object of a rate that stays is made once.
        if self._last is None or rate is not self._last[0]:
            self._last = rate, self.rates([rate])
        return self._last[1]

    def rates(self, rates: Sequence[float]) -> ModuleLearningRate:
        """Rates of a step that was made before, one per group, for the groups of this scheduler.

        Raises:
            ValueError: there are more or fewer groups.
        """
        groups = [group for group, _ in self._groups]
        return ModuleLearningRate(list(zip(groups, rates, strict=True)))

    def to_record(self) -> LrSchedulerRecord:
        """The records of all schedules under their numbers, 0 being that of all parameters. Groups are not kept."""
        from burnpy.record import LrSchedulerRecord

        record = LrSchedulerRecord()
        for index, (_, scheduler) in enumerate(self._groups):
            record = record.with_record(str(index), scheduler.to_record())
        return record

    def load_record(self, record: LrSchedulerRecord, *, strict: bool = False) -> Self:
        """Go on where a record was taken; see :meth:`LrScheduler.load_record`."""
        restore_checked(self, record, strict)
        return self

    def _restore(self, record: LrSchedulerRecord) -> None:
        for index, (_, scheduler) in enumerate(self._groups):
            scheduler._restore(record.record(str(index)))


def _bare(scheduler: Any) -> LrScheduler:
    if isinstance(scheduler, ModuleLrScheduler):
        raise TypeError("scheduler must be a schedule or a number, got a ModuleLrScheduler; use its build()")
    return as_scheduler(scheduler.build() if hasattr(scheduler, "build") else scheduler)
