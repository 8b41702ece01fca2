"""Learning rates over time: schedules, what is made of several, and rates for groups of parameters."""

from burnpy.lr_scheduler.composed import (
    ComposedLrScheduler,
    ComposedLrSchedulerConfig,
    SchedulerReduction,
)
from burnpy.lr_scheduler.config import LrSchedulerConfig, ScheduleConfig
from burnpy.lr_scheduler.constant import ConstantLr
from burnpy.lr_scheduler.cosine import CosineAnnealingLrScheduler, CosineAnnealingLrSchedulerConfig
from burnpy.lr_scheduler.exponential import ExponentialLrScheduler, ExponentialLrSchedulerConfig
from burnpy.lr_scheduler.linear import LinearLrScheduler, LinearLrSchedulerConfig
from burnpy.lr_scheduler.module_config import LrSchedulerGroupConfig, ModuleLrSchedulerConfig
from burnpy.lr_scheduler.module_scheduler import ModuleLearningRate, ModuleLrScheduler
from burnpy.lr_scheduler.noam import NoamLrScheduler, NoamLrSchedulerConfig
from burnpy.lr_scheduler.scheduler import LrScheduler
from burnpy.lr_scheduler.sequential import SequentialLrScheduler, SequentialLrSchedulerConfig
from burnpy.lr_scheduler.step import StepLrScheduler, StepLrSchedulerConfig

__all__ = [
    "ComposedLrScheduler",
    "ComposedLrSchedulerConfig",
    "ConstantLr",
    "CosineAnnealingLrScheduler",
    "CosineAnnealingLrSchedulerConfig",
    "ExponentialLrScheduler",
    "ExponentialLrSchedulerConfig",
    "LinearLrScheduler",
    "LinearLrSchedulerConfig",
    "LrScheduler",
    "LrSchedulerConfig",
    "LrSchedulerGroupConfig",
    "ModuleLearningRate",
    "ModuleLrScheduler",
    "ModuleLrSchedulerConfig",
    "NoamLrScheduler",
    "NoamLrSchedulerConfig",
    "ScheduleConfig",
    "SchedulerReduction",
    "SequentialLrScheduler",
    "SequentialLrSchedulerConfig",
    "StepLrScheduler",
    "StepLrSchedulerConfig",
]
