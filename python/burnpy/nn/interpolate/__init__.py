"""Signals and images of another size.

Example:
    >>> from burnpy import Tensor
    >>> Interpolate2dConfig(output_size=(4, 6)).init()(Tensor.zeros((1, 3, 2, 3))).shape
    (1, 3, 4, 6)
"""

from __future__ import annotations

from burnpy.nn.interpolate.interpolate1d import Interpolate1d, Interpolate1dConfig
from burnpy.nn.interpolate.interpolate2d import Interpolate2d, Interpolate2dConfig
from burnpy.tensor import InterpolateMode

__all__ = [
    "Interpolate1d",
    "Interpolate1dConfig",
    "Interpolate2d",
    "Interpolate2dConfig",
    "InterpolateMode",
]
