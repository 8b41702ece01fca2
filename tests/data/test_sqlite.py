"""SQLite files: both layouts, both encodings, and what is wrong with a file."""

import enum
import os
import pickle
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from burnpy.data import DataLoader, SqliteDataset, SqliteDatasetStorage, SqliteDatasetWriter
from burnpy.errors import SqliteDatasetError
from tests.data.samples import as_list


@dataclass
class Sample:
    column_str: str
    column_bytes: bytes
    column_int: int
    column_bool: bool
    column_float: float


SCHEMA = """CREATE TABLE {} (column_str TEXT, column_bytes BLOB, column_int INTEGER, column_bool BOOLEAN,
            column_float FLOAT, row_id INTEGER NOT NULL, PRIMARY KEY (row_id))"""
ITEMS = [("HI1", bytes([55, 231, 159]), 1, 1, 1.0), ("HI2", bytes([55, 231, 159]), 1, 0, 1.0)]


def _run(path: Path, *statements: str | tuple[str, Any]) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            if isinstance(statement, str):
                connection.execute(statement)
            else:
                connection.executemany(*statement)


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    """Tables as the importer of Hugging Face data sets makes them."""
    path = tmp_path / "columns.db"
    for split in "train", "test":
        insert = f"INSERT INTO {split} VALUES (?, ?, ?, ?, ?, NULL)"
        _run(path, SCHEMA.format(split), (insert, ITEMS))
    return path


class TestColumns:
    def test_fields_are_found_by_name(self, columns: Path) -> None:
        dataset = SqliteDataset.from_db_file(columns, "train", Sample)
        assert len(dataset) == 2 and dataset.split() == "train" and dataset.db_file() == columns
        assert dataset.get(0) == Sample("HI1", bytes([55, 231, 159]), 1, True, 1.0)
        assert [item.column_str for item in dataset.get_many([1, 0, 1])] == ["HI2", "HI1", "HI2"]
        assert dataset.get_many([]) == []
        with pytest.raises(IndexError, match="index 10 is out of range for a data set of 2 items"):
            dataset.get(10)
        with pytest.raises(IndexError):
            dataset.get_many([0, 2])

    def test_reading_leaves_the_file_as_it_is(self, columns: Path) -> None:
        before, files = columns.read_bytes(), sorted(columns.parent.iterdir())
        assert len(list(SqliteDataset(columns, "test", Sample))) == 2
        assert columns.read_bytes() == before and sorted(columns.parent.iterdir()) == files

    def test_other_forms_of_items(self, columns: Path) -> None:
        assert list(SqliteDataset(columns, "train"))[1]["column_str"] == "HI2"
        assert set(SqliteDataset(columns, "train").get(0)) == set(Sample.__dataclass_fields__)
        assert SqliteDataset(columns, "train", str).get(1) == "HI2"
        assert SqliteDataset(columns, "train", tuple[str, list[int]]).get(0) == ("HI1", [55, 231, 159])
        assert SqliteDataset(columns, "train", {"column_float": float}).get(0) == {"column_float": 1.0}

    def test_null_json_truth_and_members(self, tmp_path: Path) -> None:
        class Color(enum.Enum):
            Red = 1

        class Row(NamedTuple):
            size: float
            note: str | None
            color: Color
            weights: list[float]
            is_new: bool

        path = tmp_path / "rows.db"
        _run(
            path,
            "CREATE TABLE t (Row_Id INTEGER, size REAL, note TEXT, color TEXT, weights TEXT, is_new REAL)",
        )
        _run(path, "INSERT INTO t VALUES (1, NULL, NULL, 'Red', '[1, 2.5]', 0.5)")
        row = SqliteDataset(path, "t", Row).get(0)
        assert np.isnan(row.size) and row[1:] == (None, Color.Red, [1.0, 2.5], True)

    @pytest.mark.parametrize(
        ("item", "text"),
        [
            ({"column_str": int}, "item 0: field 'column_str': 'HI1' is no int"),
            ({"other": int}, "item 0: field 'other': is missing"),
            ({"column_str": list[int]}, "item 0: field 'column_str'"),
        ],
    )
    def test_a_field_of_another_type_is_told(self, columns: Path, item: Any, text: str) -> None:
        with pytest.raises(SqliteDatasetError, match=r"columns\.db, table 'train': ") as caught:
            SqliteDataset(columns, "train", item).get(0)
        assert text in str(caught.value) and caught.value.kind == "Row"


