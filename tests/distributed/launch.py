"""Ranks for tests: threads that are joined, and processes under ``mpirun`` with a watchdog."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burnpy.distributed import Communicator, LocalCommunicator
from tests.paths import ROOT

WATCHDOG_S = 120


def on_threads(size: int, work: Callable[[Communicator], Any]) -> list[Any]:
    """What the ranks return, or the first that one raises."""
    results: list[Any] = [None] * size
    errors: list[BaseException] = []

    def run(rank: Communicator) -> None:
        try:
            results[rank.rank] = work(rank)
        except BaseException as error:
            errors.append(error)
            rank.abort(repr(error))

    threads = [threading.Thread(target=run, args=(rank,)) for rank in LocalCommunicator.group(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WATCHDOG_S)
    if errors:
        raise errors[0]
    return results


def mpirun() -> str | None:
    """The launcher, of this environment or of the system."""
    own = Path(sys.executable).with_name("mpirun")
    return str(own) if own.exists() else shutil.which("mpirun")


def _reason() -> str | None:
    if mpirun() is None:
        return "mpirun is not installed"
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        return "mpi4py is not installed"
    return None


needs_mpi = pytest.mark.skipif(_reason() is not None, reason=str(_reason()))


def start(size: int, *arguments: object) -> "subprocess.Popen[str]":
    """Python on so many ranks; more than there are cores, and as root if need be."""
    command = [str(mpirun()), "--oversubscribe", "-n", str(size), sys.executable, *map(str, arguments)]
    environment = os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "BURNPY_NUM_THREADS": "1",
    }
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """The code and all the words of a run, once it is over."""
    try:
        out, errors = process.communicate(timeout=WATCHDOG_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return process.returncode, out + errors
