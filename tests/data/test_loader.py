"""Loaders: sizes, order, place, workers, and what they refuse."""

import gc
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from burnpy import Device, Tensor
from burnpy.data import (
    DataLoader,
    DataLoaderBuilder,
    FixBatchStrategy,
    InMemDataset,
    MapperDataset,
    Progress,
    StackBatcher,
    TensorDataset,
    split_dataloader,
)
from burnpy.errors import DatasetError, ShapeError
from tests.data.samples import ByWeight, Counting, Failing, Uneven, as_list, flat, with_random_number

THREADS = [0, 1, 2, 4]


def _threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("dataloader-")]


@pytest.fixture(autouse=True)
def _no_worker_is_left() -> Iterator[None]:
    yield
    gc.collect()
    for thread in _threads():
        thread.join(timeout=10)
    assert not _threads()


@pytest.mark.parametrize(("length", "sizes"), [(27, [5] * 5 + [2]), (25, [5] * 5), (3, [3]), (0, [])])
@pytest.mark.parametrize("workers", THREADS)
def test_all_batches_but_the_last_are_full(length: int, sizes: list[int], workers: int) -> None:
    loader = DataLoader(range(length), as_list, batch_size=5, num_workers=workers)
    batches = list(loader)
    assert [len(batch) for batch in batches] == sizes and flat(batches) == list(range(length))
    assert len(loader) == len(sizes) and loader.num_items() == length


@pytest.mark.parametrize("workers", THREADS)
def test_batches_depend_on_seed_and_epoch_alone(workers: int) -> None:
    loader = DataLoader(Uneven(), as_list, batch_size=3, shuffle=42, num_workers=workers)
    plain = DataLoader(range(40), as_list, batch_size=3, shuffle=42)
    epochs = [list(plain) for _ in range(3)]
    assert [list(loader) for _ in range(3)] == epochs
    assert epochs[0] != epochs[1] and all(sorted(flat(epoch)) == list(range(40)) for epoch in epochs)
    assert list(DataLoader(range(40), as_list, batch_size=3, shuffle=43)) != epochs[0]


def test_a_batch_is_one_bulk_read() -> None:
    source = Counting(10)
    list(DataLoader(source, as_list, batch_size=4))
    assert source.reads == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_a_shuffled_batch_mixes_classes_and_an_ordered_one_does_not() -> None:
    items = [0] * 100 + [1] * 100
    for workers in 0, 2:
        ordered = DataLoader(items, as_list, batch_size=10, num_workers=workers)
        assert all(len(set(batch)) == 1 for batch in ordered)
        mixed = DataLoader(items, as_list, batch_size=10, shuffle=42, num_workers=workers)
        assert all(len(set(batch)) == 2 for batch in mixed)


def test_neither_a_pass_left_early_nor_a_copy_changes_the_orders_that_follow() -> None:
    loader = DataLoader(range(30), as_list, shuffle=1)
    expected = [list(DataLoader(range(30), as_list, shuffle=1).to_device(Device.cpu()))]
    next(loader.iter())
    loader.to_device(Device.cpu()), loader.slice(0, 3)
    assert loader.epoch == 1
    loader.set_epoch(0)
    assert [list(loader)] == expected


@pytest.mark.parametrize("workers", [0, 2])
def test_a_slice_is_shuffled_within_itself(workers: int) -> None:
    loader = DataLoader(range(30), as_list, batch_size=4, num_workers=workers)
    assert flat(loader.slice(5, 15)) == list(range(5, 15))
    shuffled = DataLoader(range(30), as_list, batch_size=4, shuffle=3, num_workers=workers)
    part = shuffled.slice(5, 15)
    assert part.num_items() == 10 and sorted(flat(part)) == list(range(5, 15))


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (3, 2), (0, 31)])
def test_a_slice_lies_within(start: int, end: int) -> None:
    with pytest.raises(IndexError, match=f"the range {start} to {end} does not lie within a data set of 30"):
        DataLoader(range(30)).slice(start, end)


def test_the_device_goes_to_the_batcher() -> None:
    def device_of(items: Any, device: Device) -> Device:
        return device

    loader = DataLoader(range(1), device_of)
    assert next(iter(loader)) == Device()
    assert next(iter(loader.to_device(Device.cpu()))) == Device.cpu()
    assert next(iter(DataLoaderBuilder(device_of).set_device(Device.cpu()).build(range(1)))) == Device.cpu()


def test_progress_counts_the_items_of_batches() -> None:
    for workers in 0, 2:
        batches = DataLoader(range(7), as_list, batch_size=3, num_workers=workers).iter()
        assert batches.progress() == Progress(0, 7) and not batches.progress().is_completed()
        next(batches)
        assert batches.progress() == Progress(3, 7, unit="items")
        assert len(list(batches)) == 2 and batches.progress().is_completed()
        with pytest.raises(StopIteration):
            next(batches)


