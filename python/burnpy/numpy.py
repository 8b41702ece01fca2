"""Burnpack files as dicts of NumPy arrays, in the order of arguments that safetensors has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from burnpy import _core
from burnpy._places import save_pack
from burnpy.safe_open import for_copy, open_reader

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Buffer

    from burnpy._typing import Backend, Place
    from burnpy.pack import Limits, Scalar

__all__ = ["load", "load_file", "save", "save_file"]


def save_file(
    tensors: Mapping[str, Any],
    filename: Place,
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
        filename: a path, used as it is (an old file keeps its mode, a symbolic link is followed); or a URL, a file
            object, or a place of ``burnpy.storage.at``.
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
    save_pack(
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


@overload
def load_file(
    filename: Place,
    *,
    backend: Backend = "auto",
    copy: bool = False,
    with_metadata: Literal[False] = False,
) -> dict[str, np.ndarray[Any, Any]]: ...
@overload
def load_file(
    filename: Place, *, backend: Backend = "auto", copy: bool = False, with_metadata: Literal[True]
) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, str]]: ...
def load_file(
    filename: Place, *, backend: Backend = "auto", copy: bool = False, with_metadata: bool = False
) -> dict[str, np.ndarray[Any, Any]] | tuple[dict[str, np.ndarray[Any, Any]], dict[str, str]]:
    """All arrays of a file, in data order.

    By default they are read-only windows of the mapped file: no byte is read before it is used, and the map lives as
    long as one of them. bf16 arrays have the dtype of ``ml_dtypes``, flex32 is float32, a ``bool(u32)`` uint32 (its own
    four bytes), and a quantized tensor its payload as uint8. A bool array shows the bytes that the file has, which in
    a sound file are 0 and 1.

    Args:
        filename: the file or a URL, or the index of a sharded model; if nothing is there, ``.bpk`` is appended. What
            comes over a network comes at once, in several requests.
        backend: ``"pread"`` reads everything into memory instead of mapping the file, ``"auto"`` maps where possible.
        copy: read everything into memory that is writable and the arrays' own.
        with_metadata: return ``(arrays, metadata)``.

    Raises:
        FileNotFoundError, PermissionError, IsADirectoryError: from the system.
        Error: of ``burnpy.pack``: the file is no burnpack, or not a sound one.

    Example:
        >>> import numpy as np
        >>> save_file({"w": np.ones(3, np.float32)}, "model.bpk", {"producer": "me"})
        >>> load_file("model.bpk", with_metadata=True)
        ({'w': array([1., 1., 1.], dtype=float32)}, {'producer': 'me'})
        >>> load_file("model.bpk", copy=True)["w"].flags.writeable
        True
    """
    reader = open_reader(filename, backend=for_copy(backend) if copy else backend)
    arrays = reader._arrays(copy=copy)
    return (arrays, reader.metadata()) if with_metadata else arrays


def load(data: Buffer) -> dict[str, np.ndarray[Any, Any]]:
    """All arrays of a file in memory, in data order: read-only windows of ``data``, which must not change.

    Example:
        >>> import numpy as np
        >>> load(save({"w": np.arange(3, dtype=np.int16)}))
        {'w': array([0, 1, 2], dtype=int16)}
    """
    return _core.Reader.from_bytes(data)._arrays(copy=False)
