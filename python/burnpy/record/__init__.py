"""Records: what modules, optimizers and schedulers are on disk."""

from burnpy.record.state import Bool, Float, Int, RecordState, StateSink, StateSource, UInt

__all__ = ["Bool", "Float", "Int", "RecordState", "StateSink", "StateSource", "UInt"]
