"""The choice among all schedules, as configurations hold it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, Union

from burnpy.config import Config, Variants
from burnpy.errors import ConfigError
from burnpy.lr_scheduler.checks import check_finite
from burnpy.lr_scheduler.constant import ConstantLr
from burnpy.lr_scheduler.module_scheduler import ModuleLrScheduler
from burnpy.lr_scheduler.scheduler import LrScheduler

if TYPE_CHECKING:
    from burnpy.lr_scheduler import composed, cosine, exponential, linear, noam, sequential, step

__all__ = ["LrSchedulerConfig", "ScheduleConfig", "ScheduleLike"]


class ScheduleConfig(Config):
    """Base of the configurations of single schedules."""

    @abstractmethod
    def build(self) -> LrScheduler:
        """The bare schedule, for a group or a loop of your own."""

    def init(self) -> ModuleLrScheduler:
        """The schedule for all parameters of a module."""
        return ModuleLrScheduler(self.build())


class LrSchedulerConfig(Variants):
    """One of the schedules, with its configuration. Made from a number or a configuration by :meth:`of`.

    Example:
        >>> from burnpy.lr_scheduler import StepLrSchedulerConfig
        >>> LrSchedulerConfig.of(0.1)
        LrSchedulerConfig.Constant(value=0.1)
        >>> LrSchedulerConfig.Step(StepLrSchedulerConfig(0.5, 2)).init().step().base()
        0.5

    Source: Burn ``lr_scheduler::LrSchedulerConfig``.
    """

    if TYPE_CHECKING:  # not evaluated with the types of fields
        Constant: ClassVar[type[_Constant]]
        Linear: ClassVar[type[linear._Linear]]
        Cosine: ClassVar[type[cosine._Cosine]]
        Exponential: ClassVar[type[exponential._Exponential]]
        Noam: ClassVar[type[noam._Noam]]
        Step: ClassVar[type[step._Step]]
        Composed: ClassVar[type[composed._Composed]]
        Sequential: ClassVar[type[sequential._Sequential]]

    value: Any

    @classmethod
    def of(cls, schedule: ScheduleLike) -> LrSchedulerConfig:
        """The variant that holds a configuration, or a number as a constant rate.

        Raises:
            ConfigError: it is neither.
        """
        if isinstance(schedule, LrSchedulerConfig):
            return schedule
        if isinstance(schedule, int | float) and not isinstance(schedule, bool):
            return LrSchedulerConfig.Constant(float(schedule))
        for variant in cls.variants().values():
            if type(schedule).__name__ == variant.__annotations__["value"]:
                made: LrSchedulerConfig = variant(schedule)
                return made
        raise ConfigError(
            f"a schedule must be a number or the configuration of a scheduler, got {schedule!r}"
        )

    def build(self) -> LrScheduler:
        """The bare schedule."""
        built: LrScheduler = self.value.build()
        return built

    def init(self) -> ModuleLrScheduler:
        """The schedule for all parameters of a module."""
        return ModuleLrScheduler(self.build())


ScheduleLike: TypeAlias = Union[float, ScheduleConfig, LrSchedulerConfig]  # noqa: UP007
"""What stands for the configuration of a schedule: it, or a number for a constant rate."""


class _Constant(LrSchedulerConfig, of=LrSchedulerConfig, name="Constant"):
    """The same rate at every step."""

    value: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_finite(self, "value")

    def build(self) -> LrScheduler:
        return ConstantLr(self.value)
