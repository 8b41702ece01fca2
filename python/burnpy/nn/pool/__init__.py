"""Pools: one element for each window. They have no parameters.

Example:
    >>> from burnpy import Tensor
    >>> MaxPool2dConfig((2, 2)).init()(Tensor.zeros((1, 3, 8, 8))).shape
    (1, 3, 4, 4)
"""

from __future__ import annotations

from burnpy.nn.pool.adaptive_avg_pool1d import AdaptiveAvgPool1d, AdaptiveAvgPool1dConfig
from burnpy.nn.pool.adaptive_avg_pool2d import AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig
from burnpy.nn.pool.adaptive_avg_pool3d import AdaptiveAvgPool3d, AdaptiveAvgPool3dConfig
from burnpy.nn.pool.avg_pool1d import AvgPool1d, AvgPool1dConfig
from burnpy.nn.pool.avg_pool2d import AvgPool2d, AvgPool2dConfig
from burnpy.nn.pool.max_pool1d import MaxPool1d, MaxPool1dConfig
from burnpy.nn.pool.max_pool2d import MaxPool2d, MaxPool2dConfig

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool1dConfig",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool2dConfig",
    "AdaptiveAvgPool3d",
    "AdaptiveAvgPool3dConfig",
    "AvgPool1d",
    "AvgPool1dConfig",
    "AvgPool2d",
    "AvgPool2dConfig",
    "MaxPool1d",
    "MaxPool1dConfig",
    "MaxPool2d",
    "MaxPool2dConfig",
]
