"""Worker processes: the same batches, and no failure that hangs or is silent."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnpy.data import DataLoader, SamplerDataset, SamplerDatasetOptions, TensorDataset
from burnpy.errors import DatasetError
from tests.data.samples import Failing, OnlyHere, Uneven, as_list, returns_a_lock, with_random_number
from tests.paths import ROOT


def _loader(dataset: Any, batcher: Any = as_list, workers: int = 2, **options: Any) -> DataLoader:
    return DataLoader(dataset, batcher, num_workers=workers, worker="process", **options)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_batches_are_those_of_no_workers(workers: int) -> None:
    options: dict[str, Any] = {"batch_size": 3, "shuffle": 42}
    with _loader(Uneven(), with_random_number, workers, **options) as loader:
        plain = DataLoader(range(40), with_random_number, **options)
        assert [list(loader), list(loader)] == [list(plain), list(plain)]


def test_tensors_arrive_and_samplers_agree() -> None:
    dataset = TensorDataset(x=np.arange(60, dtype=np.float32).reshape(20, 3), y=np.arange(20))
    sampler = SamplerDataset(dataset, SamplerDatasetOptions().with_seed(4).with_fixed_size(33))
    with _loader(sampler, None, batch_size=8) as loader:
        plain = DataLoader(sampler, batch_size=8)
        for mine, expected in zip(loader, plain, strict=True):
            assert mine["x"].tolist() == expected["x"].tolist() and mine["x"].dtype == "f32"
            assert mine["y"].tolist() == expected["y"].tolist()


def test_a_pass_left_early_leaves_the_workers_for_the_next() -> None:
    with _loader(range(1000), batch_size=10) as loader:
        for _ in range(3):
            next(loader.iter())
        assert len(list(loader)) == 100
        assert len(multiprocessing.active_children()) == 2
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("how", "kind", "text"),
    [
        ("dataset", DatasetError, "the source is gone"),
        ("value", ValueError, "not a number"),
        ("odd", DatasetError, "Unreadable: left and right"),
        ("exit", DatasetError, r"SystemExit\(3\)"),
    ],
)
def test_an_exception_arrives_with_its_traceback(how: str, kind: type[Exception], text: str) -> None:
    with _loader(Failing(10, at=5, how=how)) as loader:
        batches, seen = loader.iter(), []
        with pytest.raises(kind, match=text) as caught:
            for batch in batches:
                seen.extend(batch)
        assert seen == [0, 1, 2, 3, 4]
        note = "".join(caught.value.__notes__)
        assert "in process dataloader-" in note and "at batch 5 of epoch 0" in note and "samples.py" in note
        if how == "dataset":
            assert caught.value.kind == "Io" and caught.value.path == "/nowhere"  # type: ignore[attr-defined]


def test_a_worker_that_is_killed_is_told_and_the_next_pass_has_new_ones() -> None:
    with _loader(Failing(10, at=5, how="kill")) as loader:
        for _ in range(2):
            batches, seen = loader.iter(), []
            with pytest.raises(DatasetError, match=r"loader worker \d \(process \d+\) was ended by signal 9"):
                for batch in batches:
                    seen.extend(batch)
            assert seen == [0, 1, 2, 3, 4]


def test_what_does_not_pickle_is_told_before_any_process_starts() -> None:
    with pytest.raises(TypeError, match="cannot be sent to a worker process, worker='thread' needs no copy"):
        list(_loader(range(3), lambda items, device: items))


def test_what_cannot_be_made_in_a_worker_is_told_with_its_traceback() -> None:
    with _loader(range(3), OnlyHere()) as loader:
        for _ in range(2):
            with pytest.raises(
                DatasetError, match=r"cannot be made .*: RuntimeError: made in another"
            ) as caught:
                list(loader)
            assert "__setstate__" in caught.value.__notes__[0]


def test_a_batch_that_does_not_pickle_is_an_error() -> None:
    with _loader(range(3), returns_a_lock) as loader, pytest.raises(DatasetError, match=r"TypeError: .*lock"):
        list(loader)


def test_a_strategy_that_looks_at_the_items_has_one_worker() -> None:
    from tests.data.samples import ByWeight

    with _loader(range(9), workers=3, strategy=ByWeight()) as loader:
        assert list(loader) == [[0, 1, 2, 3, 4], [5], [6], [7], [8]]
        assert len(multiprocessing.active_children()) == 1


SCRIPT = """
import sys
from burnpy.data import DataLoader
from tests.data.samples import Uneven, as_list

if __name__ == "__main__":
    loader = DataLoader(Uneven(), as_list, num_workers=2, worker=sys.argv[1])
    print("ready", flush=True)
    try:
        while True:
            list(loader)
    except KeyboardInterrupt:
        print("interrupted", len(list(loader)), flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("worker", ["thread", "process"])
def test_an_interrupt_ends_the_pass_and_leaves_a_loader_that_works(tmp_path: Path, worker: str) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    run = _start(path, worker)
    assert run.stdout is not None and run.stdout.readline() == "ready\n"
    time.sleep(1.5)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, err = run.communicate(timeout=60)
    assert out == "interrupted 40\n" and run.returncode == 0 and err == ""


def _start(path: Path, worker: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")])}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, path, worker],
        stdout=pipe,
        stderr=pipe,
        text=True,
        env=environment,
        start_new_session=True,
    )
