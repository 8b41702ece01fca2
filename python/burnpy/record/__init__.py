"""Records: what modules, optimizers and schedulers are on disk."""

from burnpy.record.lr_scheduler_record import LrSchedulerRecord
from burnpy.record.state import Bool, Float, Int, RecordState, StateSink, StateSource, UInt

__all__ = ["Bool", "Float", "Int", "LrSchedulerRecord", "RecordState", "StateSink", "StateSource", "UInt"]
