"""A tensor between two checkpoints: known by name, dtype and shape, read when it is its turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from burnpy import _core
from burnpy.errors import DTypeError, TensorBytesSizeMismatch, ValidationError
from burnpy.pack import QuantScheme
from burnpy.store.dtype import dtype_of, numpy_dtype, payload_len

if TYPE_CHECKING:
    from typing import Self

__all__ = ["TensorSnapshot"]


class TensorSnapshot:
    """A lazy tensor: name, dtype and shape at hand, its elements produced anew every time that they are asked for.

    Nothing is kept of what was produced, so a chain of snapshots over a model larger than memory can be drawn one
    by one. A snapshot is a value: every change makes another one over the same producer, and all may be used from
    any thread.

    Args:
        name: the full dotted path.
        dtype: text form (``"f32"``, ``"bf16"``, …), NumPy dtype, or ``burnpy.pack.QuantScheme``. Forms that only
            foreign checkpoints have (``"f8e4m3fn"``, ``"c64"``) are taken; a burnpack refuses them.
        shape: extents.
        provider: function without arguments that returns an array or any buffer.
        param_id: id of the parameter that it belongs to.
        container: types of what owns each part of the name, from the outside in (``"Struct:Model"``, …).

    Raises:
        DTypeError: the dtype is unknown.
        ValueError: an extent is negative.
        TypeError: the provider cannot be called.

    Example:
        >>> lazy = TensorSnapshot("fc.weight", "f32", (2, 3), lambda: np.ones((2, 3), np.float32))
        >>> lazy.nbytes, lazy.map_data("w", "f32", (3, 2), np.transpose).to_numpy().shape
        (24, (3, 2))
    """

    __slots__ = ("_provider", "container", "dtype", "name", "nbytes", "param_id", "scheme", "shape")

    def __init__(
        self,
        name: str,
        dtype: Any,
        shape: Sequence[int],
        provider: Callable[[], Any],
        *,
        param_id: int | None = None,
        container: Sequence[str] = (),
    ) -> None:
        if not callable(provider):
            raise TypeError(f"provider must be callable, got {type(provider).__name__}")
        self.name = name
        self.shape = tuple(int(extent) for extent in shape)
        if any(extent < 0 for extent in self.shape):
            raise ValueError(f"shape of {name!r} has a negative extent: {self.shape}")
        self.scheme = dtype if isinstance(dtype, QuantScheme) else None
        self.dtype = "qfloat" if self.scheme else dtype_of(dtype)
        self.param_id = param_id
        self.container = tuple(container)
        self.nbytes = _nbytes(self)
        self._provider = provider

    @classmethod
    def from_view(cls, view: _core.View, *, name: str | None = None) -> Self:
        """A tensor of an open checkpoint; of no use after that is closed."""
        return cls(
            name or view.name, view.scheme or view.dtype, view.shape, view.numpy, param_id=view.param_id
        )

    @classmethod
    def from_array(cls, name: str, array: Any, *, param_id: int | None = None) -> Self:
        """An array, shared and not copied: what is written to it later shows."""
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError(f"tensor {name!r} is a masked array, whose mask would be lost; filled() drops it")
        array = np.asarray(array)
        return cls(name, array.dtype, array.shape, lambda: array, param_id=param_id)

    @classmethod
    def from_pack(cls, tensor: _core.TensorEntry) -> Self:
        """A tensor of a container; its payload is copied at every use."""
        dtype = tensor.scheme or tensor.dtype
        return cls(tensor.name, dtype, tensor.shape, tensor.to_bytes, param_id=tensor.param_id)

    @property
    def container_path(self) -> str:
        """The container types in one text, joined with dots."""
        return ".".join(self.container)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """The elements, maybe read-only, maybe strided; the payload as bytes in a row where elements are packed.

        Raises:
            ValidationError: the provider returned another dtype or shape than was declared.
            TensorBytesSizeMismatch: it returned another number of bytes.
        """
        produced = self._provider()
        if isinstance(produced, np.ndarray):
            return self._checked(produced)
        data = _bytes_of(self.name, produced)
        if data.size != self.nbytes:
            raise TensorBytesSizeMismatch(
                f"tensor {self.name!r}: {data.size} bytes were produced, {self.nbytes} were declared",
                tensor=self.name,
                found=data.size,
                limit=self.nbytes,
            )
        dtype = numpy_dtype(self.dtype)
        return data if dtype is None else data.view(dtype).reshape(self.shape)

    def map_data(
        self,
        name: str,
        dtype: Any,
        shape: Sequence[int],
        fn: Callable[[np.ndarray[Any, Any]], Any],
    ) -> TensorSnapshot:
        """Another tensor, made by a function of this one's array when it is asked for.

        The parameter id and the container types are kept. What the function returns must have the dtype and shape
        that are announced here; that is checked when it runs.
        """

        def provide() -> Any:
            return fn(self.to_numpy())

        return TensorSnapshot(name, dtype, shape, provide, param_id=self.param_id, container=self.container)

    def rename(self, name: str) -> TensorSnapshot:
        """The same tensor under another name."""
        return self._with(name, self.container)

    def with_container(self, container: Sequence[str]) -> TensorSnapshot:
        """The same tensor, owned by modules of these types."""
        return self._with(self.name, container)

    def _with(self, name: str, container: Sequence[str]) -> TensorSnapshot:
        dtype = self.scheme or self.dtype
        return TensorSnapshot(
            name, dtype, self.shape, self._provider, param_id=self.param_id, container=container
        )

    def into_pack(self) -> _core.TensorEntry:
        """The deferred tensor that a burnpack's writer takes.

        Raises:
            DTypeError: a burnpack has no such elements.
        """
        try:
            return _core.TensorEntry.deferred(
                self.name,
                dtype=self.scheme or self.dtype,
                shape=self.shape,
                provider=self.to_numpy,
                param_id=self.param_id,
            )
        except ValueError as error:
            message = f"tensor {self.name!r}: burnpack has no dtype for {self.dtype}"
            raise DTypeError(message, tensor=self.name, dtype=self.dtype) from error

    def _checked(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        wanted: tuple[np.dtype[Any], tuple[int, ...]]
        dtype = numpy_dtype(self.dtype)
        wanted = (np.dtype(np.uint8), (self.nbytes,)) if dtype is None else (dtype, self.shape)
        if (array.dtype.newbyteorder("<"), array.shape) != wanted:
            message = f"tensor {self.name!r}: {_text(array.dtype, array.shape)} was produced"
            raise ValidationError(f"{message}, {_text(*wanted)} was declared", tensor=self.name)
        return array.astype(wanted[0], copy=False)

    def __repr__(self) -> str:
        return f"TensorSnapshot(name={self.name!r}, dtype={self.dtype!r}, shape={self.shape})"


def _nbytes(tensor: TensorSnapshot) -> int:
    if tensor.scheme is None:
        return payload_len(tensor.dtype, tensor.shape)
    deferred = _core.TensorEntry.deferred
    return deferred(tensor.name, dtype=tensor.scheme, shape=tensor.shape, provider=bytes).byte_len()


def _bytes_of(name: str, produced: Any) -> np.ndarray[Any, Any]:
    try:
        return np.frombuffer(produced, np.uint8)
    except TypeError as error:
        kind = type(produced).__name__
        raise TypeError(
            f"tensor {name!r}: the provider returned {kind}, which is no array or buffer"
        ) from error


def _text(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    return f"{dtype.name} {list(shape)}"