def test_progress_of_which_the_total_is_not_known() -> None:
    assert str(Progress(3, None)) == "3" and not Progress(0, None).is_completed()
    assert Progress.aggregate([Progress(1, 2), Progress(1, None)]).items_total is None
    assert Progress.aggregate([]) == Progress(0, 0)


@pytest.mark.parametrize("workers", [0, 2])
def test_two_passes_at_once_do_not_wait_for_each_other(workers: int) -> None:
    loader = DataLoader(range(500), as_list, batch_size=2, num_workers=workers)
    first = loader.iter()
    next(first)
    second = loader.iter()
    assert len(list(second)) == 250 and len(list(first)) == 249


def test_workers_are_kept_for_the_next_pass_and_read_no_further_than_asked() -> None:
    source = Counting(100)
    loader = DataLoader(source, as_list, num_workers=2, prefetch=3)
    batches = loader.iter()
    next(batches)
    assert len(_threads()) == 2
    batches.close()
    assert list(loader) == [[index] for index in range(100)]
    assert len(_threads()) == 2 and len(source.reads) <= 103
    loader.close()


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize(
    ("how", "kind"), [("dataset", DatasetError), ("value", ValueError), ("odd", Exception)]
)
def test_an_error_comes_in_the_place_of_its_batch(workers: int, how: str, kind: type[Exception]) -> None:
    loader = DataLoader(Failing(40, at=20, how=how), as_list, batch_size=1, num_workers=workers)
    batches, seen = loader.iter(), []
    with pytest.raises(kind) as caught:
        for batch in batches:
            seen.extend(batch)
    assert seen == list(range(20))
    if workers:
        assert "at batch 20 of epoch 0" in caught.value.__notes__[0] and "_fail" in caught.value.__notes__[0]
    with pytest.raises(kind):  # Burn's: the same batch is tried again
        next(batches)
    with pytest.raises(kind):  # and the next pass begins anew
        list(loader)


def test_a_worker_thread_that_exits_neither_hangs_nor_exits_the_program() -> None:
    loader = DataLoader(Failing(10, at=3, how="exit"), as_list, num_workers=2)
    with pytest.raises(DatasetError, match=r"SystemExit\(3\)"):
        list(loader)


def test_an_error_that_passes_is_tried_again_without_loss() -> None:
    class Flaky(Counting):
        is_well = False

        def get_many(self, indexes: Any) -> list[int]:
            if 4 in indexes and not self.is_well:
                raise DatasetError("not now")
            return super().get_many(indexes)

    for workers in 0, 2:
        source = Flaky(10)
        batches = DataLoader(source, as_list, batch_size=2, num_workers=workers).iter()
        assert [next(batches), next(batches)] == [[0, 1], [2, 3]]
        with pytest.raises(DatasetError, match="not now"):
            next(batches)
        source.is_well = True
        assert list(batches) == [[4, 5], [6, 7], [8, 9]]


@pytest.mark.parametrize("workers", [0, 2])
def test_random_numbers_of_a_batch_do_not_depend_on_who_draws_them(workers: int) -> None:
    def epochs(num_workers: int) -> list[list[list[float]]]:
        loader = DataLoader(range(20), with_random_number, batch_size=3, shuffle=5, num_workers=num_workers)
        return [list(loader), list(loader)]

    assert epochs(workers) == epochs(0)
    assert epochs(0)[0] != epochs(0)[1]


class TestStrategies:
    def test_the_fixed_one(self) -> None:
        strategy = FixBatchStrategy[int](2)
        assert strategy.batch(True) is None and strategy.batch_size() == 2
        for item in range(3):
            strategy.add(item)
        assert strategy.batch(False) == [0, 1, 2]
        strategy.add(3)
        assert strategy.clone_dyn().batch(True) is None
        assert strategy.batch(False) is None and strategy.batch(True) == [3] and strategy.batch(True) is None

    @pytest.mark.parametrize("size", [0, -3])
    def test_a_batch_has_an_item(self, size: int) -> None:
        with pytest.raises(ValueError, match=f"batch_size must be at least 1, got {size}"):
            FixBatchStrategy(size)
        with pytest.raises(ValueError, match="batch_size"):
            DataLoaderBuilder().batch_size(size).build(range(3))

    @pytest.mark.parametrize("size", [1.5, "2", None, True])
    def test_sizes_and_numbers_of_workers_are_integers(self, size: Any) -> None:
        with pytest.raises(TypeError, match="batch_size must be an integer, got"):
            FixBatchStrategy(size)
        with pytest.raises(TypeError, match="num_workers must be an integer, got"):
            DataLoader(range(3), num_workers=size)

    @pytest.mark.parametrize("workers", [0, 3])
    def test_one_that_looks_at_the_items(self, workers: int) -> None:
        loader = DataLoader(range(9), as_list, strategy=ByWeight(), num_workers=workers)
        assert list(loader) == [[0, 1, 2, 3, 4], [5], [6], [7], [8]]
        assert list(loader) == list(loader) and loader.num_batches() is None
        with pytest.raises(TypeError, match="not known"):
            len(loader)

    @pytest.mark.parametrize("workers", [0, 1])
    def test_one_that_looks_at_the_items_is_resumed_by_reading_them_again(self, workers: int) -> None:
        def make() -> DataLoader:
            return DataLoader(range(30), as_list, strategy=ByWeight(), shuffle=8, num_workers=workers)

        loader = make()
        list(loader)
        batches = loader.iter()
        for _ in range(4):
            next(batches)
        resumed = make()
        resumed.load_state_dict(loader.state_dict())
        again = resumed.iter()
        assert again.progress() == batches.progress()
        assert list(again) == list(batches) and again.progress().is_completed()


