"""What the archives share that the core opens as foreign files."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from burnpy.store.archive import Archive, Skipped, TensorInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from burnpy._core import ForeignFile, ForeignView

__all__ = ["ForeignArchive"]


class ForeignArchive(Archive):
    """An open file that is no burnpack."""

    def __init__(self, file: ForeignFile, path: str) -> None:
        self._file = file
        self.path = path

    @property
    def format(self) -> str:
        """What the file is."""
        return self._file.format

    def keys(self) -> list[str]:
        """Names in data order."""
        return self._file.keys()

    def has(self, name: object) -> bool:
        """Whether a tensor has this name."""
        return name in self._file

    def view(self, name: str, shown: str | None = None) -> ForeignView:
        """A tensor, under the name that is shown."""
        return self._file.view(name, shown)

    def info(self, name: str) -> TensorInfo:
        """What header or pickle say of a tensor."""
        return self.told(self._file, name)

    @staticmethod
    def told(file: ForeignFile, name: str) -> TensorInfo:
        """The same of an open file."""
        dtype, shape, nbytes, start = file.info(name)
        offsets = None if start is None else (start, start + nbytes)
        return TensorInfo(name, dtype, tuple(shape), None, nbytes, offsets)

    def metadata(self) -> dict[str, str]:
        """The texts of the header."""
        return self._file.metadata() or {}

    def scalars(self) -> dict[str, Any]:
        """None, but of a file that is open."""
        self._file.keys()
        return {}

    def skipped(self) -> list[Skipped]:
        """What the pickle asks for and nobody builds."""
        return [
            Skipped(name, kind, reason, None if shape is None else tuple(shape), dtype)
            for name, kind, reason, shape, dtype in self._file.skipped()
        ]

    def ties(self) -> list[list[str]]:
        """Groups of names that are one view of a storage."""
        return self._file.ties()

    def overlaps(self) -> list[list[str]]:
        """Groups of names that share a storage otherwise."""
        return self._file.overlaps()

    def dict_keys(self, path: list[str]) -> list[str] | None:
        """Keys of a dict of the pickle."""
        return self._file.dict_keys(path)

    def has_names_below(self, path: list[str]) -> bool:
        """Whether a path of keys leads to a dict or module of the pickle."""
        return self._file.has_names_below(path)

    @contextmanager
    def verifying(self, names: Sequence[str]) -> Iterator[Callable[[], None]]:
        """Large tensors are compared while they are copied; the call tells of damage, and of a file that changed."""
        verification = self._file.verify_while_copied(list(names))
        try:
            yield verification.finish
        finally:
            verification.stop()

    def close(self) -> None:
        """Let the file go."""
        self._file.close()
