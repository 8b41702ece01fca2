"""Burnpack files as dicts of jax arrays, in the order of arguments that safetensors has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from burnpy import _core
from burnpy._places import save_pack
from burnpy.errors import DTypeError
from burnpy.safe_open import for_copy, open_reader

if TYPE_CHECKING:
    import jax
    import numpy as np
    from typing_extensions import Buffer

    from burnpy._typing import Backend, Place
    from burnpy.pack import Limits, Scalar

__all__ = ["load", "load_file", "save", "save_file"]


def save_file(
    tensors: Mapping[str, jax.Array | Any],
    filename: Place,
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
    save_pack(
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


@overload
def load_file(
    filename: Place,
    device: str | int = "cpu",
    *,
    backend: Backend = "auto",
    copy: bool = False,
    with_metadata: Literal[False] = False,
) -> dict[str, jax.Array]: ...
@overload
def load_file(
    filename: Place,
    device: str | int = "cpu",
    *,
    backend: Backend = "auto",
    copy: bool = False,
    with_metadata: Literal[True],
) -> tuple[dict[str, jax.Array], dict[str, str]]: ...
def load_file(
    filename: Place,
    device: str | int = "cpu",
    *,
    backend: Backend = "auto",
    copy: bool = False,
    with_metadata: bool = False,
) -> dict[str, jax.Array] | tuple[dict[str, jax.Array], dict[str, str]]:
    """All arrays of a file, in data order.

    On the CPU, an array is a window of the mapped file where jax can use the memory as it lies, else a copy. As
    everywhere in jax, 64-bit numbers become 32-bit ones unless ``jax_enable_x64`` is on.

    Args:
        filename: the file, or the index of a sharded model; if nothing is there, ``.bpk`` is appended.
        device: where the arrays go: a platform, whose first device it is, or the number of a device.
        backend: ``"pread"`` reads everything into memory instead of mapping the file, ``"auto"`` maps where possible.
        copy: read everything into memory at once.
        with_metadata: return ``(arrays, metadata)``.

    Raises:
        FileNotFoundError, PermissionError, IsADirectoryError: from the system.
        Error: of ``burnpy.pack``: the file is no burnpack, or not a sound one.

    Example:
        >>> import jax.numpy
        >>> save_file({"w": jax.numpy.ones(3)}, "model.bpk")
        >>> load_file("model.bpk")
        {'w': Array([1., 1., 1.], dtype=float32)}
    """
    reader = open_reader(filename, backend=for_copy(backend) if copy else backend, private=True)
    views = map(reader.view, reader.keys())
    arrays = {view.name: _on_device(_from_view(view, copy), device) for view in views}
    return (arrays, reader.metadata()) if with_metadata else arrays


def load(data: Buffer) -> dict[str, jax.Array]:
    """All arrays of a file in memory, in data order. They are copies.

    Example:
        >>> import jax.numpy
        >>> load(save({"w": jax.numpy.zeros(2)}))
        {'w': Array([0., 0.], dtype=float32)}
    """
    reader = _core.Reader.from_bytes(data)
    return {view.name: _from_view(view, copy=True) for view in map(reader.view, reader.keys())}


def _from_view(view: _core.View, copy: bool = False) -> jax.Array:
    import jax

    narrowed = view.dtype in ("f64", "i64", "u64") and not jax.config.jax_enable_x64
    if narrowed or view.nbytes == 0:
        return _from_array(view.numpy())
    array: jax.Array = jax.numpy.from_dlpack(view, copy=copy or None)
    return array


def _from_array(array: np.ndarray[Any, Any]) -> jax.Array:
    import jax

    return jax.numpy.array(array)


def _on_device(array: jax.Array, device: str | int) -> jax.Array:
    import jax

    if device == "cpu":
        return array
    chosen = jax.devices(device)[0] if isinstance(device, str) else jax.devices()[device]
    return jax.device_put(array, chosen)


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
    return _core.TensorEntry.deferred(
        name, dtype=array.dtype, shape=array.shape, provider=lambda: np.asarray(array.copy())
    )
