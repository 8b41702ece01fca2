"""Records: what modules, optimizers and schedulers are on disk."""

from burnpy.errors import RecordError, RecordIoError, RecordValidationError, RecordWarning
from burnpy.record.dtype_policy import DTypePolicy
from burnpy.record.lr_scheduler_record import LrSchedulerRecord
from burnpy.record.module_record import ModuleRecord
from burnpy.record.optimizer_record import LoadedState, OptimizerRecord, OptimizerReport
from burnpy.record.report import Difference, RecordReport
from burnpy.record.state import Bool, Float, Int, RecordState, StateSink, StateSource, UInt

__all__ = [
    "Bool",
    "DTypePolicy",
    "Difference",
    "Float",
    "Int",
    "LoadedState",
    "LrSchedulerRecord",
    "ModuleRecord",
    "OptimizerRecord",
    "OptimizerReport",
    "RecordError",
    "RecordIoError",
    "RecordReport",
    "RecordState",
    "RecordValidationError",
    "RecordWarning",
    "StateSink",
    "StateSource",
    "UInt",
]