class TestState:
    @pytest.mark.parametrize("workers", THREADS)
    @pytest.mark.parametrize("place", [0, 1, 4, 9, 10])
    def test_a_pass_goes_on_where_it_was_left_and_reads_nothing_before(
        self, workers: int, place: int
    ) -> None:
        loader = DataLoader(range(28), as_list, batch_size=3, shuffle=6, num_workers=workers)
        list(loader)
        batches = loader.iter()
        for _ in range(place):
            next(batches)
        state = loader.state_dict()
        rest, later = list(batches), list(loader)

        source = Counting(28)
        resumed = DataLoader(source, as_list, batch_size=3, shuffle=6, num_workers=2 - min(workers, 2))
        resumed.load_state_dict(state)
        assert resumed.epoch == 1 and resumed.state_dict() == state
        again = resumed.iter()
        assert again.progress().items_processed == min(3 * place, 28)
        assert list(again) == rest and sorted(flat(source.reads)) == sorted(flat(rest))
        assert list(resumed) == later

    def test_a_state_is_a_few_numbers(self) -> None:
        loader = DataLoader(range(28), batch_size=3, shuffle=6)
        assert loader.state_dict() == {
            "epoch": 0, "batch": 0, "items": 0, "num_items": 28, "batch_size": 3, "seed": 6,
        }  # fmt: skip

    def test_the_state_after_a_whole_pass_is_the_start_of_the_next(self) -> None:
        loader = DataLoader(range(4), as_list, batch_size=2, shuffle=1)
        batches = loader.iter()
        list(batches)
        assert batches.state_dict() == loader.state_dict()
        assert (loader.state_dict()["epoch"], loader.state_dict()["batch"]) == (1, 0)

    def test_a_copy_for_another_device_is_at_the_same_place(self) -> None:
        loader = DataLoader(range(10), as_list, batch_size=2, shuffle=1)
        list(loader)
        state = loader.iter().state_dict() | {"batch": 3, "items": 6}
        loader.load_state_dict(state)
        assert list(loader.to_device(Device.cpu())) == list(loader)

    def test_a_state_of_another_loader_is_refused_and_nothing_changes(self) -> None:
        loader = DataLoader(range(10), batch_size=2, shuffle=1)
        list(loader)
        before = loader.state_dict()
        for other in (
            DataLoader(range(11), batch_size=2, shuffle=1),
            DataLoader(range(10), batch_size=3, shuffle=1),
            DataLoader(range(10), batch_size=2, shuffle=2),
            DataLoader(range(10), batch_size=2),
        ):
            with pytest.raises(DatasetError, match=r"the state is of another loader: .* was .* and is"):
                loader.load_state_dict(other.state_dict())
        with pytest.raises(DatasetError, match="epoch is missing, batch is missing"):
            loader.load_state_dict({"num_items": 10, "batch_size": 2, "seed": 1, "items": 0})
        assert loader.state_dict() == before

    def test_an_epoch_is_not_negative(self) -> None:
        with pytest.raises(ValueError, match="epoch must not be negative, got -1"):
            DataLoader(range(3)).set_epoch(-1)