class TestFiles:
    def test_a_missing_file_and_a_folder_are_the_systems_errors(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            SqliteDataset(tmp_path / "none.db", "train")
        with pytest.raises(IsADirectoryError if os.name != "nt" else PermissionError):
            SqliteDataset(tmp_path, "train")
        assert not list(tmp_path.iterdir())

    def test_a_missing_table_is_told_with_those_that_are_there(self, columns: Path) -> None:
        with pytest.raises(
            SqliteDatasetError, match=r"table 'valid': there is no such table, but \['train', 'test'\]"
        ):
            SqliteDataset(columns, "valid")

    def test_a_table_without_row_ids_is_none(self, tmp_path: Path) -> None:
        _run(tmp_path / "x.db", "CREATE TABLE t (id INTEGER, item BLOB)")
        with pytest.raises(SqliteDatasetError, match="there is no column row_id, but id, item"):
            SqliteDataset(tmp_path / "x.db", "t")

    def test_a_gap_is_told_when_its_row_is_asked_for(self, columns: Path) -> None:
        _run(columns, "DELETE FROM train WHERE row_id = 1")
        dataset = SqliteDataset(columns, "train", Sample)
        assert len(dataset) == 2 and dataset.get(1).column_str == "HI2"
        for read in lambda: dataset.get(0), lambda: dataset.get_many([1, 0]):
            with pytest.raises(SqliteDatasetError, match="no row with row_id 1, for item 0") as caught:
                read()
            assert caught.value.kind == "Other"

    @pytest.mark.parametrize("row_id", ["'x'", "-3", "1.5"])
    def test_the_greatest_row_id_is_a_number(self, tmp_path: Path, row_id: str) -> None:
        _run(tmp_path / "x.db", "CREATE TABLE t (row_id, x)", f"INSERT INTO t VALUES ({row_id}, 1)")
        with pytest.raises(SqliteDatasetError, match="the greatest row_id is"):
            SqliteDataset(tmp_path / "x.db", "t")

    def test_an_empty_table_has_no_items(self, tmp_path: Path) -> None:
        _run(tmp_path / "x.db", "CREATE TABLE t (row_id INTEGER, x)")
        assert len(SqliteDataset(tmp_path / "x.db", "t")) == 0

    @pytest.mark.parametrize("content", [b"", b"not a database, but long enough to be one" * 30])
    def test_what_is_no_database_is_an_error(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "x.db"
        path.write_bytes(content)
        with pytest.raises(SqliteDatasetError, match=r"x\.db, table 't'"):
            SqliteDataset(path, "t")

    def test_a_damaged_database_is_an_error(self, columns: Path) -> None:
        content = bytearray(columns.read_bytes())
        content[4096:] = b"\xff" * (len(content) - 4096)
        columns.write_bytes(content)
        with pytest.raises(SqliteDatasetError, match=r"columns\.db, table 'train': ") as caught:
            SqliteDataset(columns, "train", Sample).get(0)
        assert caught.value.kind == "Sql"

    def test_a_file_in_write_ahead_mode_is_read_without_a_log_beside_it(self, columns: Path) -> None:
        """As Burn's writer leaves it; also where nothing may be written."""
        _run(columns, "PRAGMA journal_mode = WAL")
        assert columns.read_bytes()[18:20] == b"\x02\x02"
        os.chmod(columns.parent, stat.S_IRUSR | stat.S_IXUSR)
        try:
            assert SqliteDataset(columns, "train", Sample).get(1).column_str == "HI2"
            assert [path.name for path in columns.parent.iterdir()] == ["columns.db"]
        finally:
            os.chmod(columns.parent, stat.S_IRWXU)

    def test_many_indices_are_more_than_one_query(self, tmp_path: Path) -> None:
        path = tmp_path / "x.db"
        _run(path, "CREATE TABLE t (row_id INTEGER PRIMARY KEY, x INTEGER)")
        _run(path, ("INSERT INTO t VALUES (?, ?)", [(n + 1, 10 * n) for n in range(5000)]))
        indexes = [*range(4999, -1, -1), 7, 7]
        assert SqliteDataset(path, "t", int).get_many(indexes) == [10 * index for index in indexes]

    def test_it_is_read_from_threads_processes_and_forks(self, columns: Path) -> None:
        dataset = SqliteDataset(columns, "train", {"column_str": str})
        expected = [[{"column_str": "HI1"}], [{"column_str": "HI2"}]]
        assert pickle.loads(pickle.dumps(dataset)).get(1) == expected[1][0]
        for worker in "thread", "process":
            with DataLoader(dataset, as_list, num_workers=2, worker=worker) as loader:
                assert list(loader) == expected
        if hasattr(os, "fork"):
            child = os.fork()
            if not child:
                os._exit(0 if dataset.get(0) == expected[0][0] else 1)
            assert os.waitpid(child, 0)[1] == 0
        assert dataset.get(0) == expected[0][0]


@pytest.fixture(params=["json", "msgpack"])
def encoding(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "msgpack":
        pytest.importorskip("msgpack")
    yield request.param


@dataclass
class Nested:
    grid: list[list[list[list[int]]]]
    pair: tuple[int, str]
    inner: Sample
    note: str | None = None


class TestWriter:
    def test_what_is_written_is_read(self, tmp_path: Path, encoding: Any) -> None:
        items = [
            Nested([[[[1, 23, 3]]]], (n, "ä"), Sample("s", b"\x00\xff", -n, True, 0.1 * n), "x" * n or None)
            for n in range(600)
        ]
        with SqliteDatasetWriter(tmp_path / "made" / "x.db", encoding=encoding) as writer:
            assert [writer.write("train", item) for item in items] == list(range(600))
        assert list(SqliteDataset(tmp_path / "made" / "x.db", "train", Nested)) == items
        assert [path.name for path in (tmp_path / "made").iterdir()] == ["x.db"]

    def test_splits_are_counted_apart_and_may_have_any_name(self, tmp_path: Path, encoding: Any) -> None:
        names = ["train", "select", "my split", "0-1", 'quo"ted; DROP TABLE train', "größe"]
        with SqliteDatasetWriter(tmp_path / "x.db", encoding=encoding) as writer:
            for round_ in range(2):
                assert [writer.write(name, name) for name in names] == [round_] * len(names)
        for name in names:
            assert list(SqliteDataset(tmp_path / "x.db", name)) == [name, name]

    def test_many_threads_write(self, tmp_path: Path, encoding: Any) -> None:
        writer = SqliteDatasetWriter(tmp_path / "x.db", encoding=encoding)
        indices: list[int] = []

        def write(item: int) -> None:
            indices.append(writer.write(("train", "test")[item % 2], item))

        threads = [threading.Thread(target=write, args=(item,)) for item in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        writer.set_completed()
        assert sorted(indices) == sorted([*range(10), *range(10)])
        assert sorted(SqliteDataset(tmp_path / "x.db", "train", int)) == list(range(0, 20, 2))
        assert sorted(SqliteDataset(tmp_path / "x.db", "test", int)) == list(range(1, 20, 2))

    def test_nothing_is_there_before_it_is_complete(self, tmp_path: Path) -> None:
        target = tmp_path / "x.sqlite"
        writer = SqliteDatasetWriter(target, encoding="json")
        writer.write("train", 1)
        assert not target.exists() and (tmp_path / "x.db.tmp").exists()
        writer.set_completed()
        assert [path.name for path in tmp_path.iterdir()] == ["x.sqlite"]

    def test_after_the_end_nothing_can_be_written(self, tmp_path: Path) -> None:
        writer = SqliteDatasetWriter(tmp_path / "x.db", encoding="json")
        writer.write("train", 1)
        writer.set_completed()
        for act in (lambda: writer.write("train", 2)), writer.set_completed:
            with pytest.raises(SqliteDatasetError, match="complete already") as caught:
                act()
            assert caught.value.kind == "Other"
        writer.close()
        assert len(SqliteDataset(tmp_path / "x.db", "train")) == 1

    def test_what_fails_leaves_nothing_and_the_old_file(self, tmp_path: Path) -> None:
        target = tmp_path / "x.db"
        with SqliteDatasetWriter(target, encoding="json") as writer:
            writer.write("train", "old")
        with pytest.raises(KeyboardInterrupt), SqliteDatasetWriter(target, True, encoding="json") as writer:
            writer.write("train", "new")
            raise KeyboardInterrupt
        assert [path.name for path in tmp_path.iterdir()] == ["x.db"]
        assert list(SqliteDataset(target, "train")) == ["old"]
        with pytest.raises(SqliteDatasetError, match="cannot be completed"):
            writer.set_completed()

    def test_a_writer_that_goes_takes_its_scratch_file_along(self, tmp_path: Path) -> None:
        writer = SqliteDatasetWriter(tmp_path / "x.db", encoding="json")
        writer.write("train", 1)
        del writer
        assert not list(tmp_path.iterdir())

    def test_a_file_is_overwritten_only_on_demand_and_a_stale_scratch_file_always(
        self, tmp_path: Path
    ) -> None:
        target = tmp_path / "x.db"
        (tmp_path / "x.db.tmp").write_bytes(b"left by a crash")
        (tmp_path / "x.db.tmp-wal").write_bytes(b"and its log")
        SqliteDatasetWriter(target, encoding="json").set_completed()
        with pytest.raises(SqliteDatasetError, match="the file exists, and overwrite is off") as caught:
            SqliteDatasetWriter(target)
        assert caught.value.kind == "FileExists"
        with SqliteDatasetWriter(target, overwrite=True, encoding="json") as writer:
            writer.write("train", 2)
        assert list(SqliteDataset(target, "train")) == [2]
        assert [path.name for path in tmp_path.iterdir()] == ["x.db"]

    def test_what_cannot_be_encoded_is_told_and_others_can_follow(
        self, tmp_path: Path, encoding: Any
    ) -> None:
        with SqliteDatasetWriter(tmp_path / "x.db", encoding=encoding) as writer:
            with pytest.raises(SqliteDatasetError, match="an item cannot hold") as caught:
                writer.write("train", [1, object()])
            assert caught.value.kind == "Serde"
            assert writer.write("train", [1]) == 0

    @pytest.mark.parametrize("split", ["sqlite_master", "sqlite_x", ""])
    def test_a_name_that_the_engine_keeps_for_itself_is_an_error(self, tmp_path: Path, split: str) -> None:
        writer = SqliteDatasetWriter(tmp_path / "x.db", encoding="json")
        if split:
            with pytest.raises(SqliteDatasetError, match="split 'sqlite_"):
                writer.write(split, 1)
        writer.close()

    def test_the_encoding_is_one_of_two(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="encoding must be 'msgpack' or 'json', got 'pickle'"):
            SqliteDatasetWriter(tmp_path / "x.db", encoding="pickle")  # type: ignore[arg-type]


class TestMessages:
    """MessagePack as Rust's serialiser writes it in its compact form."""

    @pytest.fixture(autouse=True)
    def _msgpack(self) -> None:
        pytest.importorskip("msgpack")

    def test_the_bytes_of_a_structure(self) -> None:
        from burnpy.data.dataset.message import decode, encode

        @dataclass
        class Item:
            name: str
            data: bytes
            single: np.float32
            double: float
            note: str | None
            pair: tuple[int, bool]
            big: int

        item = Item("HI", b"\x01\xff", np.float32(1.5), 2.0, None, (-1, True), 300)
        expected = "97 a24849 9201ccff ca3fc00000 cb4000000000000000 c0 92ffc3 cd012c"
        assert encode(item) == bytes.fromhex(expected.replace(" ", ""))
        plain = Item("HI", b"\x01\xff", 1.5, 2.0, None, (-1, True), 300)  # type: ignore[arg-type]
        assert encode(plain) == encode(item)
        assert decode(encode(item)) == ["HI", [1, 255], 1.5, 2.0, None, [-1, True], 300]

    def test_a_table_as_burn_writes_it(self, tmp_path: Path) -> None:
        path = tmp_path / "x.db"
        _run(
            path, "CREATE TABLE train (row_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, item BLOB NOT NULL)"
        )
        message = bytes.fromhex("95 a3484931 9337cce7cc9f 01 c3 cb3ff0000000000000".replace(" ", ""))
        _run(path, ("INSERT INTO train (item) VALUES (?)", [(message,)]))
        assert SqliteDataset(path, "train", Sample).get(0) == Sample(
            "HI1", bytes([55, 231, 159]), 1, True, 1.0
        )
        assert SqliteDataset(path, "train").get(0) == ["HI1", [55, 231, 159], 1, True, 1.0]

    def test_the_table_that_is_written_is_burns(self, tmp_path: Path) -> None:
        with SqliteDatasetWriter(tmp_path / "x.db") as writer:
            writer.write("train", Sample("a", b"", 0, False, 0.0))
        with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
            found = connection.execute(
                "SELECT name, type, \"notnull\", pk FROM pragma_table_info('train')"
            ).fetchall()
            assert found == [("row_id", "INTEGER", 1, 1), ("item", "BLOB", 1, 0)]
            assert connection.execute("SELECT row_id, typeof(item) FROM train").fetchall() == [(1, "blob")]

    @pytest.mark.parametrize(
        ("message", "text"),
        [
            (b"", "no MessagePack item"),
            (b"\xc1", "no MessagePack item"),
            (b"\x95\xa3HI", "no MessagePack item"),
            (b"\xdd\xff\xff\xff\xff", "no MessagePack item"),
            (b"\x01\x02", "no MessagePack item"),
            (b"\x91" * 5000, "item 0"),
            (b"\x01", "a list of fields is wanted, got int"),
            (b"\x92\x01\x02", "the item has 5 fields, the row 2"),
            (b"\x95\x01\x90\x01\xc3\x01", "field 'column_str': 1 is no str"),
        ],
    )
    def test_a_message_that_is_none_is_told(self, tmp_path: Path, message: bytes, text: str) -> None:
        path = tmp_path / "x.db"
        _run(
            path, "CREATE TABLE t (ROW_ID integer, ITEM blob)", ("INSERT INTO t VALUES (1, ?)", [(message,)])
        )
        with pytest.raises(SqliteDatasetError, match="item 0") as caught:
            SqliteDataset(path, "t", Sample).get(0)
        assert text in str(caught.value) and caught.value.kind == "Deserialize"


def test_without_msgpack_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "msgpack", None)
    with (
        SqliteDatasetWriter(tmp_path / "x.db") as writer,
        pytest.raises(ImportError, match=r"burnpy\[msgpack\]"),
    ):
        writer.write("train", 1)


class TestStorage:
    def test_a_name_is_a_file_in_a_folder(self, tmp_path: Path) -> None:
        storage = SqliteDatasetStorage.from_name("ag/news").with_base_dir(tmp_path)
        assert storage.db_file() == tmp_path / "agnews.db" and not storage.exists()
        with storage.writer(encoding="json") as writer:
            writer.write("train", 1)
        assert storage.exists() and list(storage.reader("train", int)) == [1]
        with pytest.raises(SqliteDatasetError):
            storage.writer()

    def test_a_path_stays_where_it_is(self, tmp_path: Path) -> None:
        storage = SqliteDatasetStorage.from_file(tmp_path / "x.db").with_base_dir("/elsewhere")
        assert storage.db_file() == tmp_path / "x.db"
        with pytest.raises(FileNotFoundError):
            storage.reader("train")

    @pytest.mark.skipif(os.name == "nt", reason="the cache is elsewhere")
    def test_the_default_folder_is_burns(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.platform", "linux")
        monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
        assert SqliteDatasetStorage.from_name("x").db_file() == Path("/cache/burn-dataset/x.db")

    @pytest.mark.parametrize("name", ["", "//", "..", "\0"])
    def test_a_name_is_more_than_what_no_file_may_have(self, name: str) -> None:
        with pytest.raises(ValueError, match="has no character"):
            SqliteDatasetStorage.from_name(name)
        with pytest.raises(ValueError, match="either name or file"):
            SqliteDatasetStorage()
