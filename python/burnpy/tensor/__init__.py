"""Tensors: ``Tensor`` and ``Device``, and what goes with them.

Example:
    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> (x + x).tolist()
    [[2.0, 4.0], [6.0, 8.0]]
"""

from __future__ import annotations

from burnpy._core import Device, Tensor, einsum, manual_seed, random_state, set_random_state
from burnpy.errors import (
    ArgumentError,
    AutodiffError,
    DataError,
    DeviceError,
    DTypeError,
    ShapeError,
    TensorError,
    TensorIndexError,
)
from burnpy.tensor.data import TensorData, Tolerance
from burnpy.tensor.distribution import Distribution
from burnpy.tensor.interpolation import InterpolateMode
from burnpy.tensor.padding import PaddingConfig1d, PaddingConfig2d, PaddingConfig3d
from burnpy.tensor.printing import PrintOptions, set_print_options
from burnpy.tensor.recording import no_grad

__all__ = [
    "ArgumentError",
    "AutodiffError",
    "DTypeError",
    "DataError",
    "Device",
    "DeviceError",
    "Distribution",
    "InterpolateMode",
    "PaddingConfig1d",
    "PaddingConfig2d",
    "PaddingConfig3d",
    "PrintOptions",
    "ShapeError",
    "Tensor",
    "TensorData",
    "TensorError",
    "TensorIndexError",
    "Tolerance",
    "einsum",
    "manual_seed",
    "no_grad",
    "random_state",
    "set_print_options",
    "set_random_state",
]
