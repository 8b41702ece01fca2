"""A checkpoint of PyTorch as an archive of ``burnpy.open``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burnpy._core import ForeignFile
from burnpy.store.foreign import ForeignArchive

if TYPE_CHECKING:
    from burnpy.pack import Limits

__all__ = ["PytorchArchive"]


class PytorchArchive(ForeignArchive):
    """What ``torch.save`` wrote, in any container: its pickle was read as data, and nothing in it is ever executed."""

    def __init__(self, path: str, limits: Limits | None = None) -> None:
        super().__init__(ForeignFile.pytorch(path, limits), path)

    @classmethod
    def from_bytes(cls, data: Any) -> PytorchArchive:
        """A checkpoint in memory, which must not change."""
        archive = cls.__new__(cls)
        ForeignArchive.__init__(archive, ForeignFile.from_bytes(data, "pytorch"), "<memory>")
        return archive

    @property
    def file(self) -> ForeignFile:
        """The open file, for what is no tensor."""
        return self._file

    def metadata(self) -> dict[str, str]:
        """The strings."""
        return {name: value for name, value in self._file.plain_values().items() if isinstance(value, str)}

    def scalars(self) -> dict[str, Any]:
        """All plain values but the strings."""
        return {
            name: value for name, value in self._file.plain_values().items() if not isinstance(value, str)
        }
