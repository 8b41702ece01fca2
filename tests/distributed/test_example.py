"""The example gives the same weights on threads and on processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.distributed.launch import finished, needs_mpi, start
from tests.paths import ROOT

MAIN = ROOT / "examples" / "data_parallel" / "main.py"


def weights(told: str) -> str:
    line = next(line for line in told.splitlines() if " ranks: accuracy " in line)
    return line.rpartition(" ")[2]


def on_threads(folder: Path, threads: int) -> str:
    command = [sys.executable, str(MAIN), "--folder", str(folder), "--threads", str(threads)]
    return weights(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)


def test_the_example_gives_the_same_weights_on_threads(tmp_path: Path) -> None:
    assert on_threads(tmp_path / "a", 1) == on_threads(tmp_path / "b", 4)


@pytest.mark.mpi
@needs_mpi
def test_the_example_goes_on_with_fewer_processes(tmp_path: Path) -> None:
    code, told = finished(start(4, MAIN, "--folder", tmp_path / "a", "--epochs", 2))
    assert code == 0, told
    code, told = finished(start(2, MAIN, "--folder", tmp_path / "a", "--resume"))
    assert code == 0, told
    assert weights(told) == on_threads(tmp_path / "b", 1)
