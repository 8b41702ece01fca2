"""Rows that a classifier got right, for the metrics of a training."""

from burnpy._core import count_hits

__all__ = ["count_hits"]
