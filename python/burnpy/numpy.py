"""Burnpack files as dicts of NumPy arrays, in the order of arguments that safetensors has."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from burnpy import _core

if TYPE_CHECKING:
    from burnpy.pack import Limits, Scalar

__all__ = ["save", "save_file"]


def save_file(
    tensors: Mapping[str, Any],
    filename: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
    *,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    durable: bool = False,
    limits: Limits | None = None,
) -> None:
    """Write arrays to a file, which appears whole or not at all.

    The data lies in the order of the mapping. Arrays that are not in C order or not little-endian are brought into
    order one by one, when their turn comes. Saving over the file that ``tensors`` are mapped from is safe.

    Args:
        tensors: names to arrays, ``burnpy.pack.Tensor`` (deferred ones too) or lazy views. Values that are no arrays
            keep the dtype and the parameter id that they have.
        filename: used as it is; an old file keeps its mode, a symbolic link is followed.
        metadata: texts by key; their order does not matter.
        scalars: ``burnpy.pack.Scalar``, or Python values (``int`` becomes UInt if it is not negative, else Int).
        param_ids: ids of parameters by tensor name.
        durable: wait until the disk has the file, so that it outlives a loss of power.
        limits: what may not be exceeded; by default what Burn's reader accepts.

    Raises:
        DTypeError: no dtype of a burnpack fits: objects, text, complex numbers, 8-bit floats.
        ValidationError: a limit is exceeded, before the file exists; or the provider of a deferred tensor raised, and
            its exception is the ``__cause__``. The old file is as it was.
        IoError: the disk is full, or fails. The old file is as it was.

    Example:
        >>> import numpy as np
        >>> save_file({"w": np.ones((2, 3), np.float32)}, "model.bpk", {"producer": "me"}, scalars={"step": 3})
    """
    _core.save_file(
        tensors,
        filename,
        metadata,
        scalars=scalars,
        param_ids=param_ids,
        durable=durable,
        limits=limits,
    )


def save(
    tensors: Mapping[str, Any],
    metadata: Mapping[str, str] | None = None,
    *,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    limits: Limits | None = None,
) -> bytes:
    """The file that ``save_file`` would write, as bytes.

    Example:
        >>> import numpy as np
        >>> save({"w": np.zeros(2, np.float32)})[:4]
        b'NRUB'
    """
    return _core.save(tensors, metadata, scalars=scalars, param_ids=param_ids, limits=limits)
