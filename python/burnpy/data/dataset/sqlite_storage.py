"""Where an SQLite data set lies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from burnpy.data.dataset.cache import cache_dir, file_name
from burnpy.data.dataset.sqlite_dataset import SqliteDataset
from burnpy.data.dataset.sqlite_writer import SqliteDatasetWriter

if TYPE_CHECKING:
    from burnpy._typing import PathLike

__all__ = ["SqliteDatasetStorage"]


class SqliteDatasetStorage:
    """An SQLite file by name, in the user's cache or another folder, or by path.

    Example:
        >>> storage = SqliteDatasetStorage.from_name("my: words").with_base_dir("data")
        >>> storage.db_file().as_posix(), storage.exists()
        ('data/my words.db', False)
        >>> with storage.writer(encoding="json") as writer:
        ...     _ = writer.write("train", "one")
        >>> list(storage.reader("train"))
        ['one']

    Source: Burn ``data::dataset::SqliteDatasetStorage``.
    """

    def __init__(
        self, name: str | None = None, *, file: PathLike | None = None, base_dir: PathLike | None = None
    ) -> None:
        if (name is None) == (file is None):
            raise ValueError("either name or file must be given")
        self._name = None if name is None else file_name(name)
        self._file = None if file is None else Path(file)
        self._base_dir = None if base_dir is None else Path(base_dir)

    @staticmethod
    def from_name(name: str) -> SqliteDatasetStorage:
        """The file ``<name>.db`` in the cache; what a file may not have in its name is left out."""
        return SqliteDatasetStorage(name)

    @staticmethod
    def from_file(db_file: PathLike) -> SqliteDatasetStorage:
        """A file at a path."""
        return SqliteDatasetStorage(file=db_file)

    def with_base_dir(self, base_dir: PathLike) -> SqliteDatasetStorage:
        """The same name in another folder; a file by path stays where it is."""
        return SqliteDatasetStorage(self._name, file=self._file, base_dir=base_dir)

    def db_file(self) -> Path:
        """The path of the file."""
        return self._file if self._file is not None else (self._base_dir or cache_dir()) / f"{self._name}.db"

    def exists(self) -> bool:
        """Whether it is there."""
        return self.db_file().exists()

    def writer(
        self, overwrite: bool = False, *, encoding: Literal["msgpack", "json"] = "msgpack"
    ) -> SqliteDatasetWriter:
        """What writes it."""
        return SqliteDatasetWriter(self.db_file(), overwrite, encoding=encoding)

    def reader(self, split: str, item: Any = None) -> SqliteDataset:
        """One of its splits; a missing file raises ``FileNotFoundError``."""
        return SqliteDataset(self.db_file(), split, item)
