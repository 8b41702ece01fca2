"""What other threads take of a model has whole steps."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import burnpy
import burnpy.numpy
from burnpy import Module, Param, ParamGroup, Tensor
from burnpy.module import between_steps
from burnpy.optim import AdamConfig, GradientsParams, ModuleOptimizer, Optimizer, SgdConfig
from burnpy.store import SafetensorsStore

COUNT, STEPS = 100, 150


class Many(Module):
    """Parameters that all have the number of steps for a value."""

    def __init__(self) -> None:
        self.params = [Param.from_tensor(Tensor([0.0, 0.0])) for _ in range(COUNT)]


class PlusOne(Optimizer[Any]):
    """A rule that only Python has."""

    def step(self, lr: float, tensor: Tensor, grad: Tensor, state: Any) -> tuple[Tensor, Any]:
        return tensor + lr, None


def in_two_groups() -> ModuleOptimizer:
    return SgdConfig().init().with_group(ParamGroup.from_predicate("7"), PlusOne())


OPTIMIZERS: dict[str, Callable[[], ModuleOptimizer]] = {
    "fused": lambda: SgdConfig().init(),
    "custom": lambda: ModuleOptimizer(PlusOne()),
    "both": in_two_groups,
}


def gradients(model: Many) -> GradientsParams:
    total = model.params[0].val().sum()
    for param in model.params[1:]:
        total = total + param.val().sum()
    return GradientsParams.from_grads((-total).backward(), model)


@contextmanager
def stepping(model: Many, optim: ModuleOptimizer) -> Iterator[Callable[[], bool]]:
    """Steps in another thread, as fast as they go; the result tells whether it is at work."""
    stop, failed = threading.Event(), list[BaseException]()
    prepared = [gradients(model) for _ in range(STEPS)]

    def work() -> None:
        try:
            for grads in prepared:
                if stop.is_set():
                    return
                optim.step(1.0, model, grads)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield thread.is_alive
    finally:
        stop.set()
        thread.join()
    assert not failed


def of_file(model: Many, folder: Path) -> list[list[float]]:
    model.save_file(folder / "model", durable=False)
    return [array.tolist() for array in burnpy.numpy.load_file(folder / "model.bpk").values()]


def of_store(model: Many, folder: Path) -> list[list[float]]:
    model.save_into(SafetensorsStore.from_file(folder / "model.safetensors").overwrite(True))
    opened = burnpy.open(folder / "model.safetensors")
    return [opened[name][:].tolist() for name in opened]


def of_record(model: Many, _: Path) -> list[list[float]]:
    record = model.into_record()
    return [record[path].tolist() for path in record]


def of(copied: Callable[[Many], Many]) -> Callable[[Many, Path], list[list[float]]]:
    return lambda model, _: [param.val().tolist() for param in copied(model).params]


TAKEN: dict[str, Callable[[Many, Path], list[list[float]]]] = {
    "record": of_record,
    "file": of_file,
    "store": of_store,
    "clone": of(Many.clone),
    "valid": of(Many.valid),
}


@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_what_is_taken_beside_a_training_has_one_value_everywhere(
    optimizer: str, taken: str, tmp_path: Path
) -> None:
    model, seen = Many(), set()
    with stepping(model, OPTIMIZERS[optimizer]()) as is_at_work:
        while is_at_work():
            values = TAKEN[taken](model, tmp_path)
            assert len(values) == COUNT
            assert len({tuple(value) for value in values}) == 1, sorted({tuple(value) for value in values})
            seen.add(values[0][0])
    assert seen <= {float(i) for i in range(STEPS + 1)}


def test_records_of_one_moment_are_of_one_step() -> None:
    model, optim = Many(), AdamConfig().init()
    optim.step(1.0, model, gradients(model))
    times = set()
    with stepping(model, optim) as is_at_work:
        while is_at_work():
            with between_steps():
                before = model.into_record()
                record = optim.to_record()
                after = model.into_record()
            assert before["params.0"].tolist() == after["params.0"].tolist()
            found = {scalar for name, scalar in record.scalars().items() if name.endswith("time")}
            assert len(found) == 1
            times |= found
    assert times


def test_a_load_is_whole_for_others_too() -> None:
    model, stop = Many(), threading.Event()
    records = [Many().into_record() for _ in range(2)]
    other = Many()
    ModuleOptimizer(PlusOne()).step(1.0, other, gradients(other))
    records[1] = other.into_record()

    def load() -> None:
        for i in range(100):
            model.load_record(records[i % 2])
        stop.set()

    thread = threading.Thread(target=load)
    thread.start()
    while not stop.is_set():
        taken = model.into_record()
        assert len({tuple(taken[path].tolist()) for path in taken}) == 1
    thread.join()


def test_the_thread_that_is_between_steps_may_step_and_save() -> None:
    model, optim = Many(), SgdConfig().init()
    with between_steps(), between_steps():
        optim.step(1.0, model, gradients(model))
        assert model.into_record()["params.0"].tolist() == [1.0, 1.0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_while_another_thread_is_between_steps_can_save() -> None:
    code = """
import os, threading
from burnpy.module import between_steps
from burnpy.nn import LinearConfig
held, go = threading.Event(), threading.Event()
def hold():
    with between_steps():
        held.set()
        go.wait(0.2)
thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if child == 0:
    os._exit(0 if len(LinearConfig(2, 2).init().into_record()) == 2 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
go.set()
thread.join()
"""
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert told.stdout == "0\n"
