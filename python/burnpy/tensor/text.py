"""Numbers as text, for the metric files of a training."""

from burnpy._core import mean_lines, plain_float

__all__ = ["mean_lines", "plain_float"]
