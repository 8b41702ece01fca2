"""The same demands on every optimizer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import burnpy.optim
from burnpy import Tensor
from burnpy.module import Module, Param, ParamGroup
from burnpy.optim import GradientsParams, ModuleOptimizer, Optimizer, SgdConfig
from burnpy.optim.optimizer import FusedOptimizer
from burnpy.record.state import StateSink
from tests.optim import reference
from tests.optim.models import Array, Pair, Single, given, random_gradients, values
from tests.optim.rules import ALL, CLIPPED, FUSED, MUON, OTHERS

DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
}
MATRICES = {"muon", "muon_decay"}
EVERY = ALL | MUON


def model_of(name: str, seed: int = 0) -> Any:
    if name in MATRICES:
        return Single(np.random.default_rng(seed).standard_normal((4, 6)).astype(np.float32))
    return Pair(seed)


def test_every_exported_optimizer_is_in_the_table() -> None:
    exported = {value for value in vars(burnpy.optim).values() if isinstance(value, type)}
    rules = {rule for rule in exported if issubclass(rule, Optimizer) and rule is not Optimizer}
    assert rules == {type(config.build()) for config in EVERY.values()}


@pytest.mark.parametrize("name", EVERY)
def test_a_parabola_is_descended(name: str) -> None:
    model, optim = Single(np.array([[2.0, -1.5], [1.0, 0.5]], np.float32)), EVERY[name].init()

    def loss() -> Tensor:
        return model.weight.val().square().sum()

    first = loss().item()
    for _ in range(100):
        model = optim.step(0.01, model, GradientsParams.from_grads(loss().backward(), model))
    assert loss().item() < 0.97 * first


@pytest.mark.parametrize("name", FUSED | OTHERS | MUON)
def test_fifty_steps_equal_the_reference(name: str) -> None:
    config: Any = EVERY[name]
    random = np.random.default_rng(7)
    theta, memory = random.standard_normal((3, 5)), {}  # type: ignore[var-annotated]
    model, optim = Single(theta.copy()), config.init()
    for i in range(50):
        gradient = random.standard_normal(theta.shape)
        lr = 0.01 / (1 + 0.1 * i)
        theta = reference.step(config, lr, theta, gradient, memory)
        model = optim.step(lr, model, given(model, {"weight": gradient}))
        # Burn's powers of the decay rates are of single precision.
        np.testing.assert_allclose(model.weight.val().numpy(), theta, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUSED)
def test_the_fused_rule_gives_the_bits_of_the_rule_for_one_tensor(name: str, dtype: str) -> None:
    for fused, alone in twelve_steps(name, DTYPES[dtype]):
        for leaf, array in fused.items():
            same_bits(array, alone[leaf], leaf)


def twelve_steps(name: str, dtype: Any) -> Iterator[tuple[dict[str, Array], dict[str, Array]]]:
    """Parameter and state after each step: of the fused rule, and of the rule for one tensor."""
    rule: Any = FUSED[name].build()
    assert isinstance(rule, FusedOptimizer)
    random = np.random.default_rng(11)
    start = random.standard_normal((7, 9)).astype(dtype)
    start[0, 0] = 0.0
    model, optim = Single(start.copy()), FUSED[name].init()
    tensor, state = Tensor.from_numpy(start.copy()).inner(), None
    for i in range(12):
        gradient = random.standard_normal((7, 9)).astype(dtype)
        gradient[1, 1] = 0.0
        model = optim.step(0.01 * (i + 1), model, given(model, {"weight": gradient}))
        tensor, state = rule.step(0.01 * (i + 1), tensor, Tensor.from_numpy(gradient).inner(), state)
        recorded = optim._contexts[model.weight.id.val()].recorded()
        yield leaves(model.weight.val(), recorded), leaves(tensor, state)


def leaves(tensor: Tensor, state: Any) -> dict[str, Array]:
    sink = StateSink()
    state.state_flatten("", sink)
    scalars = {name: np.array(scalar.value, np.int64) for name, scalar in sink.scalars.items()}
    return {"parameter": tensor.numpy()} | {name: t.numpy() for name, t in sink.tensors.items()} | scalars


def same_bits(found: Array, expected: Array, what: str) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    unsigned = {2: np.uint16, 4: np.uint32, 8: np.uint64}[found.dtype.itemsize]
    np.testing.assert_array_equal(found.view(unsigned), expected.view(unsigned), err_msg=what)


@pytest.mark.parametrize("name", EVERY)
def test_a_run_that_was_saved_and_loaded_goes_on_to_the_same_bits(name: str, tmp_path: Path) -> None:
    def run(model: Any, optim: ModuleOptimizer, seeds: range) -> None:
        for seed in seeds:
            optim.step(0.01, model, random_gradients(model, seed))

    straight, optim = model_of(name), EVERY[name].init()
    run(straight, optim, range(3))
    interrupted = straight.clone()
    optim.save(tmp_path / "optim.bpk")
    resumed = EVERY[name].init().load(tmp_path / "optim", strict=True)
    assert resumed.into_bytes() == optim.into_bytes()
    run(straight, optim, range(3, 6))
    run(interrupted, resumed, range(3, 6))
    for path, array in values(straight).items():
        same_bits(array, values(interrupted)[path], path)
    assert resumed.into_bytes() == optim.into_bytes()


@pytest.mark.parametrize("name", EVERY)
def test_a_record_stays_as_it_was_when_the_run_goes_on(name: str) -> None:
    model, optim = model_of(name), EVERY[name].init()
    optim.step(0.01, model, random_gradients(model, 0))
    record = optim.to_record()
    before = record.into_bytes()
    optim.step(0.01, model, random_gradients(model, 1))
    assert record.into_bytes() == before != optim.into_bytes() or record.is_empty()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EVERY)
def test_a_parameter_keeps_its_dtype(name: str, dtype: str) -> None:
    model = Single(np.linspace(-2, 2, 12).reshape(3, 4).astype(DTYPES[dtype]))
    optim = EVERY[name].init()
    for seed in range(3):
        model = optim.step(0.01, model, random_gradients(model, seed))
    value = model.weight.val()
    assert value.dtype == dtype and value.is_require_grad()
    assert np.isfinite(value.numpy().astype(np.float64)).all()


class Mixed(Module):
    """A parameter that trains, one that does not, and some that are not of floats."""

    def __init__(self) -> None:
        self.weight = Param.from_tensor(Tensor([[1.0, 2.0], [3.0, 4.0]]))
        self.frozen = Param.from_tensor(Tensor([[5.0, 6.0]])).set_require_grad(False)
        self.counter = Param.from_tensor(Tensor([1, 2]))
        self.mask = Param.from_tensor(Tensor([True, False]))
        self.unused = Param.from_tensor(Tensor([[7.0]]))

    def forward(self) -> Tensor:
        return (self.weight.val() * self.frozen.val()).square().sum()


@pytest.mark.parametrize("name", EVERY)
def test_only_what_trains_and_has_a_gradient_moves(name: str) -> None:
    model, optim = Mixed(), EVERY[name].init()
    before = values(model)
    for _ in range(2):
        model = optim.step(0.01, model, GradientsParams.from_grads(model().backward(), model))
    after = values(model)
    moved = {path for path in before if not np.array_equal(before[path], after[path])}
    assert moved == {"weight"}
    assert [model.frozen.val().is_require_grad(), model.weight.val().is_require_grad()] == [False, True]
    assert optim.to_record().ids() == [model.weight.id]


@pytest.mark.parametrize("name", ALL)
def test_groups_are_routed_to_their_rules(name: str) -> None:
    mixed = SgdConfig().init().with_group(ParamGroup.from_predicate("layer_b"), ALL[name].build())
    alone, model, both = ALL[name].init(), Pair(1), Pair(1)
    plain = SgdConfig().init()
    other = Pair(1)
    for seed in range(3):
        model = mixed.step(0.01, model, random_gradients(model, seed))
        both = alone.step(0.01, both, random_gradients(both, seed))
        other = plain.step(0.01, other, random_gradients(other, seed))
    found = values(model)
    for path in found:
        if path.startswith("layer_a"):
            same_bits(found[path], values(other)[path], path)
        elif name not in CLIPPED:
            same_bits(found[path], values(both)[path], path)


@pytest.mark.parametrize("name", EVERY)
def test_empty_parameters_pass_through(name: str) -> None:
    model, optim = Single(np.zeros((0, 3), np.float32)), EVERY[name].init()
    for _ in range(2):
        model = optim.step(0.1, model, given(model, {"weight": np.zeros((0, 3), np.float32)}))
    assert model.weight.val().shape == (0, 3)


@pytest.mark.parametrize("name", EVERY)
def test_what_was_read_before_a_step_stays(name: str) -> None:
    model, optim = model_of(name), EVERY[name].init()
    held = {path: param.val() for path, param in model.named_params()}
    before = values(model)
    optim.step(0.1, model, random_gradients(model, 0))
    assert all(np.array_equal(held[path].numpy(), before[path]) for path in before)


@pytest.mark.parametrize("name", FUSED)
def test_a_fused_rule_updates_where_the_value_lies(name: str) -> None:
    model, optim = Single(np.ones((64, 64), np.float32)), FUSED[name].init()
    optim.step(0.1, model, random_gradients(model, 0))
    address = model.weight.val().numpy().ctypes.data
    optim.step(0.1, model, random_gradients(model, 1))
    assert model.weight.val().numpy().ctypes.data == address
