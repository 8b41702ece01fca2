"""Where records of an epoch are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from burnpy._places import is_remote, place_of
from burnpy.errors import BurnpyError

if TYPE_CHECKING:
    from burnpy._typing import PathLike, Place
    from burnpy.storage.location import Location

__all__ = ["Checkpoint", "Checkpointer", "CheckpointerError", "FileCheckpointer"]


class CheckpointerError(BurnpyError):
    """A checkpoint cannot be saved, restored or found.

    Attributes:
        path: the file or folder, or ``None``.
    """

    def __init__(self, message: str = "", *, path: Place | None = None) -> None:
        super().__init__(message)
        self.path = path


class Checkpoint(Protocol):
    """What can be kept: the records of modules, optimizers and schedulers.

    Source: Burn ``train::checkpoint::Checkpoint``.
    """

    def save(self, path: Place) -> None:
        """Write a file."""


@runtime_checkable
class Checkpointer(Protocol):
    """Keeps one kind of record by epoch. ``key`` is the epoch, from 1, or a text such as ``"step-120"`` in its middle.

    Source: Burn ``train::checkpoint::Checkpointer``.
    """

    def save(self, key: int | str, record: Any, /) -> None:
        """Keep a record."""

    def restore(self, key: int | str, kind: type[Any], /) -> Any:
        """The record, of a kind with ``load(path)`` or ``from_bytes(data)``."""

    def delete(self, key: int | str, /) -> None:
        """Forget a record; one that is not there is no error."""


class FileCheckpointer:
    """Keeps records as files ``<directory>/<name>-<epoch>.bpk``; each is written whole or not at all, and synced.

    In the middle of an epoch it is ``<directory>/step-<n>/<name>.bpk``, with the number of optimizer steps.

    Args:
        directory: a folder, made when the first record is saved; or a URL, or a place of ``burnpy.storage.at``.
        name: of the kind of record: ``model``, ``optim``, ``scheduler``.

    Example:
        >>> from burnpy import ModuleRecord
        >>> from burnpy.nn import LinearConfig
        >>> kept = FileCheckpointer("memory://runs/7/checkpoint", "model")
        >>> kept.save(1, LinearConfig(3, 2).init().into_record())
        >>> str(kept.path(1)), list(kept.restore(1, ModuleRecord))
        ('memory:///runs/7/checkpoint/model-1.bpk', ['weight', 'bias'])

    Source: Burn ``train::checkpoint::FileCheckpointer``.
    """

    def __init__(self, directory: Place, name: str) -> None:
        place = place_of(directory)
        self.directory: Path | Location = place if is_remote(place) else Path(place)
        self.name = name

    def path(self, key: int | str) -> Path | Location:
        """The file of an epoch or step."""
        return below(self.directory, file_name(self.name, key))

    def save(self, key: int | str, record: Checkpoint, /) -> None:
        """Write the record's file in place of an older one.

        Raises:
            OSError, RecordError: it cannot be written; an older one is as it was.
        """
        path = self.path(key)
        if isinstance(path, Path):
            path.parent.mkdir(parents=True, exist_ok=True)
        record.save(path)
        if isinstance(path, Path) and not is_shared(record):
            _remove_shared(path)

    def restore(self, key: int | str, kind: type[Any], /) -> Any:
        """The record of a file.

        Raises:
            FileNotFoundError: there is none.
            RecordError: it is damaged.
        """
        path = self.path(key)
        if is_file(index := index_path(path)):
            return kind.load(index)
        if not is_file(path):
            raise FileNotFoundError(2, f"no checkpoint {self.name} of {describe(key)}", str(path))
        return kind.load(path)

    def delete(self, key: int | str, /) -> None:
        """Remove the file if it is there."""
        path = self.path(key)
        if not isinstance(path, Path):
            path.delete()
            return
        path.unlink(missing_ok=True)
        _remove_shared(path)
        if not isinstance(key, int) and path.parent.is_dir() and not any(path.parent.iterdir()):
            path.parent.rmdir()


def file_name(name: str, key: int | str) -> str:
    """Where a part of a set is in its folder.

    Example:
        >>> file_name("model", 3), file_name("model", "step-120")
        ('model-3.bpk', 'step-120/model.bpk')
    """
    return f"{name}-{key}.bpk" if isinstance(key, int) else f"{key}/{name}.bpk"


class SharedRecord:
    """Stands for a record that several ranks have written beside ``path`` already."""

    def save(self, path: PathLike) -> None:
        """Remove what one rank wrote there before."""
        Path(path).unlink(missing_ok=True)


def below(folder: Path | Location, name: str) -> Path | Location:
    """The place of this name in a folder."""
    return folder / name if isinstance(folder, Path) else folder.child(name)


def beside(path: Path | Location, name: str) -> Path | Location:
    """The place of this name in the same folder."""
    return path.with_name(name) if isinstance(path, Path) else path.sibling(name)


def is_file(path: Path | Location) -> bool:
    """Whether something is there."""
    return path.is_file() if isinstance(path, Path) else path.exists()


def index_path(path: Path | Location) -> Path | Location:
    """Where the index is, if several ranks wrote a part of a set."""
    return beside(path, f"{path.name}.index.json")


def is_shared(record: object) -> bool:
    """Whether several ranks have written a record."""
    return isinstance(record, SharedRecord)


def _remove_shared(path: Path) -> None:
    """Remove what several ranks wrote instead of a file, the index first."""
    path.with_name(index_path(path).name).unlink(missing_ok=True)
    for part in path.parent.glob(f"{path.stem}-[0-9]*-of-[0-9]*{path.suffix}"):
        part.unlink(missing_ok=True)


def describe(key: int | str) -> str:
    """A checkpoint's key in words."""
    return f"epoch {key}" if isinstance(key, int) else key.replace("-", " ")
