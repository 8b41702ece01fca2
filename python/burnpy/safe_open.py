"""A file as a mapping from names to tensors that are read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import fspath

from burnpy._core import Reader, View

# As `typing.TYPE_CHECKING`, without the import, which would be half the time of `import burnpy`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Self

    from burnpy._core import TensorInfo
    from burnpy._shards import ShardedReader
    from burnpy._typing import Backend, Framework, Place

__all__ = ["Slice", "safe_open"]

_FRAMEWORKS = {
    "numpy": "numpy", "np": "numpy",
    "torch": "torch", "pt": "torch", "pytorch": "torch",
    "jax": "jax", "flax": "jax",
}  # fmt: skip


class safe_open(Mapping[str, View]):
    """An open burnpack file: a mapping from names to lazy views, with the methods of safetensors' handle beside.

    Opening reads the header and the metadata. ``model[name]`` is a ``burnpy.pack.View``, whatever the framework: it
    takes NumPy's basic indices and reads only what they need. ``get_tensor`` gives the framework's own tensors, for
    NumPy read-only arrays over the map. For torch, which has no read-only tensors, the memory is private: a write
    copies the page that it touches, and never reaches the file.

    A handle may be used from many threads, in forked workers, and pickled (it opens its path again). Closing it lets
    the file go; arrays made before stay valid. A mapped file that another program cuts short can kill this one when
    it is touched; ``backend="pread"`` gives an error instead.

    Args:
        filename: the file, a URL, a file object or a place of ``burnpy.storage.at``; if nothing is there, ``.bpk`` is
            appended. The index of a sharded model
            (``model.bpk.index.json``) opens as one mapping over all its files. Over a network a view is one request
            whenever it is used; ``get_tensors`` asks for many at once.
        framework: ``"numpy"``, ``"torch"`` or ``"jax"``, or safetensors' ``"np"``, ``"pt"``, ``"flax"``.
        device: where the framework's tensors go.
        backend: ``"mmap"``, ``"pread"``, or ``"auto"``: mapped where possible.
        strict: refuse what Burn's own writer would not have written.

    Raises:
        FileNotFoundError, PermissionError, IsADirectoryError: from the system.
        Error: of ``burnpy.pack``: the file is no burnpack, or not a sound one; the message says what it looks like.

    Example:
        >>> import numpy as np
        >>> from burnpy.numpy import save_file
        >>> save_file({"w": np.arange(6.0).reshape(3, 2)}, "model.bpk", scalars={"step": 3})
        >>> with safe_open("model.bpk") as model:
        ...     model["w"].shape, model["w"][::-1, 0].tolist(), model.scalars()
        ((3, 2), [4.0, 2.0, 0.0], {'step': 3})
    """

    __slots__ = ("__weakref__", "_device", "_framework", "_reader")

    def __init__(
        self,
        filename: Place,
        framework: Framework = "numpy",
        device: str | int = "cpu",
        *,
        backend: Backend = "auto",
        strict: bool = False,
    ) -> None:
        if framework not in _FRAMEWORKS:
            raise ValueError(f"framework must be one of {', '.join(_FRAMEWORKS)}, got {framework!r}")
        self._framework = _FRAMEWORKS[framework]
        if self._framework == "numpy" and device != "cpu":
            raise ValueError(f"device must be 'cpu' for numpy, got {device!r}")
        self._device = device
        self._reader = open_reader(
            filename, backend=backend, strict=strict, private=self._framework != "numpy"
        )

    def keys(self) -> list[str]:  # type: ignore[override]  # a list, as safetensors has it
        """Names in data order."""
        return self._reader.keys()

    def offset_keys(self) -> list[str]:
        """Names in data order, under safetensors' other name."""
        return self._reader.keys()

    def get_tensor(self, name: str) -> Any:
        """A tensor of the framework.

        Raises:
            TensorNotFound: a ``KeyError`` with the nearest name that is there.
        """
        view = self._reader.view(name)
        if self._framework == "numpy":
            return view.numpy()
        if self._framework == "torch":
            from burnpy.torch import _on_device as torch_on_device

            return torch_on_device(view.torch(), self._device)
        from burnpy.jax import _on_device as jax_on_device

        return jax_on_device(view.jax(), self._device)

    def get_tensors(self, names: Iterable[str]) -> dict[str, Any]:
        """Several tensors of the framework, in the order of the names; over a network they come together.

        Raises:
            TensorNotFound: as ``get_tensor``.
        """
        if self._framework == "numpy":
            return self._reader._arrays_of(list(names))
        return {name: self.get_tensor(name) for name in names}

    def get_slice(self, name: str) -> Slice:
        """A tensor of which parts are read, as tensors of the framework."""
        return Slice(self._reader.view(name), self._framework, self._device)

    def info(self, name: str) -> TensorInfo:
        """Name, dtype, shape, parameter id and offsets of a tensor."""
        return self._reader.info(name)

    def metadata(self) -> dict[str, str]:
        """The texts beside the tensors."""
        return self._reader.metadata()

    def scalars(self) -> dict[str, bool | int | float]:
        """The numbers and flags beside the tensors."""
        return self._reader._scalar_values()

    def close(self) -> None:
        """Let the file go. Arrays stay valid, lazy views do not."""
        self._reader.close()

    def __getitem__(self, name: str) -> View:
        return self._reader.view(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._reader.keys())

    def __len__(self) -> int:
        return len(self._reader)

    def __contains__(self, name: object) -> bool:
        return name in self._reader

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # The file decides what is equal, and it may be large: handles compare as objects do.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self._reader, self._framework, self._device)

    def __repr__(self) -> str:
        return f"<burnpy.safe_open of {self._reader!r} for {self._framework}>"