class TestBuilder:
    def test_methods_and_keywords_are_the_same(self) -> None:
        chained = (
            DataLoaderBuilder(as_list).batch_size(3).shuffle(2).num_workers(1).worker("thread").prefetch(4)
        )
        keywords = DataLoaderBuilder(
            as_list, batch_size=3, shuffle=2, num_workers=1, worker="thread", prefetch=4
        )
        assert list(chained.build(range(10))) == list(keywords.build(range(10)))
        assert list(DataLoaderBuilder(as_list).strategy(FixBatchStrategy(4)).build(range(5))) == [
            [0, 1, 2, 3],
            [4],
        ]

    def test_the_default_is_one_item_in_order(self) -> None:
        assert list(DataLoaderBuilder(as_list).build("ab")) == [["a"], ["b"]]

    @pytest.mark.parametrize(
        ("chosen", "message"),
        [
            ({"num_workers": -1}, "num_workers must not be negative, got -1"),
            ({"prefetch": -2}, "prefetch must not be negative, got -2"),
            ({"worker": "fiber"}, "worker must be 'thread' or 'process', got 'fiber'"),
            ({"shuffle": -5}, r"a seed must lie in \[0, 2\*\*64\), got -5"),
        ],
    )
    def test_values_that_cannot_be(self, chosen: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            DataLoaderBuilder(as_list, **chosen).build(range(3))

    def test_things_that_are_no_batcher_and_no_data_set(self) -> None:
        with pytest.raises(TypeError, match="batcher must have a method batch or be a function, got int"):
            DataLoader(range(3), 3)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="a data set needs"):
            DataLoader(3)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            DataLoaderBuilder(as_list, drop_last=True)  # type: ignore[call-arg]


class Pair(NamedTuple):
    x: Any
    y: Any


@dataclass
class Example:
    x: Any
    text: str


class TestStackBatcher:
    def test_numbers(self) -> None:
        batch = StackBatcher().batch([Pair(1, True), Pair(2, False)], Device.cpu())
        assert isinstance(batch, Pair)
        assert batch.x.tolist() == [1, 2] and batch.x.kind == "int" and batch.y.kind == "bool"
        assert StackBatcher().batch([0.5, 1.5], Device.cpu()).dtype == "f32"

    def test_arrays_and_text(self) -> None:
        batch = StackBatcher().batch(
            [Example(np.ones((2, 3), np.uint8), "a"), Example(np.zeros((2, 3), np.uint8), "b")], Device()
        )
        assert batch.x.shape == (2, 2, 3) and batch.x.dtype == "u8" and batch.text == ["a", "b"]
        assert StackBatcher().batch([Tensor([1.0]), Tensor([2.0])], Device()).tolist() == [[1.0], [2.0]]
        assert StackBatcher().batch([np.float64(1), np.float64(2)], Device.cpu()).shape == (2,)

    def test_shapes_must_agree(self) -> None:
        with pytest.raises(ShapeError):
            StackBatcher().batch([np.zeros(2), np.zeros(3)], Device.cpu())
        with pytest.raises(DatasetError, match=r"items of a batch have \[1, 2\] parts"):
            StackBatcher().batch([(1, 2), (1,)], Device.cpu())

    def test_rows_of_arrays_are_batched_without_making_items(self) -> None:
        def never(**_: Any) -> Any:
            made.append(1)
            return tuple(_.values())

        made: list[int] = []
        dataset = TensorDataset(x=np.arange(10), y=np.arange(10.0), item=never)
        batches = list(DataLoader(dataset, batch_size=4, shuffle=1))
        assert len(made) == len(batches) == 3
        assert sorted(flat(batch[0].tolist() for batch in batches)) == list(range(10))

    def test_a_model_can_be_trained_on_it(self) -> None:
        loader = DataLoader(TensorDataset(np.ones((4, 2), np.float32)), batch_size=2)
        (x,) = next(iter(loader))
        weight = Tensor([[1.0], [2.0]]).require_grad()
        gradient = weight.grad(x.matmul(weight).sum().backward())
        assert gradient is not None and gradient.tolist() == [[2.0], [2.0]]


def test_several_devices_get_neighbouring_items() -> None:
    loader = DataLoader(range(11), as_list)
    parts = split_dataloader(loader, [Device.cpu(), Device.cpu()])
    assert [part.num_items() for part in parts] == [5, 6]
    assert flat(flat(parts)) == list(range(11))
    assert split_dataloader(loader, [Device.cpu()]) == [loader] == split_dataloader(loader, [])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_goes_on_with_workers_of_its_own() -> None:
    loader = DataLoader(range(20), as_list, batch_size=2, num_workers=2)
    batches = loader.iter()
    next(batches)
    child = os.fork()
    if not child:
        is_right = list(batches) == [[n, n + 1] for n in range(2, 20, 2)] and len(list(loader)) == 10
        os._exit(0 if is_right else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(list(batches)) == 9


def test_a_mapped_data_set_and_its_batcher_run_in_the_workers() -> None:
    names: set[str] = set()

    def note(item: int) -> int:
        names.add(threading.current_thread().name)
        return item

    list(DataLoader(MapperDataset(InMemDataset(range(50)), note), as_list, num_workers=2))
    assert names == {"dataloader-0", "dataloader-1"}
