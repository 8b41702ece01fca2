"""Lines of JSON, and CSV."""

import enum
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from burnpy.data import InMemDataset
from burnpy.errors import DatasetError


@dataclass
class Sample:
    column_str: str
    column_int: int
    column_bool: bool
    column_float: float


class Optional(NamedTuple):
    name: str
    size: float | None


ROWS = [Sample("HI1", 1, True, 1.0), Sample("HI2", 1, False, 1.0)]
HEADER = "column_str,column_int,column_bool,column_float\n"


def _write(folder: Path, text: str | bytes) -> Path:
    path = folder / "rows"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


class TestCsv:
    def test_columns_are_found_by_name(self, tmp_path: Path) -> None:
        path = _write(tmp_path, HEADER + "HI1,1,true,1.0\nHI2,1,false,1.0\n")
        assert list(InMemDataset.from_csv(path, Sample)) == ROWS

    def test_columns_are_found_by_position_without_headers(self, tmp_path: Path) -> None:
        path = _write(tmp_path, "HI1 1 true 1.0\nHI2 1 false 1.0")
        assert list(InMemDataset.from_csv(path, Sample, delimiter=" ", has_headers=False)) == ROWS

    def test_order_and_surplus_do_not_matter_with_headers(self, tmp_path: Path) -> None:
        path = _write(tmp_path, "size,more,name\n,x,a\n2.5,y,b\n")
        assert list(InMemDataset.from_csv(path, Optional)) == [Optional("a", None), Optional("b", 2.5)]

    def test_without_a_type_items_are_text(self, tmp_path: Path) -> None:
        path = _write(tmp_path, 'a,b\n1,"x, ""y"""\n')
        assert list(InMemDataset.from_csv(path)) == [{"a": "1", "b": 'x, "y"'}]
        assert InMemDataset.from_csv(path, has_headers=False).get(0) == ("a", "b")

    def test_a_tuple_of_types_and_a_byte_order_mark(self, tmp_path: Path) -> None:
        path = _write(tmp_path, b"\xef\xbb\xbf1\tx\r\n2\ty\r\n")
        found = InMemDataset.from_csv(path, tuple[int, str], delimiter="\t", has_headers=False)
        assert list(found) == [(1, "x"), (2, "y")]

    @pytest.mark.parametrize("text", ["", HEADER])
    def test_no_rows_are_no_items(self, tmp_path: Path, text: str) -> None:
        assert len(InMemDataset.from_csv(_write(tmp_path, text), None)) == 0

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("column_str,column_int\nx,1\n", "line 1: there is no column 'column_bool', 'column_float'"),
            (HEADER + "a,1,true,1\nb,x,true,1\n", "line 3: field 'column_int': 'x' is no int"),
            (HEADER + "a,1_0,true,1\n", "'1_0' is no int"),
            (HEADER + "a, 1,true,1\n", "' 1' is no int"),
            (HEADER + "a,1,True,1\n", "'True' is no bool"),
            (HEADER + "a,1,true,\n", "field 'column_float': '' is no float"),
            (HEADER + "a,1,true\n", "line 2: the row has 3 columns, the first one 4"),
            (HEADER + 'a,1,true,"1\n', "line 2"),
            (HEADER + f"a,{'9' * 5000},true,1\n", "line 2"),
            (HEADER.encode() + b"\xff,1,true,1\n", "line"),
        ],
    )
    def test_what_is_wrong_is_told_with_file_and_line(
        self, tmp_path: Path, text: str | bytes, message: str
    ) -> None:
        path = _write(tmp_path, text)
        with pytest.raises(DatasetError, match="rows, line") as caught:
            InMemDataset.from_csv(path, Sample)
        assert message in str(caught.value) and caught.value.path == str(path)

    def test_a_missing_file_is_the_systems_error(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            InMemDataset.from_csv(tmp_path / "none.csv")

    @pytest.mark.parametrize("item", [3, "Sample", Ellipsis])
    def test_a_type_is_a_type(self, tmp_path: Path, item: Any) -> None:
        with pytest.raises(TypeError, match="item must be a type"):
            InMemDataset.from_csv(_write(tmp_path, "a\n1\n"), item)


class Color(enum.Enum):
    Red = 1
    Green = 2


@dataclass
class Inner:
    weights: list[float]


@dataclass
class Deep:
    inner: Inner
    color: Color
    pair: tuple[int, str]
    data: bytes
    table: dict[str, int]
    note: str | None = None


class TestJsonRows:
    def test_rows_with_a_surplus_column(self, tmp_path: Path) -> None:
        lines = [json.dumps({**row.__dict__, "column_bytes": [1, 2, 3, 3]}) for row in ROWS]
        path = _write(tmp_path, "\n".join(lines))
        assert list(InMemDataset.from_json_rows(path, Sample)) == ROWS

    def test_blank_lines_are_skipped_and_items_are_what_the_json_says(self, tmp_path: Path) -> None:
        path = _write(tmp_path, '{"a": 1}\n\n[2]\n  \n"x"\n')
        assert list(InMemDataset.from_json_rows(path)) == [{"a": 1}, [2], "x"]

    def test_nested_fields(self, tmp_path: Path) -> None:
        row = {
            "inner": {"weights": [1, 2.5]},
            "color": "Green",
            "pair": [1, "x"],
            "data": [0, 255],
            "table": {"k": 1},
        }
        (item,) = InMemDataset.from_json_rows(_write(tmp_path, json.dumps(row)), Deep)
        assert item == Deep(Inner([1.0, 2.5]), Color.Green, (1, "x"), b"\x00\xff", {"k": 1})

    def test_single_values(self, tmp_path: Path) -> None:
        assert list(InMemDataset.from_json_rows(_write(tmp_path, "1\n2\n"), int)) == [1, 2]
        assert list(InMemDataset.from_json_rows(_write(tmp_path, "[1]\n[]\n"), list[int])) == [[1], []]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("{", "line 2"),
            ("[" * 100_000, "line 2"),
            ('{"column_str": 1}', "field 'column_str': 1 is no str"),
            ("{}", "field 'column_str': is missing"),
            ("[1]", "the item has 4 fields, the row 1"),
            ('{"column_str": "", "column_int": true}', "field 'column_int': True is no int"),
            (json.dumps({**ROWS[0].__dict__, "column_bool": 1}), "field 'column_bool': 1 is no bool"),
        ],
    )
    def test_what_is_wrong_is_told_with_file_and_line(self, tmp_path: Path, line: str, message: str) -> None:
        path = _write(tmp_path, json.dumps(ROWS[0].__dict__) + "\n" + line)
        with pytest.raises(DatasetError, match="rows, line 2") as caught:
            InMemDataset.from_json_rows(path, Sample)
        assert message in str(caught.value)
