"""The protocol, and what counts as a data set."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from burnpy.data import Dataset, DatasetIterator, InMemDataset, TensorDataset, as_dataset
from burnpy.errors import DatasetError
from tests.data.samples import Counting, Failing

DATASETS: list[Dataset[Any]] = [
    InMemDataset([0, 1, 2]),
    Counting(3),
    as_dataset([0, 1, 2]),
    as_dataset(range(3)),
]


@pytest.mark.parametrize("dataset", DATASETS, ids=lambda dataset: type(dataset).__name__)
def test_items_are_found_by_number(dataset: Dataset[int]) -> None:
    assert [dataset.get(index) for index in range(3)] == [0, 1, 2]
    assert dataset.len() == len(dataset) == 3 and not dataset.is_empty()
    assert list(dataset) == list(dataset.iter()) == [0, 1, 2]
    assert dataset.get_many([2, 0, 2]) == [2, 0, 2]
    assert list(dataset.get_many([])) == []
    assert dataset[-1] == 2 and list(dataset[1:]) == [1, 2]


@pytest.mark.parametrize(
    "dataset", [*DATASETS[:1], *DATASETS[2:]], ids=lambda dataset: type(dataset).__name__
)
@pytest.mark.parametrize("index", [3, -1, 10**30])
def test_an_index_out_of_range_is_told_with_the_length(dataset: Dataset[int], index: int) -> None:
    with pytest.raises(IndexError, match=f"index {index} is out of range for a data set of 3 items"):
        dataset.get(index)
    with pytest.raises(IndexError, match=str(index)):
        dataset.get_many([0, index])


def test_a_negative_index_beyond_the_start_is_no_item() -> None:
    with pytest.raises(IndexError):
        InMemDataset([1, 2])[-3]


@pytest.mark.parametrize("index", ["1", 1.0, None])
def test_an_index_is_an_integer(index: Any) -> None:
    with pytest.raises(TypeError):
        InMemDataset([1, 2]).get(index)


@pytest.mark.parametrize("items", [{1: 2}, iter([1]), 7, None])
def test_what_has_no_numbered_items_is_no_data_set(items: Any) -> None:
    with pytest.raises(TypeError, match="a data set needs"):
        as_dataset(items)


def test_an_array_gives_its_rows() -> None:
    rows: Any = np.arange(6).reshape(3, 2)
    assert as_dataset(rows).get(1).tolist() == [2, 3]


def test_a_foreign_data_set_is_read_in_bulk_where_it_can() -> None:
    class Foreign:
        def __len__(self) -> int:
            return 5

        def __getitem__(self, index: int) -> int:
            raise AssertionError("one by one")

        def __getitems__(self, indexes: list[int]) -> list[int]:
            return [10 * index for index in indexes]

    assert as_dataset(Foreign()).get_many([4, 1]) == [40, 10]  # type: ignore[arg-type]


def test_an_iterator_goes_on_after_an_item_that_failed() -> None:
    items = DatasetIterator(Failing(3, at=1, how="dataset"))
    assert next(items) == 0
    with pytest.raises(DatasetError):
        next(items)
    assert next(items) == 2
    with pytest.raises(StopIteration):
        next(items)


def test_a_copy_of_all_items_fails_as_its_source() -> None:
    assert list(InMemDataset.from_dataset(Counting(4))) == [0, 1, 2, 3]
    with pytest.raises(DatasetError, match="the source is gone"):
        InMemDataset.from_dataset(Failing(3, at=1, how="dataset"))


class TestTensorDataset:
    def test_items_are_rows(self) -> None:
        dataset = TensorDataset(np.arange(6, dtype=np.float32).reshape(3, 2), np.array([7, 8, 9]))
        x, y = dataset.get(1)
        assert x.tolist() == [2, 3] and x.dtype == "f32" and y.item() == 8 and y.dtype == "i64"

    @pytest.mark.parametrize("indexes", [[2, 0, 2], range(1, 3), range(2, 2), [], [1], range(2, -1, -1)])
    def test_many_rows_are_gathered_and_look_like_items(self, indexes: Sequence[int]) -> None:
        array = np.arange(12, dtype=np.int16).reshape(3, 2, 2)
        dataset = TensorDataset(image=array, label=np.arange(3, dtype=np.uint8))
        rows = dataset.get_many(indexes)
        assert len(rows) == len(indexes)
        assert np.array_equal(rows.columns["image"].numpy(), array[list(indexes)])
        assert rows.columns["image"].dtype == "i16"
        assert [item["label"].item() for item in rows] == list(indexes)

    def test_rows_are_a_sequence(self) -> None:
        rows = TensorDataset(np.arange(5)).get_many([4, 2, 0])
        assert rows[-1][0].item() == 0 and [item[0].item() for item in rows[:2]] == [4, 2]
        with pytest.raises(IndexError):
            rows[3]

    @pytest.mark.parametrize("indexes", [[0, 3], [-1], range(2, 5)])
    def test_an_index_out_of_range_is_refused_in_bulk(self, indexes: Sequence[int]) -> None:
        with pytest.raises(IndexError, match="for a data set of 3 items"):
            TensorDataset(np.arange(3)).get_many(indexes)

    def test_arrays_must_be_of_one_length(self) -> None:
        with pytest.raises(ValueError, match=r"\(3,\), \(4,\)"):
            TensorDataset(np.arange(3), np.arange(4))
        with pytest.raises(ValueError, match="same number of rows"):
            TensorDataset(np.float32(1))
        with pytest.raises(ValueError, match="by position or by name"):
            TensorDataset(np.arange(3), y=np.arange(3))
        with pytest.raises(ValueError, match="by position or by name"):
            TensorDataset()

    def test_no_rows_are_a_data_set_too(self) -> None:
        assert len(TensorDataset(np.zeros((0, 4)))) == 0
