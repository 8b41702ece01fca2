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
from burnpy.store.burnpack_store import BurnpackStore
from burnpy.store.filter import PathFilter
from burnpy.store.infer import InferredContexts, ModuleGuess, infer_contexts
from burnpy.store.module_store import ModuleStore
from burnpy.store.pytorch_reader import PytorchMetadata, PytorchReader, Unsupported
from burnpy.store.pytorch_store import PytorchStore
from burnpy.store.remap import (
    KeyRemapper,
    NameCollision,
    contiguous_names,
    map_indices_contiguous,
    map_indices_contiguous_except,
)
from burnpy.store.report import Adapted, CarriedTensor, ConversionReport, Lost
from burnpy.store.safetensors_store import SafetensorsStore
from burnpy.store.snapshot import TensorSnapshot

__all__ = [
    "Adapted",
    "AdapterError",
    "ApplyError",
    "ApplyResult",
    "BurnToPyTorchAdapter",
    "BurnpackStore",
    "CarriedTensor",
    "ChainAdapter",
    "ConversionReport",
    "DTypeMismatch",
    "FloatCastAdapter",
    "HalfPrecisionAdapter",
    "IdentityAdapter",
    "InferredContexts",
    "KeyRemapper",
    "LoadError",
    "Lost",
    "ModuleAdapter",
    "ModuleContext",
    "ModuleGuess",
    "ModuleStore",
    "NameCollision",
    "PathFilter",
    "PyTorchToBurnAdapter",
    "PytorchMetadata",
    "PytorchReader",
    "PytorchStore",
    "SafetensorsStore",
    "ShapeMismatch",
    "TensorSnapshot",
    "Unsupported",
    "contiguous_names",
    "infer_contexts",
    "map_indices_contiguous",
    "map_indices_contiguous_except",
]
