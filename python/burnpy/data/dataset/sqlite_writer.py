"""An SQLite file of items, written row by row and published at once."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from burnpy.data.dataset.message import encode
from burnpy.data.dataset.sqlite_dataset import quoted
from burnpy.errors import SqliteDatasetError

if TYPE_CHECKING:
    from burnpy._typing import PathLike

__all__ = ["SqliteDatasetWriter"]

ROWS_AT_ONCE = 256


class SqliteDatasetWriter:
    """Writes items into a scratch file beside the target, which appears, complete, with :meth:`set_completed`.

    Also a context manager: a block that ends well completes the file, one that raises leaves nothing. Rows are
    committed 256 at a time; the file is synced before it gets its name. May be called from many threads. A process that
    is killed leaves the scratch file, ``<stem>.db.tmp``, which the next writer of the target replaces.

    Unlike Burn: with ``overwrite`` the old file stays until the new one is complete, the file is at rest (no
    write-ahead log), and a split may have any name.

    Args:
        db_file: the target; missing folders are made.
        overwrite: whether it may exist.
        encoding: ``"msgpack"``, Burn's (extra ``[msgpack]``), or ``"json"``, whose fields have names.

    Raises:
        SqliteDatasetError: the target exists (``FileExists``); an item cannot be encoded (``Serde``); after
            :meth:`set_completed`, or once rows were lost (``Other``).

    Example:
        >>> from burnpy.data import SqliteDataset
        >>> writer = SqliteDatasetWriter("words.db", encoding="json")
        >>> [writer.write("train", word) for word in ("one", "two")], writer.write("test", "three")
        ([0, 1], 0)
        >>> writer.set_completed()
        >>> list(SqliteDataset("words.db", "train"))
        ['one', 'two']

    Source: Burn ``data::dataset::SqliteDatasetWriter``.
    """

    def __init__(
        self, db_file: PathLike, overwrite: bool = False, *, encoding: Literal["msgpack", "json"] = "msgpack"
    ) -> None:
        if encoding not in ("msgpack", "json"):
            raise ValueError(f"encoding must be 'msgpack' or 'json', got {encoding!r}")
        self._path = Path(db_file)
        if self._path.exists() and not overwrite:
            raise self._error("FileExists", "the file exists, and overwrite is off")
        self._encoding = encoding
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._scratch = self._path.with_suffix(".db.tmp")
        _remove(self._scratch)
        self._lock = threading.Lock()
        self._is_completed = self._is_lost = False
        self._pending = 0
        self._splits: set[str] = set()
        self._connection = sqlite3.connect(self._scratch, isolation_level=None, check_same_thread=False)
        # Nobody sees the file before it is complete; what a crash leaves is thrown away.
        self._connection.execute("PRAGMA journal_mode = MEMORY")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._discard = weakref.finalize(self, _discard, os.getpid(), self._connection, self._scratch)

    def write(self, split: str, item: Any) -> int:
        """Adds an item to a split, and returns its index there; it counts once :meth:`set_completed` succeeds."""
        value = self._encoded(item)
        with self._lock:
            self._check_open()
            try:
                if split not in self._splits:
                    self._create(split)
                if not self._pending:
                    self._connection.execute("BEGIN")
                insert = f"INSERT INTO {quoted(split)} (item) VALUES (?)"
                row_id = self._connection.execute(insert, (value,)).lastrowid
                self._pending += 1
                if self._pending >= ROWS_AT_ONCE:
                    self._commit()
            except sqlite3.Error as error:
                raise self._error("Sql", f"split {split!r}: {error}") from error
        assert row_id is not None
        return row_id - 1

    def set_completed(self) -> None:
        """Commits what is left, syncs the file and gives it its name."""
        with self._lock:
            self._check_open()
            try:
                self._commit()
                self._connection.close()
            except sqlite3.Error as error:
                raise self._error("Sql", str(error)) from error
            _sync(self._scratch)
            os.replace(self._scratch, self._path)
            if os.name != "nt":
                _sync(self._path.parent)
            self._is_completed = True
            self._discard.detach()

    def close(self) -> None:
        """Throws away what was written, unless it is complete."""
        self._is_lost = True
        self._discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and not self._is_completed:
            self.set_completed()
        self.close()

    def _encoded(self, item: Any) -> bytes | str:
        try:
            return encode(item) if self._encoding == "msgpack" else _json(item)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise self._error("Serde", str(error)) from error

    def _create(self, split: str) -> None:
        self._commit()
        # With TEXT in it, since of any other JSON the engine would make numbers.
        kind = "BLOB" if self._encoding == "msgpack" else "JSON TEXT"
        self._connection.execute(
            f"CREATE TABLE {quoted(split)} (row_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, item {kind} NOT NULL)"
        )
        self._splits.add(split)

    def _commit(self) -> None:
        if not self._pending:
            return
        self._pending = 0
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error:
            self._is_lost = True
            self._connection.execute("ROLLBACK")
            raise

    def _check_open(self) -> None:
        if self._is_completed:
            raise self._error("Other", "the file is complete already")
        if self._is_lost:
            raise self._error(
                "Other", "rows were lost, or the writer was closed; the file cannot be completed"
            )

    def _error(self, kind: str, text: str) -> SqliteDatasetError:
        return SqliteDatasetError(f"{self._path}: {text}", kind=kind, path=str(self._path))


def _json(item: Any) -> str:
    return json.dumps(item, default=_plain, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """What JSON has no form for: fields by name, bytes as numbers, members by name, arrays as lists."""
    import dataclasses
    import enum

    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, bytes | bytearray):
        return list(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"an item cannot hold {type(value).__name__} in JSON")


def _sync(path: Path) -> None:
    # Windows syncs what is open for writing only.
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    for suffix in "", "-wal", "-shm", "-journal":
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def _discard(pid: int, connection: sqlite3.Connection, scratch: Path) -> None:
    # A fork has no part in its parent's file.
    if pid == os.getpid():
        connection.close()
        _remove(scratch)
