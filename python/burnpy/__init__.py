"""Burn for Python: its burnpack files (``.bpk``), zero-copy and byte-compatible, and its tensors with gradients.

Example:
    >>> import burnpy, numpy as np
    >>> from burnpy.numpy import save_file
    >>> save_file({"w": np.arange(6, dtype=np.float32).reshape(2, 3)}, "model.bpk", {"producer": "me"})
    >>> with burnpy.safe_open("model.bpk") as model:
    ...     print(list(model), model["w"][1], model.metadata())
    ['w'] [3. 4. 5.] {'producer': 'me'}
"""

from __future__ import annotations

from importlib import import_module

from burnpy._core import __version__
from burnpy.errors import BurnpyError

# Not lazy as the others are: the import system would set the attribute to the module of the same name.
from burnpy.safe_open import safe_open

# As `typing.TYPE_CHECKING`, without the import, which would be half the time of `import burnpy`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from burnpy import (
        autodiff,
        config,
        data,
        distributed,
        errors,
        jax,
        lr_scheduler,
        module,
        nn,
        numpy,
        optim,
        pack,
        record,
        storage,
        store,
        tensor,
        testing,
        torch,
        train,
    )
    from burnpy._core import Device, Tensor, get_num_threads, manual_seed, set_num_threads
    from burnpy._shards import save_sharded
    from burnpy.config import Config
    from burnpy.module import EnumModule, Module, Param, ParamGroup, ParamId
    from burnpy.record import LrSchedulerRecord, ModuleRecord, OptimizerRecord, RecordState
    from burnpy.store.checkpoint import open
    from burnpy.store.convert import convert
    from burnpy.tensor.recording import no_grad

__all__ = [
    "BurnpyError",
    "Config",
    "Device",
    "EnumModule",
    "LrSchedulerRecord",
    "Module",
    "ModuleRecord",
    "OptimizerRecord",
    "Param",
    "ParamGroup",
    "ParamId",
    "RecordState",
    "Tensor",
    "__version__",
    "autodiff",
    "config",
    "convert",
    "data",
    "distributed",
    "errors",
    "get_num_threads",
    "jax",
    "lr_scheduler",
    "manual_seed",
    "module",
    "nn",
    "no_grad",
    "numpy",
    "open",
    "optim",
    "pack",
    "record",
    "safe_open",
    "save_sharded",
    "set_num_threads",
    "storage",
    "store",
    "tensor",
    "testing",
    "torch",
    "train",
]

_MODULES = {
    "autodiff",
    "config",
    "data",
    "distributed",
    "errors",
    "jax",
    "lr_scheduler",
    "module",
    "nn",
    "numpy",
    "optim",
    "pack",
    "record",
    "storage",
    "store",
    "tensor",
    "testing",
    "torch",
    "train",
}
_HOMES = {
    "Config": "burnpy.config",
    "Device": "burnpy._core",
    "EnumModule": "burnpy.module",
    "LrSchedulerRecord": "burnpy.record",
    "Module": "burnpy.module",
    "ModuleRecord": "burnpy.record",
    "OptimizerRecord": "burnpy.record",
    "Param": "burnpy.module",
    "ParamGroup": "burnpy.module",
    "ParamId": "burnpy.module",
    "RecordState": "burnpy.record",
    "Tensor": "burnpy._core",
    "convert": "burnpy.store.convert",
    "get_num_threads": "burnpy._core",
    "manual_seed": "burnpy._core",
    "no_grad": "burnpy.tensor.recording",
    "open": "burnpy.store.checkpoint",
    "save_sharded": "burnpy._shards",
    "set_num_threads": "burnpy._core",
}


def __getattr__(name: str) -> Any:
    # On first use, so that `import burnpy` costs a few milliseconds; afterwards the name is found without this.
    if name in _MODULES:
        return import_module(f"burnpy.{name}")
    if name in _HOMES:
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value
    raise AttributeError(f"module 'burnpy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