class Slice:
    """One tensor of a handle, of which parts are read: ``part = model.get_slice("w")[2:4]``."""

    __slots__ = ("_device", "_framework", "_view")

    def __init__(self, view: View, framework: str, device: str | int) -> None:
        self._view = view
        self._framework = framework
        self._device = device

    def get_shape(self) -> list[int]:
        """The extents of the whole tensor."""
        return list(self._view.shape)

    def get_dtype(self) -> str:
        """The text form of the dtype, such as ``"bf16"``."""
        return self._view.dtype

    def __getitem__(self, index: Any) -> Any:
        if self._framework == "numpy":
            return self._view[index]
        if self._framework == "torch":
            from burnpy.torch import _from_capsule
            from burnpy.torch import _on_device as torch_on_device

            return torch_on_device(_from_capsule(self._view._capsule_of(index)), self._device)
        from burnpy.jax import _from_array
        from burnpy.jax import _on_device as jax_on_device

        return jax_on_device(_from_array(self._view[index]), self._device)

    def __repr__(self) -> str:
        return f"<slice of {self._view!r} for {self._framework}>"


def open_reader(
    filename: Place, *, backend: Backend, strict: bool = False, private: bool = False
) -> Reader | ShardedReader:
    """The reader of a file, or of the files of an index."""
    # On the first use: what only imports burnpy does not need it.
    from burnpy._places import is_remote, place_of

    place = place_of(filename)
    path = str(place) if is_remote(place) else fspath(place)
    if not isinstance(path, str):
        raise TypeError(f"filename must be a str or a path of str, got {type(path).__name__} {path!r}")
    if path.endswith(".index.json"):
        from burnpy._shards import ShardedReader

        return ShardedReader(place, backend=backend, strict=strict, private=private)
    if is_remote(place):
        from burnpy.storage.whole import reader_of

        return reader_of(place, strict=strict)
    return Reader._find(place, backend=backend, strict=strict, private=private)


def for_copy(backend: Backend) -> Backend:
    """The backend when all is copied anyway: a read is faster than a copy out of the map, whose pages are touched."""
    return "pread" if backend == "auto" else backend


def _restore(
    cls: type[safe_open], reader: Reader | ShardedReader, framework: str, device: str | int
) -> safe_open:
    handle = cls.__new__(cls)
    handle._reader, handle._framework, handle._device = reader, framework, device
    return handle
