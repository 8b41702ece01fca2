"""Training keeps its memory, and graphs of any length are built, walked and dropped."""

import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from burnpy import Tensor

STEPS = 10_000
CHAIN = 1_000_000


def _resident() -> int:
    """Bytes of memory that the process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def _step(x: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    error = (x @ weight).tanh() - target
    gradient = weight.grad((error * error).mean().backward())
    assert gradient is not None
    return (weight.inner() - gradient * 0.1).autodiff().require_grad()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc to read the memory from")
def test_memory_stays_the_same_over_many_training_steps() -> None:
    rng = np.random.default_rng(0)
    x, target = Tensor(rng.normal(size=(32, 64))), Tensor(rng.normal(size=(32, 16)))
    weight = Tensor(rng.normal(size=(64, 16))).require_grad()
    for _ in range(STEPS // 10):
        weight = _step(x, target, weight)
    before = _resident()
    for _ in range(STEPS):
        weight = _step(x, target, weight)
    # A step's tensors are some 40 kB: one that stayed behind each time would be hundreds of megabytes.
    assert _resident() - before < 32 << 20


def _in_a_small_thread(run: Callable[[], None]) -> None:
    failures: list[BaseException] = []

    def watched() -> None:
        try:
            run()
        except BaseException as error:
            failures.append(error)

    before = threading.stack_size(2 << 20)
    try:
        thread = threading.Thread(target=watched)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert not failures, failures[0]


@pytest.mark.slow
def test_a_long_chain_needs_no_deep_stack() -> None:
    def run() -> None:
        x = Tensor([1.0]).require_grad()
        y = x
        for _ in range(CHAIN):
            y = y + 1.0
        assert y.item() == CHAIN + 1
        gradient = x.grad(y.backward())
        assert gradient is not None and gradient.tolist() == [1.0]
        y = x
        for _ in range(CHAIN):
            y = y * 1.0
        del y  # a graph that nobody walked back goes too

    _in_a_small_thread(run)


def test_two_threads_on_the_same_tensors_get_the_numbers_of_one() -> None:
    rng = np.random.default_rng(1)
    x, target = Tensor(rng.normal(size=(200, 300))), Tensor(rng.normal(size=(200, 100)))
    start = Tensor(rng.normal(size=(300, 100)) * 0.01)

    def train() -> list[float]:
        weight, losses = start.require_grad(), []
        for _ in range(10):
            weight = _step(x, target, weight)
            losses.append(weight.sum().item())
        return losses

    alone = train()
    found: list[list[float]] = []
    threads = [threading.Thread(target=lambda: found.append(train())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone, alone]


def test_memory_that_is_used_again_is_written_first() -> None:
    for size in (10, 1000, 100_000, 3_000_000):
        assert (Tensor(np.full(size, np.nan)) + 1.0).is_nan().all().item()
        assert Tensor.zeros((size,)).max_abs().item() == 0.0
