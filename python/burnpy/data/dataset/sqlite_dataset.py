"""Items in a table of an SQLite file."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from burnpy.data.dataset.dataset import Dataset, check_index
from burnpy.data.dataset.item import ItemType, Source
from burnpy.data.dataset.message import decode
from burnpy.errors import SqliteDatasetError

if TYPE_CHECKING:
    from burnpy._typing import PathLike

__all__ = ["SqliteDataset", "quoted"]

# The layouts of a table that holds each item in one value: the columns with their declared types, without case.
WHOLE_ITEMS: dict[tuple[tuple[str, str], ...], tuple[Source, Callable[[Any], Any]]] = {
    (("row_id", "integer"), ("item", "blob")): ("msgpack", decode),
    (("row_id", "integer"), ("item", "json text")): ("json", json.loads),
}
# One query takes so many row ids; the engine allows at least 999.
IDS_AT_ONCE = 900


class SqliteDataset(Dataset[Any]):
    """The rows of one table, named like the split; item i is the row with ``row_id`` i + 1.

    A table of exactly the columns ``row_id INTEGER, item BLOB`` holds MessagePack, as Burn writes it (extra
    ``[msgpack]``); with ``item JSON TEXT``, JSON. Any other table with a ``row_id`` has a column for each field.
    The file is read only, and left as it is. Safe across threads and forks; pickles as its path.

    Args:
        db_file: the file.
        split: the table; any name will do.
        item: what items are: a dataclass or named tuple, a mapping of names to types (items are dicts), or a
            ``tuple[…]``. Without it: what the message says (a list, since Burn's messages have no names), what the JSON
            says, or a dict of the columns. NULL is ``None`` where the type allows it, and NaN for a float.

    Raises:
        FileNotFoundError: there is no such file.
        SqliteDatasetError: no such table (``Sql``), no ``row_id`` (``Row``); later, a row is missing (``Other``), or is
            not of the item's type (``Row``, ``Deserialize``).

    Example:
        >>> from burnpy.data import SqliteDatasetWriter
        >>> with SqliteDatasetWriter("digits.db", encoding="json") as writer:
        ...     _ = writer.write("train", {"image": [0, 7], "label": 3})
        >>> SqliteDataset("digits.db", "train", {"label": int, "image": list[float]}).get(0)
        {'label': 3, 'image': [0.0, 7.0]}

    Source: Burn ``data::dataset::SqliteDataset``.
    """

    def __init__(self, db_file: PathLike, split: str, item: Any = None) -> None:
        self._path, self._split, self._item = Path(db_file), split, item
        with self._path.open("rb"):
            pass  # the system's own error, which tells more than SQLite's
        self._lock = threading.Lock()
        self._connection: tuple[int, sqlite3.Connection] | None = None
        self._columns = self._describe()
        self._whole = WHOLE_ITEMS.get(tuple(self._columns))
        self._names = [name for name, _ in self._columns]
        if "row_id" not in [name.lower() for name in self._names]:
            raise self._error("Row", f"there is no column row_id, but {', '.join(self._names)}")
        source = self._whole[0] if self._whole else "sql"
        self._kind = None if item is None else ItemType[Any](item, source)
        self._length = self._greatest_row_id()

    @classmethod
    def from_db_file(cls, db_file: PathLike, split: str, item: Any = None) -> SqliteDataset:
        """The rows of a table; the constructor under Burn's name."""
        return cls(db_file, split, item)

    def db_file(self) -> Path:
        """The file."""
        return self._path

    def split(self) -> str:
        """The table."""
        return self._split

    def __len__(self) -> int:
        return self._length

    def get(self, index: int) -> Any:
        """The item of row ``index`` + 1."""
        return self.get_many([index])[0]

    def get_many(self, indexes: Sequence[int]) -> list[Any]:
        """Several items, with one query for 900 of them."""
        wanted = [check_index(index, self._length) for index in indexes]
        unique = list(dict.fromkeys(wanted))
        rows: dict[int, tuple[Any, ...]] = {}
        for start in range(0, len(unique), IDS_AT_ONCE):
            ids = [index + 1 for index in unique[start : start + IDS_AT_ONCE]]
            marks = ",".join("?" * len(ids))
            query = f"SELECT row_id, * FROM {quoted(self._split)} WHERE row_id IN ({marks})"
            rows.update((row[0] - 1, row[1:]) for row in self._query(query, ids))
        missing = [index for index in unique if index not in rows]
        if missing:
            raise self._error("Other", f"there is no row with row_id {missing[0] + 1}, for item {missing[0]}")
        return [self._item_of(index, rows[index]) for index in wanted]

    def _item_of(self, index: int, row: tuple[Any, ...]) -> Any:
        try:
            if self._whole:
                return self._whole_item(self._whole[1](row[1]))
            pairs = zip(self._names, row, strict=True)
            fields = {name: value for name, value in pairs if name.lower() != "row_id"}
            return fields if self._kind is None else self._kind.from_mapping(fields)
        except (ValueError, TypeError, RecursionError) as error:
            kind = "Deserialize" if self._whole else "Row"
            raise self._error(kind, f"item {index}: {error}") from error

    def _whole_item(self, value: Any) -> Any:
        if self._kind is None:
            return value
        if self._kind.is_single:
            return self._kind.from_sequence([value])
        if isinstance(value, dict):
            return self._kind.from_mapping(value)
        if not isinstance(value, list):
            raise ValueError(f"a list of fields is wanted, got {type(value).__name__}")
        return self._kind.from_sequence(value)

    def _describe(self) -> list[tuple[str, str]]:
        found = self._query("SELECT name, type FROM pragma_table_info(?)", [self._split])
        if not found:
            tables = [
                name for (name,) in self._query("SELECT name FROM sqlite_master WHERE type = 'table'", [])
            ]
            raise self._error("Sql", f"there is no such table, but {tables}")
        columns = [(name, kind.lower()) for name, kind in found]
        lowered = [(name.lower(), kind) for name, kind in columns]
        return lowered if tuple(lowered) in WHOLE_ITEMS else columns

    def _greatest_row_id(self) -> int:
        ((greatest,),) = self._query(f"SELECT MAX(row_id) FROM {quoted(self._split)}", [])
        if greatest is None:
            return 0
        if not isinstance(greatest, int) or greatest < 0:
            raise self._error(
                "Other", f"the greatest row_id is {greatest!r}, it must be an integer and not negative"
            )
        return greatest

    def _query(self, query: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._connect().execute(query, values).fetchall()
        except (sqlite3.Error, OverflowError) as error:
            raise self._error("Sql", str(error)) from error

    def _connect(self) -> sqlite3.Connection:
        # A connection does not survive a fork: its locks are those of the parent.
        if self._connection is None or self._connection[0] != os.getpid():
            connection = sqlite3.connect(_uri(self._path), uri=True, check_same_thread=False)
            self._connection = os.getpid(), connection
            weakref.finalize(self, _close, *self._connection)
        return self._connection[1]

    def _error(self, kind: str, text: str) -> SqliteDatasetError:
        return SqliteDatasetError(
            f"{self._path}, table {self._split!r}: {text}", kind=kind, path=str(self._path)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._path, self._split, self._item)


def quoted(name: str) -> str:
    """A name of a table for SQL text, whatever it holds.

    Example:
        >>> print(quoted('a "b"; --'))
        "a ""b""; --"
    """
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _uri(path: Path) -> str:
    with path.open("rb") as file:
        header = file.read(20)
    log = Path(f"{path}-wal")
    # A file in write-ahead mode, as Burn's, would get a log beside it even for reading, were it not told to be at rest.
    is_at_rest = header[18:20] == b"\x02\x02" and not (log.exists() and log.stat().st_size)
    return f"file:{quote(str(path.absolute()))}?mode=ro" + ("&immutable=1" if is_at_rest else "")


def _close(pid: int, connection: sqlite3.Connection) -> None:
    if pid == os.getpid():
        with contextlib.suppress(sqlite3.Error):
            connection.close()
