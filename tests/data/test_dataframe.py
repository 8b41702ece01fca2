"""Data frames of pandas and polars, where they are installed, and of anything that looks like one."""

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from burnpy.data import DataframeDataset, DataLoader
from burnpy.errors import DataframeDatasetError
from tests.data.samples import as_list


@dataclass
class Row:
    name: str
    size: float
    count: int | None


class Frame:
    """The least that is a frame."""

    columns = ("name", "size", "count")

    def __init__(self, **columns: list[Any]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return 2

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name]


DATA: dict[str, list[Any]] = {"size": [1.5, 2.5], "name": ["a", "b"], "count": [3, None]}


@pytest.fixture(params=["plain", "pandas", "polars"])
def frame(request: pytest.FixtureRequest) -> Any:
    if request.param == "plain":
        return Frame(**DATA)
    library = pytest.importorskip(request.param)
    if request.param == "polars":
        return library.DataFrame(DATA)
    return library.DataFrame(DATA, index=[10, 20]).astype({"count": "Int64"})


def test_fields_are_found_by_name(frame: Any) -> None:
    dataset = DataframeDataset(frame, Row)
    assert list(dataset) == [Row("a", 1.5, 3), Row("b", 2.5, None)] and len(dataset) == 2
    assert type(dataset.get(0).count) is int
    assert list(DataLoader(dataset, as_list, num_workers=2)) == [[Row("a", 1.5, 3)], [Row("b", 2.5, None)]]
    with pytest.raises(IndexError, match="index 2"):
        dataset.get(2)


def test_without_a_type_items_are_dicts(frame: Any) -> None:
    assert DataframeDataset(frame).get(1) == {"size": 2.5, "name": "b", "count": None}
    assert DataframeDataset(frame, {"name": str}).get(1) == {"name": "b"}


def test_a_missing_column_is_told_at_once(frame: Any) -> None:
    with pytest.raises(DataframeDatasetError, match="there is no column 'weight', the frame has") as caught:
        DataframeDataset(frame, {"name": str, "weight": float})
    assert caught.value.kind == "MissingColumn"


def test_a_value_of_another_type_is_told_with_its_row(frame: Any) -> None:
    with pytest.raises(DataframeDatasetError, match="row 1: field 'count': None is no int") as caught:
        DataframeDataset(frame, {"count": int}).get(1)
    assert caught.value.kind == "Conversion"
    with pytest.raises(DataframeDatasetError, match="row 0: field 'name': 'a' is no bool"):
        DataframeDataset(frame, {"name": bool}).get(0)


@pytest.mark.parametrize("thing", [3, [1, 2], {"a": [1]}, np.zeros(3)])
def test_what_has_no_columns_is_no_frame(thing: Any) -> None:
    with pytest.raises(TypeError, match="a data frame has columns"):
        DataframeDataset(thing)


def test_types_of_polars() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "flag": [True],
            "data": [b"\x01"],
            "day": [datetime.date(1970, 2, 1)],
            "time": [datetime.time(0, 1, 0, 5)],
            "many": [[1, 2]],
            "none": [None],
        }
    )
    kinds = {"flag": bool, "data": bytes, "day": int, "time": int, "many": list[int], "none": str | None}
    assert DataframeDataset(frame, kinds).get(0) == {
        "flag": True, "data": b"\x01", "day": 31, "time": 60_000_005_000, "many": [1, 2], "none": None,
    }  # fmt: skip
    assert DataframeDataset(frame).get(0)["day"] == datetime.date(1970, 2, 1)
    with pytest.raises(DataframeDatasetError, match="is no int"):
        DataframeDataset(polars.DataFrame({"at": [datetime.datetime(2000, 1, 1)]}), {"at": int}).get(0)


def test_types_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"i": np.array([1], np.int8), "f": np.array([0.5], np.float32), "b": [True], "t": [pandas.NaT]}
    )
    item = DataframeDataset(frame, {"i": int, "f": float, "b": bool, "t": str | None}).get(0)
    assert item == {"i": 1, "f": 0.5, "b": True, "t": None}
    assert [type(value) for value in item.values()][:3] == [int, float, bool]
