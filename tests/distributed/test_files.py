"""Checkpoints that several ranks write, and any number reads."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnpy
from burnpy.distributed import Communicator, CommunicatorError, save_by_ranks, share_of_rank
from burnpy.train import DataParallelStrategy
from burnpy.train.checkpoint import complete_sets
from tests.distributed import run
from tests.distributed.launch import on_threads
from tests.distributed.test_data_parallel import assert_same


@pytest.mark.parametrize("size", [1, 2, 3])
def test_what_ranks_write_is_one_mapping(tmp_path: Path, size: int) -> None:
    def work(ranks: Communicator) -> Any:
        own = {f"layer{ranks.rank}.w": np.full(3, ranks.rank, np.float32)}
        return save_by_ranks(
            ranks, own, tmp_path, metadata={"by": "us"}, scalars={"time": 3}, param_ids={next(iter(own)): 7}
        )

    index = on_threads(size, work)[0]
    with burnpy.safe_open(index) as found:
        assert {name: found[name].numpy().tolist() for name in found} == {
            f"layer{rank}.w": [rank] * 3 for rank in range(size)
        }
        assert (found.metadata(), found.scalars()) == ({"by": "us"}, {"time": 3})
        assert found.info("layer0.w").param_id == 7
    assert json.loads(index.read_text())["metadata"]["total_size"] == 12 * size


def test_a_rank_without_tensors_writes_no_file(tmp_path: Path) -> None:
    def work(ranks: Communicator) -> Any:
        own = {"w": np.ones(2, np.float32)} if ranks.rank == 1 else {}
        return save_by_ranks(ranks, own, tmp_path, metadata={"by": "us"})

    index = on_threads(3, work)[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model-00001-of-00001.bpk", index.name]
    assert burnpy.safe_open(index).metadata() == {"by": "us"}


def test_a_rank_that_cannot_write_fails_all_and_leaves_the_old_set(tmp_path: Path) -> None:
    def write(tensor: Any) -> Any:
        def work(ranks: Communicator) -> Any:
            own = {"b": tensor} if ranks.rank == 1 else {"a": np.ones(2, np.float32)}
            with pytest.raises(CommunicatorError, match="rank 1 could not write its part") as raised:
                save_by_ranks(ranks, own, tmp_path)
            return raised.value.rank

        return work

    good = on_threads(2, lambda r: save_by_ranks(r, {f"{r.rank}": np.full(2, 5.0)}, tmp_path))[0]
    assert on_threads(2, write(np.array(["no", "number"]))) == [1, 1]
    assert burnpy.safe_open(good)["1"].numpy().tolist() == [5.0, 5.0]
    assert not [path for path in tmp_path.iterdir() if "tmp" in path.name]


def test_a_name_on_two_ranks_is_refused_on_both(tmp_path: Path) -> None:
    def work(ranks: Communicator) -> str:
        with pytest.raises(CommunicatorError) as raised:
            save_by_ranks(ranks, {"w": np.ones(2)}, tmp_path)
        return str(raised.value)

    told = on_threads(2, work)
    assert told == ["ranks 0 and 1 both write a tensor 'w'"] * 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("nbytes", [[], [0, 0], [5], [10, 10, 30, 5, 5], [1] * 9, [100, 1, 1]])
def test_every_tensor_has_one_writer(nbytes: list[int]) -> None:
    for size in range(1, 6):
        parts = [i for rank in range(size) for i in share_of_rank(nbytes, size, rank)]
        assert parts == list(range(len(nbytes)))


def test_a_run_whose_checkpoints_are_shared_goes_on_with_any_number_of_ranks(tmp_path: Path) -> None:
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    run.run(whole, 3, threads=1)

    def strategy(threads: int, *, shared: bool) -> Any:
        return DataParallelStrategy(threads, num_shards=run.SHARDS, share_checkpoints=shared)

    run.run(parted, 3, stop_at=9, training_strategy=strategy(4, shared=True))
    files = sorted(path.name for path in (parted / "checkpoint").rglob("optim*"))
    assert "optim-1-00001-of-00004.bpk" in files and "optim-1.bpk.index.json" in files
    assert "optim-1.bpk" not in files
    assert [found.key for found in complete_sets(parted / "checkpoint")] == [1, "step-4"]
    run.run(parted, 3, training_strategy=strategy(2, shared=False))
    assert_same(parted, whole)
    # The first epoch's set is not kept, and nothing of it is left.
    assert not list((parted / "checkpoint").glob("optim-1*"))


def test_a_set_with_a_part_missing_is_not_complete(tmp_path: Path) -> None:
    shared = DataParallelStrategy(2, num_shards=run.SHARDS, share_checkpoints=True)
    run.run(tmp_path, 2, training_strategy=shared)
    (tmp_path / "checkpoint" / "optim-2-00002-of-00002.bpk").unlink()
    assert [found.key for found in complete_sets(tmp_path / "checkpoint")] == [1]
