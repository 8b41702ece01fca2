"""Burnpack files as dicts of jax arrays, in the order of arguments that safetensors has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from burnpy import _core
from burnpy.errors import DTypeError
from burnpy.safe_open import open_reader

if TYPE_CHECKING:
    import jax
    from typing_extensions import Buffer

    from burnpy._typing import Backend, PathLike
    from burnpy.pack import Limits, Scalar

__all__ = ["load", "load_file", "save", "save_file"]


def save_file(
    tensors: Mapping[str, jax.Array | Any],
    filename: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
    *,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    durable: bool = False,
    limits: Limits | None = None,
) -> None:
    """Write arrays to a file, which appears whole or not at all.

    An array in main memory is written from where it lies; others are fetched one by one, when their turn comes. The
    arguments and errors are those of ``burnpy.numpy.save_file``.

    Example:
        >>> import jax.numpy
        >>> save_file({"w": jax.numpy.ones((2, 3), "bfloat16")}, "model.bpk", {"producer": "me"})
    """
    _core.save_file(
        _entries(tensors),
        filename,
        metadata,
        scalars=scalars,
        param_ids=param_ids,
        durable=durable,
        limits=limits,
    )


def save(
    tensors: Mapping[str, jax.Array | Any],
    metadata: Mapping[str, str] | None = None,
    *,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    limits: Limits | None = None,
) -> bytes:
    """The file that ``save_file`` would write, as bytes.

    Example:
        >>> import jax.numpy
        >>> save({"w": jax.numpy.zeros(2)})[:4]
        b'NRUB'
    """
    return _core.save(_entries(tensors), metadata, scalars=scalars, param_ids=param_ids, limits=limits)


def _entries(tensors: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(tensors, Mapping):
        raise TypeError(f"tensors must be a mapping, got {type(tensors).__name__}")
    import jax

    return {
        name: entry_of(name, value) if isinstance(value, jax.Array) else value
        for name, value in tensors.items()
    }


def entry_of(name: str, array: jax.Array) -> Any:
    """What the core takes for an array: one of NumPy's over its memory, or a tensor that is fetched in its turn."""
    import jax
    import numpy as np

    if jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):
        raise DTypeError(
            f"tensor {name!r}: burnpack has no dtype for {array.dtype}", tensor=name, dtype=str(array.dtype)
        )
    if (
        array.is_fully_addressable
        and array.is_fully_replicated
        and all(d.platform == "cpu" for d in array.devices())
    ):
        return np.asarray(array)
    # `asarray` of the array itself would leave its copy in the array's cache: the whole model, in the end.
    return _core.Tensor.deferred(
        name, dtype=array.dtype, shape=array.shape, provider=lambda: np.asarray(array.copy())
    )
