r"""Weights between checkpoints: lazy tensors, filters, new names, adapters, and a report of what was carried.

The classes have Burn's names and behaviour, over every format that burnpy reads; where burnpy differs, their
descriptions say ``Unlike Burn``.

Example:
    >>> import numpy as np
    >>> weight = TensorSnapshot.from_array("net.0.weight", np.zeros((5, 10), np.float32))
    >>> tensors, pairs = KeyRemapper([(r"^net\.", "")]).remap([weight])
    >>> PyTorchToBurnAdapter().adapt(tensors[0], ModuleContext(["Struct:Linear"]))
    TensorSnapshot(name='0.weight', dtype='f32', shape=(10, 5))
"""

from __future__ import annotations

from burnpy.store.adapter import (
    BurnToPyTorchAdapter,
    ChainAdapter,
    FloatCastAdapter,
    HalfPrecisionAdapter,
    IdentityAdapter,
    ModuleAdapter,
    ModuleContext,
    PyTorchToBurnAdapter,
)
from burnpy.store.apply import (
    AdapterError,
    ApplyError,
    ApplyResult,
    DTypeMismatch,
    LoadError,
    ShapeMismatch,
)
from burnpy.store.filter import PathFilter
from burnpy.store.infer import InferredContexts, ModuleGuess, infer_contexts
from burnpy.store.remap import (
    KeyRemapper,
    NameCollision,
    contiguous_names,
    map_indices_contiguous,
    map_indices_contiguous_except,
)
from burnpy.store.snapshot import TensorSnapshot

__all__ = [
    "AdapterError",
    "ApplyError",
    "ApplyResult",
    "BurnToPyTorchAdapter",
    "ChainAdapter",
    "DTypeMismatch",
    "FloatCastAdapter",
    "HalfPrecisionAdapter",
    "IdentityAdapter",
    "InferredContexts",
    "KeyRemapper",
    "LoadError",
    "ModuleAdapter",
    "ModuleContext",
    "ModuleGuess",
    "NameCollision",
    "PathFilter",
    "PyTorchToBurnAdapter",
    "ShapeMismatch",
    "TensorSnapshot",
    "contiguous_names",
    "infer_contexts",
    "map_indices_contiguous",
    "map_indices_contiguous_except",
]
