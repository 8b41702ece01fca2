"""The same bits with any number of threads and from any seed again; close numbers on every level of the CPU."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import burnpy as bp
from burnpy import Tensor
from burnpy._core import random_state, set_random_state
from burnpy.tensor import Distribution
from tests.paths import ROOT
from tests.tensor.operations import OPERATIONS, Operation
from tests.tensor.table_outputs import all_outputs, outputs_of

# What the numbers of two levels differ by, in parts of the largest of a result: sums of many are worse than one.
CLOSE = 1e-4
# Not continuous, or of no one answer: a last bit of difference tells.
LEVEL_BOUND = {"svd", "qr", "lu"}

_FLAGS = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
LEVELS = ["portable", *(level for level in ("avx2", "avx512") if f" {level}" in _FLAGS)]

SAVE = """
import sys, numpy
from tests.tensor.table_outputs import all_outputs
numpy.savez(sys.argv[1], **all_outputs())
"""


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = bp.get_num_threads()
    yield
    bp.set_num_threads(before)


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_two_threads_give_the_bits_of_one(operation: Operation) -> None:
    results = []
    for threads in (1, 2):
        bp.set_num_threads(threads)
        bp.manual_seed(3)
        results.append(outputs_of(operation))
    for alone, together in zip(*results, strict=True):
        assert alone.dtype == together.dtype and alone.tobytes() == together.tobytes()


@pytest.mark.slow
def test_every_level_of_the_cpu_gives_close_numbers(tmp_path: Path) -> None:
    expected = all_outputs()
    for level in LEVELS:
        file = tmp_path / f"{level}.npz"
        environment = {
            **os.environ,
            "BURNPY_CPU": level,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        }
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", SAVE, file], check=True, env=environment, cwd=ROOT
        )
        with np.load(file) as found:
            assert set(found.files) == set(expected)
            for name, array in expected.items():
                if name.split("/")[1].split("-")[0] in LEVEL_BOUND:
                    continue
                scale = float(np.nanmax(np.abs(array), initial=1.0)) if array.dtype.kind == "f" else 0.0
                np.testing.assert_allclose(
                    found[name], array, rtol=CLOSE, atol=CLOSE * scale, err_msg=f"{level}: {name}"
                )


RANDOM = {
    "default": None,
    "uniform": Distribution.uniform(-1.0, 3.0),
    "normal": Distribution.normal(1.0, 2.0),
    "bernoulli": Distribution.bernoulli(0.3),
}


@pytest.mark.parametrize("name", RANDOM)
def test_the_same_seed_gives_the_same_random_numbers(name: str) -> None:
    draws = []
    for seed, threads in ((5, 1), (5, 2), (6, 2)):
        bp.set_num_threads(threads)
        bp.manual_seed(seed)
        x = Tensor.random((300, 1001), RANDOM[name])
        draws.append(
            (x.to_numpy().tobytes(), x.dropout(0.5).to_numpy().tobytes(), Tensor.random((3,)).tolist())
        )
    assert draws[0] == draws[1]
    assert all(draws[0][i] != draws[2][i] for i in range(3))


def test_a_state_goes_on_where_it_was_taken() -> None:
    bp.manual_seed(1)
    Tensor.random((5,))
    state = random_state()
    first = Tensor.random((1000,)).tolist()
    set_random_state(state)
    assert Tensor.random((1000,)).tolist() == first
