"""Functions that layers are made of, under Burn's names, each one operation with a gradient of its own.

Example:
    >>> from burnpy import Tensor
    >>> linear(Tensor([[1.0, 2.0]]), Tensor([[1.0], [10.0]]), Tensor([0.5])).tolist()
    [[21.5]]
"""

from __future__ import annotations

from burnpy._core import (
    attention,
    batch_norm,
    batch_norm_train,
    cross_entropy,
    ctc_loss,
    embedding,
    layer_norm,
    linear,
    rms_norm,
)

__all__ = [
    "attention",
    "batch_norm",
    "batch_norm_train",
    "cross_entropy",
    "ctc_loss",
    "embedding",
    "layer_norm",
    "linear",
    "rms_norm",
]
