"""What ranks that are threads say to each other."""

import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from burnpy.distributed import Communicator, CommunicatorError, LocalCommunicator, MpiCommunicator
from burnpy.testing import check_communicator
from tests.distributed.launch import on_threads


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_threads_are_a_communicator(size: int) -> None:
    on_threads(size, check_communicator)


def test_buffers_are_not_copied_on_the_way() -> None:
    given = np.arange(4, dtype=np.float32)

    def work(ranks: Communicator) -> Any:
        room = given if ranks.rank == 0 else np.zeros(4, np.float32)
        ranks.broadcast([memoryview(room)])
        return room

    assert on_threads(2, work)[1].tolist() == [0, 1, 2, 3]


def test_a_rank_that_fails_ends_the_others() -> None:
    heard: list[str] = []

    def work(ranks: LocalCommunicator) -> None:
        if ranks.rank == 1:
            ranks.abort("out of memory")
            return
        with pytest.raises(CommunicatorError) as raised:
            ranks.barrier()
        heard.append(str(raised.value))

    threads = [threading.Thread(target=work, args=(rank,)) for rank in LocalCommunicator.group(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert heard == ["the ranks no longer work together: rank 1: out of memory"] * 2


def test_buffers_of_another_length_are_refused_with_both() -> None:
    def work(ranks: Communicator) -> None:
        ranks.gather(np.zeros(3 + ranks.rank, np.uint8), [np.zeros(3, np.uint8)] * 2)

    with pytest.raises(CommunicatorError, match="rank 1 gave 4 bytes where 3 were awaited") as raised:
        on_threads(2, work)
    assert raised.value.rank == 1


def test_objects_for_too_few_ranks_are_refused() -> None:
    with pytest.raises(CommunicatorError, match="each of 2 ranks, got 1"):
        on_threads(2, lambda ranks: ranks.scatter_object(["one"]))


@pytest.mark.parametrize("buffer", [np.zeros((3, 2)).T, memoryview(b"abcdef")[::2], 7])
def test_what_is_no_contiguous_buffer_is_refused(buffer: Any) -> None:
    alone = LocalCommunicator.group(1)[0]
    with pytest.raises(TypeError):
        alone.broadcast([buffer])


def test_a_group_has_a_rank_at_least() -> None:
    with pytest.raises(ValueError, match="size must be at least 1, got 0"):
        LocalCommunicator.group(0)


def test_without_mpi4py_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(ImportError, match=r"pip install 'burnpy\[mpi\]'"):
        MpiCommunicator()


def test_mpi4py_is_not_imported_before_it_is_used() -> None:
    code = "import sys, burnpy.train, burnpy.distributed; sys.exit('mpi4py' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_launcher_is_known_by_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "PMIX_RANK"):
        monkeypatch.delenv(name, raising=False)
    assert not MpiCommunicator.is_launched()
    assert MpiCommunicator.ranks_here() == 1
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2")
    assert MpiCommunicator.is_launched()
    assert MpiCommunicator.ranks_here() == 2
