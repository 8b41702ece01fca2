"""Numbers as text, for the metric files of a training."""

from burnpy._core import plain_float

__all__ = ["plain_float"]
