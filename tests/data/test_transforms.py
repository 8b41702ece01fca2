"""Transforms: laziness, bulk reads, randomness, and what they refuse."""

import pickle
import random
import threading
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnpy.data import (
    ComposedDataset,
    DataLoader,
    Dataset,
    InMemDataset,
    MapperDataset,
    PartialDataset,
    SamplerDataset,
    SamplerDatasetOptions,
    SelectionDataset,
    ShuffledDataset,
    SizeConfig,
    TensorDataset,
    WindowsDataset,
    iota,
    random_split,
    shuffled_indices,
)
from burnpy.data.dataset.arrays import Rows
from tests.data.samples import Counting, as_list


def _mapped(dataset: Dataset[int]) -> Dataset[int]:
    return MapperDataset(dataset, lambda item: item)


# Transforms that choose or change items, with what they make of 0…9.
WRAPPERS: dict[str, tuple[Any, list[Any]]] = {
    "mapper": (lambda d: MapperDataset(d, lambda item: item + 100), list(range(100, 110))),
    "partial": (lambda d: PartialDataset(d, 2, 6), [2, 3, 4, 5]),
    "selection": (lambda d: SelectionDataset(d, [9, 9, 0]), [9, 9, 0]),
    "shuffled": (lambda d: ShuffledDataset(d, 5), shuffled_indices(10, 5)),
    "composed": (lambda d: ComposedDataset([[], d]), list(range(10))),
    "slice": (lambda d: d[7:], [7, 8, 9]),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_transform_reads_nothing_before_and_all_at_once_then(name: str) -> None:
    make, expected = WRAPPERS[name]
    source = Counting(10)
    dataset = make(source)
    assert len(dataset) == len(expected) and source.reads == []
    assert list(dataset.get_many(range(len(expected)))) == expected
    assert len(source.reads) == 1
    assert list(dataset) == expected


@pytest.mark.parametrize("name", WRAPPERS)
def test_an_index_behind_the_end_is_refused(name: str) -> None:
    dataset = WRAPPERS[name][0](InMemDataset(range(10)))
    for index in len(dataset), -1:
        with pytest.raises(IndexError):
            dataset.get(index)
        with pytest.raises(IndexError):
            dataset.get_many([index])


@pytest.mark.parametrize("name", [name for name in WRAPPERS if name != "mapper"])
def test_what_chooses_items_keeps_the_gathered_columns(name: str) -> None:
    make, expected = WRAPPERS[name]
    rows = make(TensorDataset(np.arange(10))).get_many(range(len(expected)))
    assert isinstance(rows, Rows) and rows.columns[0].tolist() == expected


def test_transforms_compose_lazily() -> None:
    """The pipeline of Burn's book: compose, map, sample, take a part."""
    sources = Counting(5), Counting(5)
    mapped = MapperDataset(ComposedDataset(sources), lambda item: 2 * item)
    part = PartialDataset(
        SamplerDataset(mapped, SamplerDatasetOptions().with_seed(1).with_fixed_size(100)), 0, 7
    )
    assert len(part) == 7 and not sources[0].reads
    assert set(part) <= {0, 2, 4, 6, 8}


def test_composed_reads_runs_of_one_part_together() -> None:
    left, right = Counting(3), Counting(3)
    assert ComposedDataset([left, right]).get_many([0, 2, 4, 5, 1]) == [0, 2, 1, 2, 1]
    assert left.reads == [[0, 2], [1]] and right.reads == [[1, 2]]
    assert len(ComposedDataset([])) == 0 and ComposedDataset([left]).get_many([]) == []


def test_shuffled_items_are_those_of_the_shuffled_indices() -> None:
    items = [f"item {index}" for index in range(27)]
    assert list(ShuffledDataset(items, 42)) == [items[index] for index in shuffled_indices(27, 42)]


@given(st.integers(0, 300), st.integers(0, 2**64 - 1))
def test_shuffling_loses_nothing_and_repeats_itself(length: int, seed: int) -> None:
    order = shuffled_indices(length, seed)
    assert sorted(order) == iota(length) and order == shuffled_indices(length, seed)


ORDER_OF_42 = [0, 1, 6, 2, 4, 9, 5, 7, 8, 3]
DRAWS_OF_42 = [1, 8, 8, 8, 1, 5, 3, 8, 8, 1]


def test_the_order_of_a_seed_stays_what_it_is() -> None:
    """A change here would break the resuming of runs that began before it."""
    assert shuffled_indices(10, 42) == ORDER_OF_42
    sampler = SamplerDataset(range(10), SamplerDatasetOptions().with_seed(42))
    assert list(sampler.at_epoch(0)) == DRAWS_OF_42


def test_all_orders_are_about_equally_frequent() -> None:
    counts = Counter(tuple(shuffled_indices(3, seed)) for seed in range(3000))
    assert len(counts) == 6 and all(400 < count < 600 for count in counts.values())


def test_a_generator_is_forked_and_moves_on() -> None:
    rng = random.Random(7)
    first, second = shuffled_indices(50, rng), shuffled_indices(50, rng)
    assert first != second and first == shuffled_indices(50, random.Random(7))
    assert shuffled_indices(50, None) != shuffled_indices(50, None)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_has_64_bits(seed: int) -> None:
    with pytest.raises(ValueError, match=str(seed)):
        ShuffledDataset(range(3), seed)


@pytest.mark.parametrize("rng", ["42", 1.5, object()])
def test_other_random_sources_are_refused(rng: Any) -> None:
    with pytest.raises(TypeError, match=r"rng must be an int, a random\.Random or None"):
        shuffled_indices(3, rng)


class TestSampler:
    def test_the_size_is_given_or_follows_the_source(self) -> None:
        assert len(SamplerDataset(range(10), 15)) == 15
        assert len(SamplerDataset(range(10))) == 10
        assert len(SamplerDataset(range(10), SizeConfig.Ratio(2.55))) == 25
        assert len(SamplerDataset.with_replacement(range(10), 3)) == 3
        assert len(SamplerDataset([], SamplerDatasetOptions())) == 0

    def test_without_replacement_every_item_comes_three_times_in_each_pass(self) -> None:
        options = SamplerDatasetOptions().without_replacement().with_size_ratio(3.0).with_seed(1)
        sampler = SamplerDataset(range(10), options)
        first, second = list(sampler), list(sampler)
        assert Counter(first) == Counter(second) == dict.fromkeys(range(10), 3)
        assert first != second and not sampler.is_with_replacement()

    def test_with_replacement_draws_are_independent(self) -> None:
        sampler = SamplerDataset(range(1000), SamplerDatasetOptions().with_seed(3))
        items = list(sampler)
        distance = sum(abs(a - b) for a, b in pairwise(items)) / 999
        assert abs(distance - 1002 / 3) < 0.25 * 1002 / 3
        assert len(set(items)) < 700 and sampler.is_with_replacement()

    def test_reading_an_index_twice_is_two_draws(self) -> None:
        sampler = SamplerDataset(range(10**6), SamplerDatasetOptions().with_fixed_size(4).with_seed(0))
        assert len({sampler.get(0) for _ in range(10)}) == 10
        assert len(sampler.get_many([0, 0, 3])) == 3

    def test_an_epoch_is_a_fixed_draw_that_reading_does_not_shift(self) -> None:
        options = SamplerDatasetOptions().without_replacement().with_seed(9)
        one, other = SamplerDataset(range(20), options), SamplerDataset(range(20), options)
        other.get(0)
        assert list(one.at_epoch(3)) == list(other.at_epoch(3)) != list(one.at_epoch(4))

    def test_many_threads_share_the_draws_of_a_pass(self) -> None:
        sampler = SamplerDataset(range(100), SamplerDatasetOptions().without_replacement())
        drawn: list[int] = []
        threads = [
            threading.Thread(target=lambda: drawn.extend([sampler.get(0) for _ in range(25)]))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(drawn) == list(range(100))

    def test_it_pickles_where_it_stands(self) -> None:
        sampler = SamplerDataset(range(50), SamplerDatasetOptions().without_replacement().with_seed(2))
        sampler.get(0)
        again = pickle.loads(pickle.dumps(sampler))
        assert [again.get(0) for _ in range(60)] == [sampler.get(0) for _ in range(60)]

    def test_what_cannot_be_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"ratio .* -0\.5"):
            SizeConfig.Ratio(-0.5)
        with pytest.raises(ValueError, match="nan"):
            SizeConfig.Ratio(float("nan"))
        with pytest.raises(ValueError, match="-1"):
            SamplerDataset(range(3), -1)
        with pytest.raises(ValueError, match="3 draws were asked for from a data set without items"):
            SamplerDataset([], 3)
        with pytest.raises(IndexError):
            SamplerDataset(range(3), 5).get(5)

    @pytest.mark.parametrize("wrap", [_mapped, *(make for make, _ in list(WRAPPERS.values())[1:5])])
    def test_a_loader_finds_the_sampler_below_other_transforms(self, wrap: Any) -> None:
        def batches(workers: int) -> list[list[list[int]]]:
            sampler = SamplerDataset(range(10), SamplerDatasetOptions().with_seed(1))
            loader = DataLoader(wrap(sampler), as_list, batch_size=2, num_workers=workers)
            return [list(loader), list(loader)]

        assert batches(0) == batches(3)
        assert batches(0)[0] != batches(0)[1]


class TestWindows:
    def test_windows_read_at_once(self) -> None:
        source = Counting(5)
        assert WindowsDataset(source, 3).get(1) == [1, 2, 3] and source.reads == [[1, 2, 3]]

    def test_iterators_keep_their_own_place(self) -> None:
        dataset = InMemDataset("abcd")
        one, other = dataset.windows(2), dataset.windows(2)
        assert next(one) == ["a", "b"] and next(one) == ["b", "c"] and next(other) == ["a", "b"]

    def test_a_window_has_a_size_and_a_place(self) -> None:
        with pytest.raises(ValueError, match="size must be at least 1, got 0"):
            WindowsDataset(range(3), 0)
        with pytest.raises(IndexError):
            WindowsDataset(range(3), 2).get(2)
        assert len(WindowsDataset(range(3), 10**9)) == 0


class TestParts:
    @pytest.mark.parametrize(("start", "end"), [(3, 2), (-1, 2)])
    def test_a_range_runs_forward(self, start: int, end: int) -> None:
        with pytest.raises(ValueError, match=f"got {start} and {end}"):
            PartialDataset(range(5), start, end)

    def test_numbers_of_parts_and_sizes_are_positive(self) -> None:
        with pytest.raises(ValueError, match="num must be at least 1, got 0"):
            PartialDataset.split(range(5), 0)
        with pytest.raises(ValueError, match="batch_size must be at least 1, got 0"):
            PartialDataset.split_chunks(range(5), 2, 0)
        assert PartialDataset.split_chunks([], 3, 2) == []

    def test_a_selection_checks_when_it_is_told_to(self) -> None:
        with pytest.raises(IndexError, match="index 5"):
            SelectionDataset.from_indices_checked(range(5), [0, 5])
        loose = SelectionDataset.from_indices_unchecked([0, 1, 2], [0, 5])
        with pytest.raises(IndexError):
            loose.get(1)
        with pytest.raises(IndexError, match="the range 1 to 3"):
            loose.slice(1, 3)

    def test_a_mapper_is_a_function_or_has_one(self) -> None:
        class Doubling:
            def map(self, item: int, /) -> int:
                return 2 * item

        assert list(MapperDataset([1, 2], Doubling())) == [2, 4]
        with pytest.raises(TypeError, match="mapper must have a method map or be a function, got int"):
            MapperDataset([1], 3)  # type: ignore[arg-type]

    def test_random_split(self) -> None:
        parts = random_split(range(10), [7, 2], 1)
        assert [len(part) for part in parts] == [7, 2]
        items = [item for part in parts for item in part]
        assert len(set(items)) == 9
        assert [len(part) for part in random_split(range(10), [0.7, 0.2, 0.1], 1)] == [7, 2, 1]
        assert [len(part) for part in random_split(range(11), [0.5, 0.5], 1)] == [5, 6]
        for lengths in [11], [-1], [0.9, 0.2], [float("nan")]:
            with pytest.raises(ValueError, match="lengths"):
                random_split(range(10), lengths)
