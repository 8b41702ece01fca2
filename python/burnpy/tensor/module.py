"""Functions that layers are made of, under Burn's names, each one operation with a gradient of its own.

Example:
    >>> from burnpy import Tensor
    >>> linear(Tensor([[1.0, 2.0]]), Tensor([[1.0], [10.0]]), Tensor([0.5])).tolist()
    [[21.5]]
"""

from __future__ import annotations

from burnpy._core import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    affine_grid_2d,
    attention,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    batch_norm,
    batch_norm_train,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    cross_entropy,
    ctc_loss,
    deform_conv2d,
    embedding,
    fold4d,
    grid_sample_2d,
    interpolate,
    layer_norm,
    linear,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    rms_norm,
    unfold4d,
)

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "affine_grid_2d",
    "attention",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "batch_norm_train",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cross_entropy",
    "ctc_loss",
    "deform_conv2d",
    "embedding",
    "fold4d",
    "grid_sample_2d",
    "interpolate",
    "layer_norm",
    "linear",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "rms_norm",
    "unfold4d",
]
