"""A burnpack as an archive of ``burnpy.open``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burnpy._core import Reader
from burnpy.store.archive import Archive, TensorInfo

if TYPE_CHECKING:
    from burnpy._core import View
    from burnpy.pack import Limits

__all__ = ["BurnpackArchive"]


class BurnpackArchive(Archive):
    """A burnpack; what is wrong with one is an error of ``burnpy.pack``."""

    def __init__(self, path: str, limits: Limits | None = None, *, reader: Reader | None = None) -> None:
        self._reader = Reader.from_file_exact(path, limits=limits) if reader is None else reader
        self.path = path

    @property
    def format(self) -> str:
        """A burnpack."""
        return "burnpack"

    def keys(self) -> list[str]:
        """Names in data order."""
        return self._reader.keys()

    def has(self, name: object) -> bool:
        """Whether an entry has this name."""
        return name in self._reader

    def view(self, name: str, shown: str | None = None) -> View:
        """A tensor; it has the name that its container gives it, whatever it is shown as."""
        return self._reader.view(name)

    def info(self, name: str) -> TensorInfo:
        """The container's entry."""
        info = self._reader.info(name)
        return TensorInfo(name, info.dtype, info.shape, info.param_id, info.nbytes, info.offsets, info.scheme)

    def metadata(self) -> dict[str, str]:
        """The texts beside the tensors."""
        return self._reader.metadata()

    def scalars(self) -> dict[str, Any]:
        """The numbers beside the tensors, as Python's."""
        return self._reader._scalar_values()

    def typed_scalars(self) -> dict[str, Any]:
        """The numbers beside the tensors, as ``burnpy.pack.Scalar``."""
        return dict(self._reader.scalars())

    def close(self) -> None:
        """Let the file go."""
        self._reader.close()
