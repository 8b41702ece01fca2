"""Normalisations.

Example:
    >>> from burnpy import Tensor
    >>> LayerNormConfig(4).init()(Tensor([[1.0, 1.0, 3.0, 3.0]])).round_to(3).tolist()
    [[-1.0, -1.0, 1.0, 1.0]]
"""

from __future__ import annotations

from burnpy.nn.norm.batch_norm import BatchNorm, BatchNormConfig
from burnpy.nn.norm.group_norm import GroupNorm, GroupNormConfig
from burnpy.nn.norm.instance_norm import InstanceNorm, InstanceNormConfig
from burnpy.nn.norm.layer_norm import LayerNorm, LayerNormConfig
from burnpy.nn.norm.local_response_norm import LocalResponseNorm, LocalResponseNormConfig
from burnpy.nn.norm.normalization import Normalization, NormalizationConfig
from burnpy.nn.norm.rms_norm import RmsNorm, RmsNormConfig

__all__ = [
    "BatchNorm",
    "BatchNormConfig",
    "GroupNorm",
    "GroupNormConfig",
    "InstanceNorm",
    "InstanceNormConfig",
    "LayerNorm",
    "LayerNormConfig",
    "LocalResponseNorm",
    "LocalResponseNormConfig",
    "Normalization",
    "NormalizationConfig",
    "RmsNorm",
    "RmsNormConfig",
]
