"""Kernels let Python go on, threads do not disturb each other, a forked child can compute."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

import burnpy as bp
from burnpy import Tensor


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = bp.get_num_threads()
    yield
    bp.set_num_threads(before)


def train(steps: int) -> list[float]:
    rng = np.random.default_rng(0)
    x, target = Tensor(rng.normal(size=(64, 32))), Tensor(rng.normal(size=(64, 8)))
    weight = Tensor(rng.normal(size=(32, 8))).require_grad()
    losses = []
    for _ in range(steps):
        error = x @ weight - target
        loss = (error * error).mean()
        gradient = weight.grad(loss.backward())
        assert gradient is not None
        weight = (weight.inner() - gradient * 0.1).autodiff().require_grad()
        losses.append(loss.item())
    return losses


def test_two_training_threads_get_the_numbers_of_one() -> None:
    alone = train(30)
    assert alone[-1] < alone[0]
    results: list[list[float]] = []
    threads = [threading.Thread(target=lambda: results.append(train(30))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [alone, alone]


def test_python_goes_on_while_a_kernel_runs() -> None:
    x = Tensor(np.ones((1200, 1200)))
    counts, done = [0], threading.Event()

    def count() -> None:
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.0001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before, start = counts[0], time.perf_counter()
        while time.perf_counter() - start < 0.3:
            x @ x
        # One product at a time and nothing else: with the GIL held, the counter would stand still in it.
        assert counts[0] - before > 20
    finally:
        done.set()
        thread.join()


def test_results_are_the_same_with_any_number_of_threads() -> None:
    x = Tensor(np.random.default_rng(1).normal(size=(300, 400)))
    results = []
    for n in (1, 2, 3):
        bp.set_num_threads(n)
        assert bp.get_num_threads() == n
        y = x.require_grad()
        gradient = y.grad(((y @ y.T).tanh() * 2.0).sum().backward())
        assert gradient is not None
        results.append(gradient.numpy().tobytes())
    assert results[0] == results[1] == results[2]
    with pytest.raises(ValueError, match="at least 1"):
        bp.set_num_threads(0)


FORK = """
import os, numpy as np, burnpy as bp
from burnpy import Tensor
x = Tensor(np.ones((700, 700)))
wanted = (x @ x).sum().item()
child = os.fork()
if child == 0:
    os._exit(0 if (x @ x).sum().item() == wanted else 1)
_, status = os.waitpid(child, 0)
assert (x @ x).sum().item() == wanted
print(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_computes_after_its_parent_has() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, timeout=60
    )
    assert run.stdout.strip() == "0", run.stderr


def test_random_state_is_saved_and_restored() -> None:
    from burnpy._core import random_state, set_random_state

    bp.manual_seed(7)
    state = random_state()
    assert state[0] == 7
    bp.Device().seed(8)
    assert random_state() != state
    set_random_state(state)
    assert random_state() == state


def test_a_share_of_the_threads_is_that_of_one_caller() -> None:
    from burnpy._core import set_thread_share

    bp.set_num_threads(4)
    assert set_thread_share((3, 1)) is None
    try:
        found: list[int] = []
        other = threading.Thread(target=lambda: found.append(bp.get_num_threads()))
        other.start()
        other.join()
        assert (bp.get_num_threads(), found) == (3, [4])
    finally:
        assert set_thread_share(None) == (3, 1)
    assert bp.get_num_threads() == 4
    for wrong in (3, (1,), (-1, 0), ("2", 0)):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            set_thread_share(wrong)  # type: ignore[arg-type]
    assert bp.get_num_threads() == 4


def test_callers_with_shares_get_the_bits_of_one_alone() -> None:
    from burnpy._core import set_thread_share

    x = Tensor(np.random.default_rng(2).normal(size=(300, 400)))

    def gradient() -> bytes:
        y = x.require_grad()
        found = y.grad(((y @ y.T).tanh() * 2.0).sum().backward())
        assert found is not None
        return found.numpy().tobytes()

    alone, results = gradient(), []

    def work(pool: int) -> None:
        set_thread_share((2, pool))
        results.extend(gradient() for _ in range(5))

    threads = [threading.Thread(target=work, args=(pool,)) for pool in (0, 1, 2, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [alone] * 20
