"""Convolutions.

Example:
    >>> from burnpy import Tensor
    >>> conv = Conv2dConfig((3, 8), (3, 3), padding=PaddingConfig2d.Same()).init()
    >>> conv(Tensor.zeros((1, 3, 5, 5))).shape
    (1, 8, 5, 5)
"""

from __future__ import annotations

from burnpy.nn.conv.conv1d import Conv1d, Conv1dConfig
from burnpy.nn.conv.conv2d import Conv2d, Conv2dConfig
from burnpy.nn.conv.conv3d import Conv3d, Conv3dConfig
from burnpy.nn.conv.conv_transpose1d import ConvTranspose1d, ConvTranspose1dConfig
from burnpy.nn.conv.conv_transpose2d import ConvTranspose2d, ConvTranspose2dConfig
from burnpy.nn.conv.conv_transpose3d import ConvTranspose3d, ConvTranspose3dConfig
from burnpy.nn.conv.deform_conv2d import DeformConv2d, DeformConv2dConfig
from burnpy.tensor import PaddingConfig1d, PaddingConfig2d, PaddingConfig3d

__all__ = [
    "Conv1d",
    "Conv1dConfig",
    "Conv2d",
    "Conv2dConfig",
    "Conv3d",
    "Conv3dConfig",
    "ConvTranspose1d",
    "ConvTranspose1dConfig",
    "ConvTranspose2d",
    "ConvTranspose2dConfig",
    "ConvTranspose3d",
    "ConvTranspose3dConfig",
    "DeformConv2d",
    "DeformConv2dConfig",
    "PaddingConfig1d",
    "PaddingConfig2d",
    "PaddingConfig3d",
]
