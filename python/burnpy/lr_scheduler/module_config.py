"""The configuration of learning rates of a whole module."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from burnpy.config import KW_ONLY, Config
from burnpy.lr_scheduler.config import LrSchedulerConfig, ScheduleLike
from burnpy.lr_scheduler.module_scheduler import ModuleLrScheduler
from burnpy.module import ParamGroup

__all__ = ["LrSchedulerGroupConfig", "ModuleLrSchedulerConfig"]


class LrSchedulerGroupConfig(Config):
    """A group of parameters and its schedule.

    Args:
        group: the parameters.
        scheduler: the configuration, or a number for a constant rate.
    """

    group: ParamGroup
    scheduler: LrSchedulerConfig

    def __init__(self, group: ParamGroup, scheduler: ScheduleLike) -> None:
        object.__setattr__(self, "group", group)
        object.__setattr__(self, "scheduler", LrSchedulerConfig.of(scheduler))
        self.__post_init__()


class ModuleLrSchedulerConfig(Config):
    """A schedule for all parameters, and schedules of their own for groups of them.

    Args:
        base: the configuration of the schedule, or a number for a constant rate.
        scheduler_groups: those of groups; :meth:`with_group` adds one.

    Raises:
        ConfigError: one of the schedules is none.

    Example:
        >>> config = ModuleLrSchedulerConfig(0.01).with_group(ParamGroup.from_predicate("head"), 0.1)
        >>> from burnpy.module import ParamId
        >>> config.init().step().lr_from_param(ParamId(1), "head.bias")
        0.1

    Source: Burn ``lr_scheduler::module::ModuleLrSchedulerConfig``.
    """

    base: LrSchedulerConfig
    _: KW_ONLY
    scheduler_groups: tuple[LrSchedulerGroupConfig, ...] = ()

    def __init__(
        self, base: ScheduleLike, *, scheduler_groups: Iterable[LrSchedulerGroupConfig] = ()
    ) -> None:
        object.__setattr__(self, "base", LrSchedulerConfig.of(base))
        object.__setattr__(self, "scheduler_groups", scheduler_groups)
        self.__post_init__()

    def with_group(self, group: ParamGroup, scheduler: ScheduleLike) -> Self:
        """A copy with one more group."""
        groups = (*self.scheduler_groups, LrSchedulerGroupConfig(group, scheduler))
        return type(self)(self.base, scheduler_groups=groups)

    def init(self) -> ModuleLrScheduler:
        """The scheduler."""
        scheduler = ModuleLrScheduler(self.base.build())
        for each in self.scheduler_groups:
            scheduler.with_group(each.group, each.scheduler)
        return scheduler
