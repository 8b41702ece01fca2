"""What became of a run, read back from its folder: values, checkpoints, a page to look at, a table of several runs."""

from burnpy.train.report.curve import Curve, lower_is_better
from burnpy.train.report.page import write_report
from burnpy.train.report.run_folder import RunCheckpoint, RunFolder

__all__ = ["Curve", "RunCheckpoint", "RunFolder", "lower_is_better", "write_report"]
