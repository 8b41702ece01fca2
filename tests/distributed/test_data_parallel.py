"""A run on several ranks has the bits of one on a single rank."""

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnpy as bp
from burnpy.autodiff import checkpoint
from burnpy.data import DataLoader
from burnpy.errors import TrainingError
from burnpy.tensor import random_state
from burnpy.train import (
    ClassificationOutput,
    DataParallelStrategy,
    ExecutionStrategy,
    Learner,
    LearningResult,
    RegressionOutput,
    SingleDeviceStrategy,
    SupervisedTraining,
)
from burnpy.train.metric import LossMetric
from burnpy.train.renderer import QuietMetricsRenderer
from burnpy.train.strategy.batch_shards import combined, cut
from tests.distributed import run
from tests.distributed.launch import WATCHDOG_S
from tests.train.toy import Toy, batch, batches, items, learner, training

EPOCHS = 3


def logs(folder: Path) -> dict[str, str]:
    files = [path for split in ("train", "valid") for path in folder.glob(f"{split}/*/*")]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def assert_same(folder: Path, whole: Path) -> None:
    assert json.loads((folder / "outcome.json").read_text()) == json.loads(
        (whole / "outcome.json").read_text()
    )
    assert logs(folder) == logs(whole) != {}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four shards on one rank: dropout, batch norm, shuffling, accumulation."""
    folder = tmp_path_factory.mktemp("whole")
    run.run(folder, EPOCHS, threads=1)
    return folder


def launched(session: SupervisedTraining, of: Learner) -> LearningResult:
    return session.renderer(QuietMetricsRenderer()).launch(of)


def weights(of: Learner) -> list[Any]:
    return [leaf.val().tolist() for path, leaf in of.model.named_params() if "running" not in path]


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_the_bits_do_not_depend_on_ranks(tmp_path: Path, whole: Path, threads: int) -> None:
    run.run(tmp_path, EPOCHS, threads=threads)
    assert_same(tmp_path, whole)


@pytest.mark.parametrize(("before", "after"), [(4, 2), (1, 4), (3, 1)])
@pytest.mark.parametrize("stop_at", [1, 4, 6, 9, 12])
def test_a_run_goes_on_with_another_number_of_ranks(
    tmp_path: Path, whole: Path, before: int, after: int, stop_at: int
) -> None:
    run.run(tmp_path, EPOCHS, threads=before, stop_at=stop_at)
    # How a batch is cut is in the checkpoint.
    run.run(tmp_path, EPOCHS, threads=after, num_shards=None)
    assert_same(tmp_path, whole)


def test_one_shard_without_chance_is_a_run_on_a_single_device(tmp_path: Path) -> None:
    single, parallel = learner(dropout=0.0), learner(dropout=0.0)
    first = launched(training(tmp_path / "a", epochs=2), single)
    second = launched(training(tmp_path / "b", epochs=2, training_strategy=DataParallelStrategy(1)), parallel)
    assert weights(single) == weights(parallel)
    assert first.history == second.history


class Plain(Toy):
    """Without batch normalisation, so that shards are the batch."""

    def forward(self, x: bp.Tensor) -> bp.Tensor:
        return self.fc2(self.activation(self.fc1(x)))


def plain() -> Learner:
    of = learner(dropout=0.0)
    of.model.__class__ = Plain
    return of


def test_shards_of_different_sizes_give_the_mean_over_the_batch(tmp_path: Path) -> None:
    single, parallel = plain(), plain()
    launched(training(tmp_path / "a", epochs=2), single)
    launched(
        training(tmp_path / "b", epochs=2, training_strategy=DataParallelStrategy(2, num_shards=3)), parallel
    )
    for one, other in zip(weights(single), weights(parallel), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("size", [2, 3])
def test_batches_of_any_loader_are_cut_and_sent(tmp_path: Path, size: int) -> None:
    def train(name: str, strategy: Any) -> tuple[Any, Any]:
        of = learner()
        session = SupervisedTraining(
            tmp_path / name, batches(14), batches(6), num_epochs=2, metrics=[LossMetric()]
        )
        return launched(session.with_training_strategy(strategy), of).history, weights(of)

    assert train("a", ExecutionStrategy.multi(1, num_shards=3)) == train(
        "b", ExecutionStrategy.multi(size, num_shards=3)
    )


def test_a_rank_reads_its_items_alone(tmp_path: Path) -> None:
    read: list[int] = []

    def batcher(some: Any, device: Any) -> Any:
        read.append(len(some))
        return batch(some, device)

    loader = DataLoader(items(8), batcher, batch_size=8)
    session = SupervisedTraining(tmp_path, loader, batches(4), metrics=[LossMetric()])
    launched(session.with_training_strategy(DataParallelStrategy(4)), learner())
    assert read == [2, 2, 2, 2]


class Chancy(Toy):
    """Dropout in what is computed again on the way back, over products that fill several threads."""

    def forward(self, x: bp.Tensor) -> bp.Tensor:
        wide = bp.Tensor.cat([self.activation(self.fc1(x))] * 256)
        hidden = self.fc1(x) + (wide @ wide.T).tanh().mean()
        return self.fc2(checkpoint(lambda h: self.dropout(self.norm(h)), hidden))


@pytest.mark.parametrize("kernel_threads", [1, 4, 7])
def test_ranks_that_compute_at_once_have_the_bits_of_one(tmp_path: Path, kernel_threads: int) -> None:
    def train(threads: int) -> Any:
        of = learner()
        of.model.__class__ = Chancy
        strategy = DataParallelStrategy(threads, num_shards=4)
        folder = tmp_path / str(threads)
        history = launched(training(folder, epochs=2, items=32, training_strategy=strategy), of).history
        return history, weights(of), random_state()

    before = bp.get_num_threads()
    bp.set_num_threads(kernel_threads)
    try:
        assert [train(threads) for threads in (2, 3, 4)] == [train(1)] * 3
        assert bp.get_num_threads() == kernel_threads
    finally:
        bp.set_num_threads(before)


def test_threads_compute_at_once_each_with_its_share_of_the_cores(tmp_path: Path) -> None:
    meeting, shares = threading.Barrier(3, timeout=WATCHDOG_S), set()

    class Meeting(Toy):
        def train_step(self, batch: Any) -> Any:
            # Nobody goes on before all are in their step.
            meeting.wait()
            shares.add(bp.get_num_threads())
            return super().train_step(batch)

    of, before = learner(), bp.get_num_threads()
    of.model.__class__ = Meeting
    bp.set_num_threads(6)
    try:
        launched(training(tmp_path, epochs=1, items=12, training_strategy=DataParallelStrategy(3)), of)
        assert (shares, bp.get_num_threads()) == ({2}, 6)
    finally:
        bp.set_num_threads(before)


def test_a_rank_that_fails_while_others_compute_ends_them_all(tmp_path: Path) -> None:
    meeting = threading.Barrier(2, timeout=WATCHDOG_S)

    class Bad(Toy):
        def train_step(self, batch: Any) -> Any:
            meeting.wait()
            if threading.current_thread().name == "burnpy-rank-1":
                raise ArithmeticError("while the other computes")
            return super().train_step(batch)

    of = learner()
    of.model.__class__ = Bad
    with pytest.raises(ArithmeticError, match="while the other computes"):
        launched(training(tmp_path, epochs=1, training_strategy=DataParallelStrategy(2)), of)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("burnpy-rank-")]


def test_an_error_of_a_model_on_any_rank_is_raised_as_it_is(tmp_path: Path) -> None:
    class Bad(Toy):
        def train_step(self, batch: Any) -> Any:
            if batch[0].shape[0] == 1:
                raise ArithmeticError("alone")
            return super().train_step(batch)

    of = learner()
    of.model.__class__ = Bad
    # 5 items are 2 on the first rank and 3 on the second; 3 are 1 and 2.
    session = training(tmp_path, epochs=1, items=7, training_strategy=DataParallelStrategy(2, num_shards=2))
    with pytest.raises(ArithmeticError, match="alone"):
        launched(session, of)


def test_an_error_of_a_data_set_on_another_rank_is_told(tmp_path: Path) -> None:
    def batcher(some: Any, device: Any) -> Any:
        if some[0][1] == "bad":
            raise LookupError("no such item")
        return batch(some, device)

    some: list[Any] = items(8)
    some[7] = (some[7][0], "bad")
    some[6] = (some[6][0], "bad")
    session = SupervisedTraining(tmp_path, DataLoader(some, batcher, batch_size=4), batches(4))
    with pytest.raises((LookupError, TrainingError), match="no such item"):
        launched(session.with_training_strategy(DataParallelStrategy(2)), learner())


def test_another_cut_than_that_of_the_checkpoint_is_refused(tmp_path: Path) -> None:
    run.run(tmp_path, 1, threads=2)
    with pytest.raises(ValueError, match="num_shards is 6, and the run to go on with has 4"):
        run.run(tmp_path, 2, threads=2, num_shards=6)
    with pytest.raises(ValueError, match="5 ranks cannot share 4 shards"):
        run.run(tmp_path, 2, threads=5, num_shards=None)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="size must be at least 1, got 0"):
        DataParallelStrategy(0)
    with pytest.raises(ValueError, match="4 ranks cannot share 2 shards"):
        DataParallelStrategy(4, num_shards=2)
    with pytest.raises(ValueError, match="bucket_bytes must be at least 1"):
        DataParallelStrategy(1, bucket_bytes=0)
    with pytest.raises(TypeError, match="how many replicas"):
        ExecutionStrategy.multi("two")  # type: ignore[arg-type]
    assert isinstance(ExecutionStrategy.single(), SingleDeviceStrategy)


def test_without_a_launcher_there_is_one_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK"):
        monkeypatch.delenv(name, raising=False)
    assert ExecutionStrategy.ddp(num_shards=4).communicator.size == 1


def test_parts_of_an_output_become_that_of_the_batch() -> None:
    parts = [
        ClassificationOutput(bp.Tensor([float(n)]), bp.Tensor.ones((n, 2)), bp.Tensor([n] * n))
        for n in (1, 3)
    ]
    whole = combined(parts, [1, 3])
    assert whole.loss.tolist() == [2.5]
    assert whole.output.shape == (4, 2)
    assert whole.targets.tolist() == [1, 3, 3, 3]


def test_parts_that_do_not_fit_are_refused_by_name() -> None:
    parts = [RegressionOutput(bp.Tensor([1.0]), bp.Tensor.ones((1, n)), bp.Tensor([[1.0]])) for n in (2, 3)]
    with pytest.raises(TypeError, match=r"'output' of the shards.*\(1, 2\), \(1, 3\)"):
        combined(parts, [1, 1])


def test_an_output_may_say_how_it_is_put_together() -> None:
    class Own:
        def __init__(self, value: int) -> None:
            self.value = value

        @classmethod
        def combine(cls, items: Any, counts: Any) -> "Own":
            return cls(sum(item.value * n for item, n in zip(items, counts, strict=True)))

    assert combined([Own(2), Own(3)], [1, 2]).value == 8


def test_all_that_is_as_long_as_the_batch_is_cut() -> None:
    whole = {
        "x": np.arange(6).reshape(3, 2),
        "names": ["a", "b", "c"],
        "scale": 2.0,
        "y": bp.Tensor([1, 2, 3]),
    }
    parts = cut(whole, 2).parts
    assert [(shard, n) for shard, n, _ in parts] == [(0, 1), (1, 2)]
    last = parts[1][2]
    assert (last["x"].tolist(), last["names"], last["scale"], last["y"].tolist()) == (
        [[2, 3], [4, 5]], ["b", "c"], 2.0, [2, 3],
    )  # fmt: skip
