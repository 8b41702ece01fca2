"""A thread with a random state of its own draws what it would alone; the others do not notice."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burnpy as bp
from burnpy import Tensor, _core, nn, optim
from burnpy.autodiff import checkpoint
from burnpy.nn.loss import MseLoss
from burnpy.optim import GradientsParams
from burnpy.tensor import Distribution, random_state, set_random_state
from burnpy.tensor.own_random_state import own_random_state

WATCHDOG_S = 120


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """What they return, each on a thread of its own; all begin when all are there."""
    results: list[Any] = [None] * len(works)
    start = threading.Barrier(len(works))

    def run(index: int) -> None:
        start.wait(WATCHDOG_S)
        results[index] = works[index]()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WATCHDOG_S)
    return results


def drawn(seed: int, times: int = 200) -> bytes:
    """Numbers of a seed, in a state of the thread's own."""
    with own_random_state():
        bp.manual_seed(seed)
        parts = [Tensor.random((n % 5 + 1,), Distribution.default()) for n in range(times)]
    return b"".join(part.numpy().tobytes() for part in parts)


class Noisy(bp.Module):
    """Dropout between linear layers, one of them computed again on the way back."""

    def __init__(self) -> None:
        self.first = nn.LinearConfig(16, 64).init()
        self.middle = nn.LinearConfig(64, 64).init()
        self.last = nn.LinearConfig(64, 1).init()
        self.dropout = nn.DropoutConfig(0.4).init()

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.dropout(self.first(x).relu())
        return self.last(checkpoint(lambda h: self.dropout(self.middle(h)), hidden))


def trained(seed: int, steps: int = 40) -> list[bytes]:
    """The weights of a model after some steps, all chance in it from one seed."""
    with own_random_state():
        bp.manual_seed(seed)
        model, adam, loss = Noisy(), optim.AdamConfig().init(), MseLoss()
        for _ in range(steps):
            x = Tensor.random((32, 16), Distribution.normal(0.0, 1.0))
            grads = GradientsParams.from_grads(loss(model(x), x[:, :1]).backward(), model)
            model = adam.step(1e-2, model, grads)
        return [leaf.val().numpy().tobytes() for _, leaf in model.named_params()]


def test_two_models_trained_at_once_get_the_weights_that_each_gets_alone() -> None:
    alone = [trained(1), trained(2)]
    assert alone[0] != alone[1]
    assert at_once(lambda: trained(1), lambda: trained(2)) == alone
    assert at_once(lambda: trained(2), lambda: trained(2), lambda: trained(1)) == [alone[1], *alone[::-1]]


def test_what_others_draw_is_not_seen_and_not_disturbed() -> None:
    alone = drawn(3)
    bp.manual_seed(4)
    before = random_state()
    shared = [Tensor.random((4,), Distribution.default()).tolist() for _ in range(200)]
    set_random_state(before)

    def from_the_process() -> list[Any]:
        return [Tensor.random((4,), Distribution.default()).tolist() for _ in range(200)]

    assert at_once(lambda: drawn(3), from_the_process, lambda: drawn(3)) == [alone, shared, alone]


def test_a_state_is_left_as_the_one_outside_was() -> None:
    bp.manual_seed(1)
    outside = random_state()
    with own_random_state((5, 6, 7, 8)):
        assert random_state() == (5, 6, 7, 8)
        with own_random_state():
            bp.Device().seed(9)
            assert random_state()[0] == 9
        assert random_state() == (5, 6, 7, 8)
        set_random_state((1, 2, 3, 4))
        _core.new_stream()
        assert random_state() == (1, 2, 3, 5)
        assert at_once(random_state) == [outside]
    assert random_state() == outside
    with pytest.raises(LookupError), own_random_state((5, 6, 7, 8)):
        raise LookupError
    assert random_state() == outside


@pytest.mark.parametrize("state", [(1, 2, 3), (1, 2, 3, -1), (1, 2, 3, 2**64), (1, 2, 3, "4"), 1])
def test_what_is_no_state_is_refused_and_nothing_changes(state: Any) -> None:
    before = random_state()
    with pytest.raises((TypeError, ValueError, OverflowError)), own_random_state(state):
        pass
    assert random_state() == before


def test_a_checkpoint_draws_again_what_it_drew_wherever_the_way_back_is_gone() -> None:
    x = Tensor(np.ones((64, 64), np.float32)).require_grad()

    def gradient(y: Tensor) -> bytes:
        found = x.grad(y.sum().backward())
        assert found is not None
        return found.numpy().tobytes()

    def output() -> Tensor:
        return checkpoint(lambda t: t.dropout(0.5) * t, x)

    outputs = []
    for _ in range(3):
        with own_random_state((1, 2, 3, 4)):
            outputs.append(output())
            after = random_state()
    inside, later, elsewhere = outputs
    with own_random_state((1, 2, 3, 4)):
        wanted = gradient(x.dropout(0.5) * x)
        assert random_state() == after
        assert gradient(inside) == wanted
        assert random_state() == after
    outside = random_state()
    assert gradient(later) == wanted
    assert at_once(lambda: gradient(elsewhere)) == [wanted]
    assert random_state() == outside
