"""The same under ``mpirun``, and what becomes of a run when a process is killed."""

import signal
import time
from pathlib import Path
from typing import Any

import pytest

from burnpy.train.checkpoint import complete_sets
from tests.distributed import run
from tests.distributed.launch import finished, needs_mpi, start
from tests.distributed.test_data_parallel import EPOCHS, assert_same

pytestmark = [pytest.mark.mpi, needs_mpi]

# Far more than it takes, on a machine that does other things too.
SOON_S = 30


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in this process alone."""
    folder = tmp_path_factory.mktemp("whole")
    run.run(folder, EPOCHS, threads=1)
    return folder


def ran(size: int, folder: Path, *more: object) -> None:
    code, told = finished(start(size, "-m", "tests.distributed.run", folder, EPOCHS, *more))
    assert code == 0, told


@pytest.mark.parametrize("size", [1, 2, 4])
def test_processes_are_a_communicator(size: int) -> None:
    code, told = finished(start(size, "-m", "tests.distributed.conformance"))
    assert (code, told.strip()) == (0, f"{size} ranks conform")


def test_without_room_for_windows_all_ranks_have_none() -> None:
    code, told = finished(start(2, "-m", "tests.distributed.conformance", "full"))
    assert (code, told.strip()) == (0, "2 ranks conform")


def test_an_exception_that_nobody_catches_ends_all_ranks() -> None:
    code, told = finished(start(3, "-m", "tests.distributed.conformance", "fail"))
    assert code != 0
    assert "rank 1: ArithmeticError: too hot to compute" in told


@pytest.mark.parametrize("size", [1, 2, 4])
def test_the_bits_do_not_depend_on_processes(tmp_path: Path, whole: Path, size: int) -> None:
    ran(size, tmp_path)
    assert_same(tmp_path, whole)
    # Each rank has the same model, and is told the same history.
    for rank in range(1, size):
        assert (tmp_path / f"outcome-{rank}.json").read_text() == (tmp_path / "outcome.json").read_text()


@pytest.mark.parametrize(("before", "after", "stop_at"), [(4, 2, 8), (2, 1, 5), (1, 3, 10)])
def test_a_run_goes_on_with_another_number_of_processes(
    tmp_path: Path, whole: Path, before: int, after: int, stop_at: int
) -> None:
    ran(before, tmp_path, "--stop-at", stop_at)
    assert not (tmp_path / "outcome.json").exists()
    ran(after, tmp_path)
    assert_same(tmp_path, whole)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_is_killed_ends_all_and_leaves_a_complete_set(
    tmp_path: Path, whole: Path, rank: int
) -> None:
    began = time.monotonic()
    process = start(
        2, "-m", "tests.distributed.run", tmp_path, EPOCHS, "--every", 1, "--bad", f"{rank}:18:kill"
    )
    code, told = finished(process)
    assert time.monotonic() - began < SOON_S
    assert code != 0
    assert "Killed" in told
    assert complete_sets(tmp_path / "checkpoint") != []
    ran(2, tmp_path)
    assert_same(tmp_path, whole)


@pytest.mark.parametrize("rank", [0, 1])
def test_an_error_on_any_rank_ends_all_as_that_error(tmp_path: Path, rank: int) -> None:
    process = start(2, "-m", "tests.distributed.run", tmp_path, EPOCHS, "--bad", f"{rank}:9:raise")
    code, told = finished(process)
    assert code != 0
    assert "ArithmeticError: too hot to compute" in told


def wait_for(what: Any, process: Any) -> None:
    end = time.monotonic() + SOON_S
    while not what() and process.poll() is None:
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_launcher_stops_all_and_saves(tmp_path: Path, whole: Path, number: int) -> None:
    process = start(2, "-m", "tests.distributed.run", tmp_path, EPOCHS, "--slow", 0.05)
    wait_for(lambda: (tmp_path / "checkpoint" / "trainer-1.bpk").exists(), process)
    process.send_signal(number)
    code, told = finished(process)
    assert code != 0, told
    keys = [str(found.key) for found in complete_sets(tmp_path / "checkpoint")]
    assert keys[-1].startswith("step-"), keys
    ran(4, tmp_path)
    assert_same(tmp_path, whole)


def test_a_signal_to_any_rank_stops_all_and_saves(tmp_path: Path, whole: Path) -> None:
    process = start(2, "-m", "tests.distributed.run", tmp_path, EPOCHS, "--bad", "1:9:signal")
    code, told = finished(process)
    assert code != 0, told
    assert [found.key for found in complete_sets(tmp_path / "checkpoint")][-1] == "step-3"
    ran(1, tmp_path)
    assert_same(tmp_path, whole)
