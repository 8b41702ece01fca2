"""The optimizer of a module: groups, clipping, records, custom rules, what it refuses."""

import copy as copy_module
import math
import pickle
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import DTypeError, NonFiniteGradientError, ShapeError
from burnpy.lr_scheduler import LinearLrSchedulerConfig, ModuleLearningRate, ModuleLrScheduler
from burnpy.module import Module, Param, ParamGroup, ParamId
from burnpy.optim import (
    AdamConfig,
    AdamWConfig,
    GradientClipping,
    GradientClippingConfig,
    GradientsParams,
    LBFGSConfig,
    LionConfig,
    ModuleOptimizer,
    MomentumConfig,
    MultiGradientsParams,
    MuonConfig,
    Optimizer,
    SgdConfig,
)
from burnpy.record.state import RecordState, UInt
from tests.optim.models import Pair, Single, given, random_gradients, step_on_loss, values
from tests.optim.rules import ALL

X = Tensor.ones((2, 4))
LAYER_A = ParamGroup.from_predicate("layer_a")


def train(optim: ModuleOptimizer, model: Any, seeds: range, lr: Any = 0.01) -> Any:
    for seed in seeds:
        model = optim.step(lr, model, random_gradients(model, seed))
    return model


# ---- what Burn's tests assert


@pytest.mark.parametrize("name", ALL)
def test_a_record_of_two_steps_on_a_loss_goes_on_as_the_original(name: str) -> None:
    model, optim = Pair(3), ALL[name].init()
    for scale in (1.0, 0.01):
        model = step_on_loss(optim, 0.01, model, X, scale)
    copy, again = model.clone(), ALL[name].init().from_bytes(optim.into_bytes(), strict=True)
    model, copy = (step_on_loss(o, 0.01, m, X, -0.01) for o, m in ((optim, model), (again, copy)))
    for path, array in values(model).items():
        np.testing.assert_array_equal(array, values(copy)[path])
        assert not np.isnan(array).any()


def test_groups_come_back_from_a_record() -> None:
    def build() -> ModuleOptimizer:
        return SgdConfig().init().with_group(LAYER_A, AdamConfig().build())

    model, optim = Pair(), build()
    model = train(optim, model, range(3))
    copy, again = model.clone(), build().load_record(optim.to_record(), strict=True)
    model, copy = train(optim, model, range(3, 4)), train(again, copy, range(3, 4))
    for path, array in values(model).items():
        np.testing.assert_array_equal(array, values(copy)[path])


def test_a_group_given_later_forgets_the_state_of_its_parameters() -> None:
    model, optim = Pair(), AdamConfig().init()
    model = train(optim, model, range(2))
    model = train(optim.with_group(LAYER_A, SgdConfig().build()), model, range(2, 3))
    scalars = optim.to_record().scalars()
    assert sum("time" in key for key in scalars) == 2
    assert sum("__rank" in key for key in scalars) == 4


def test_a_groups_clipping_is_for_the_group_alone() -> None:
    optim = SgdConfig().init().with_group(LAYER_A, SgdConfig().build(), GradientClipping.Value(0.01))
    model = Pair()
    before = values(model)
    model = optim.step(0.01, model, given(model, {p: np.full(v.shape, 1e3, "f4") for p, v in before.items()}))
    for path, array in values(model).items():
        moved = np.abs(array - before[path])
        if path.startswith("layer_a"):
            assert (moved <= 0.01 * 0.01 + 1e-6).all()
        else:
            assert (moved > 1.0).all()


def test_a_record_without_paths_goes_on_with_one_group() -> None:
    model, optim = Pair(), AdamConfig().init()
    model = train(optim, model, range(2))
    record = optim.to_record()
    record._metadata.clear()
    copy, again = model.clone(), AdamConfig().init().load_record(record)
    model, copy = train(optim, model, range(2, 3)), train(again, copy, range(2, 3))
    for path, array in values(model).items():
        np.testing.assert_array_equal(array, values(copy)[path])


def test_the_record_of_one_lion_is_smaller_than_that_of_adamw() -> None:
    def size(optim: ModuleOptimizer) -> int:
        model = Single(np.ones((64, 64), np.float32))
        train(optim, model, range(1))
        return len(optim.into_bytes())

    assert size(LionConfig().init()) < size(AdamWConfig().init())


@pytest.mark.parametrize(("config", "peak"), [(LionConfig(), 0.01), (AdamWConfig(weight_decay=0.0), 0.05)])
def test_a_regression_is_learnt_as_in_burns_tests(config: Any, peak: float) -> None:
    model, optim = Single(np.zeros((2, 1), np.float32)), config.init()
    x, y = (
        Tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]]),
        Tensor([[0.5], [-0.75], [-0.25], [-1.25]]),
    )
    losses = []
    for i in range(600):
        loss = (x @ model.weight.val() - y).square().mean()
        losses.append(loss.item())
        rate = peak * (1 - i / 600)
        model = optim.step(rate, model, GradientsParams.from_grads(loss.backward(), model))
    assert losses[-1] < 1e-3 * losses[0]


# ---- groups and rates


def test_the_last_group_that_matches_counts() -> None:
    optim = (
        SgdConfig().init()
        .with_group(ParamGroup.from_predicate("weight"), AdamConfig().build())
        .with_group(ParamGroup.from_path("layer_a.weight"), LionConfig().build())
    )  # fmt: skip
    train(optim, Pair(), range(1))
    names = optim.to_record().keys()
    assert {name.partition(".")[2] for name in names} == {
        "momentum",
        "momentum.moment_1",
        "momentum.moment_2",
    }
    assert repr(optim) == "ModuleOptimizer(Sgd, Adam, Lion)"


def test_each_group_has_its_rate() -> None:
    scheduler = ModuleLrScheduler(0.1).with_group(LAYER_A, LinearLrSchedulerConfig(0.5, 0.25, 1))
    model, optim = Pair(), SgdConfig().init()
    for rate in (0.5, 0.25, 0.25):
        before = values(model)
        ones = {path: np.ones_like(array) for path, array in before.items()}
        model = optim.step(scheduler.step(), model, given(model, ones))
        for path, array in values(model).items():
            lr = rate if path.startswith("layer_a") else 0.1
            np.testing.assert_array_equal(array, before[path] - np.float32(lr))


def test_a_rate_of_zero_freezes_the_values_and_the_state_goes_on() -> None:
    lr = ModuleLearningRate([(ParamGroup.all(), 0.1), (LAYER_A, 0.0)])
    model, optim = Pair(), AdamWConfig(weight_decay=0.5).init()
    before = values(model)
    model = train(optim, model, range(2), lr)
    for path, array in values(model).items():
        assert np.array_equal(array, before[path]) == path.startswith("layer_a")
    assert {s.value for key, s in optim.to_record().scalars().items() if "time" in key} == {2}


def test_new_groups_of_rates_are_looked_up_anew() -> None:
    model, optim = Pair(), SgdConfig().init()
    for group in ("layer_a", "layer_b"):
        lr = ModuleLearningRate([(ParamGroup.all(), 0.0), (ParamGroup.from_predicate(group), 0.1)])
        before = values(model)
        model = train(optim, model, range(1), lr)
        moved = {path for path, array in values(model).items() if not np.array_equal(array, before[path])}
        assert moved == {f"{group}.weight", f"{group}.bias"}


# ---- gradients


def test_parameters_without_a_gradient_keep_value_and_state() -> None:
    model, optim = Pair(), AdamWConfig(weight_decay=0.5).init()
    model = train(optim, model, range(1))
    before = values(model)
    model = optim.step(0.1, model, given(model, {"layer_a.bias": np.ones(4, np.float32)}))
    moved = {path for path, array in values(model).items() if not np.array_equal(array, before[path])}
    assert moved == {"layer_a.bias"}
    times = {s.value for key, s in optim.to_record().scalars().items() if "time" in key}
    assert times == {1, 2}


def test_a_gradient_given_by_hand_moves_a_frozen_parameter() -> None:
    model = Single(np.ones(2, np.float32))
    model.weight.set_require_grad(False)
    SgdConfig().init().step(0.5, model, given(model, {"weight": np.ones(2, np.float32)}))
    assert model.weight.val().tolist() == [0.5, 0.5] and not model.weight.val().is_require_grad()


def test_gradients_of_strangers_are_dropped_and_all_are_consumed() -> None:
    model = Single(np.ones(2, np.float32))
    grads = given(model, {"weight": np.ones(2, np.float32)})
    grads.register(ParamId(99), Tensor([1.0]).inner())
    optim = SgdConfig().init()
    optim.step(0.5, model, grads)
    assert grads.is_empty() and optim.to_record().ids() == [model.weight.id]


def test_a_tied_parameter_is_stepped_once_with_the_sum() -> None:
    model = Pair()
    model.layer_b.weight = model.layer_a.weight
    before = model.layer_a.weight.val().to_numpy()
    x = Tensor.eye(4)
    loss = (x @ model.layer_a.weight.val()).sum() + (x @ model.layer_b.weight.val()).sum() * 2.0
    model = SgdConfig().init().step(0.1, model, GradientsParams.from_grads(loss.backward(), model))
    np.testing.assert_allclose(model.layer_b.weight.val().numpy(), before - 0.3, rtol=1e-6)
    assert model.layer_a.weight is model.layer_b.weight


def test_the_gradients_of_replicas_are_summed() -> None:
    replicas = []
    model, alone = Pair(), Pair()
    for path, param in model.named_params():
        dict(alone.named_params())[path].id = param.id
    for seed in (1, 2, 3):
        grads = random_gradients(model, seed)
        replicas.append((grads, X.device))
    optim, single = SgdConfig().init(), SgdConfig().init()
    model = optim.step_multi(0.1, model, MultiGradientsParams(replicas))
    for seed in (1, 2, 3):
        alone = single.step(0.1, alone, random_gradients(alone, seed))
    for path, array in values(model).items():
        np.testing.assert_allclose(array, values(alone)[path], rtol=1e-5, atol=1e-6)


def test_a_module_that_changes_between_steps_is_followed() -> None:
    class Stack(Module):
        def __init__(self) -> None:
            self.layers = [Single(np.ones(2, np.float32))]
            self.calls = 0

    model, optim = Stack(), SgdConfig().init()
    for count in (1, 2, 3):
        model.calls += 1
        ones = {f"layers.{i}.weight": np.ones(2, np.float32) for i in range(count)}
        model = optim.step(0.25, model, given(model, ones))
        model.layers.append(Single(np.ones(2, np.float32)))
    assert [layer.weight.val().tolist()[0] for layer in model.layers] == [0.25, 0.5, 0.75, 1.0]
    model.layers[0].weight = Param.from_tensor(Tensor([4.0, 4.0]))
    optim.step(1.0, model, given(model, {"layers.0.weight": np.ones(2, np.float32)}))
    assert model.layers[0].weight.val().tolist() == [3.0, 3.0]


def test_ids_that_a_loaded_module_gets_find_their_states() -> None:
    model, optim = Pair(), AdamConfig().init()
    model = train(optim, model, range(2))
    fresh = Pair(5)
    again = AdamConfig().init()
    fresh = train(again, fresh, range(1))
    fresh.load_record(model.into_record())
    again.load_record(optim.to_record(), strict=True)
    model, fresh = train(optim, model, range(2, 4)), train(again, fresh, range(2, 4))
    for path, array in values(model).items():
        np.testing.assert_array_equal(array, values(fresh)[path])


def test_a_clone_goes_on_by_itself() -> None:
    model, optim = Pair(), AdamConfig().init()
    model = train(optim, model, range(2))
    copy, again = model.clone(), optim.clone()
    before = again.into_bytes()
    model = train(optim, model, range(2, 4))
    assert again.into_bytes() == before
    copy = train(again, copy, range(2, 4))
    assert again.into_bytes() == optim.into_bytes()
    assert all(np.array_equal(array, values(copy)[path]) for path, array in values(model).items())


@pytest.mark.parametrize("name", ALL)
def test_a_pickled_optimizer_goes_on(name: str) -> None:
    model, optim = Pair(), ALL[name].init().with_group(LAYER_A, Smoothed(), GradientClipping.Value(0.5))
    model = train(optim, model, range(2))
    copy, again = pickle.loads(pickle.dumps((model, optim)))
    model, copy = train(optim, model, range(2, 4)), train(again, copy, range(2, 4))
    assert again.into_bytes() == optim.into_bytes()
    assert all(np.array_equal(array, values(copy)[path]) for path, array in values(model).items())
    assert copy_module.deepcopy(optim).into_bytes() == optim.into_bytes()


def test_a_state_of_another_dtype_is_cast_to_the_parameters() -> None:
    wide, optim = Single(np.ones(3, np.float64)), AdamConfig().init()
    wide = train(optim, wide, range(2))
    narrow = Single(np.ones(3, np.float32))
    narrow.weight.id = wide.weight.id
    again = AdamConfig().init().load_record(optim.to_record())
    train(again, narrow, range(2, 3))
    record = again.to_record()
    assert {entry.dtype for entry in record._entries.values()} == {"f32"}
    assert {s.value for key, s in record.scalars().items() if "time" in key} == {3}


# ---- clipping


def test_clipping_is_told() -> None:
    optim = SgdConfig().init()
    assert not optim.has_gradient_clipping() and optim.grad_clipping() is None
    optim.with_grad_clipping(GradientClippingConfig.Norm(2.0))
    assert optim.has_gradient_clipping() and optim.grad_clipping() == GradientClipping.Norm(2.0)
    assert (
        SgdConfig()
        .init()
        .with_group(LAYER_A, SgdConfig().build(), GradientClipping.Value(1.0))
        .has_gradient_clipping()
    )


def test_a_global_norm_is_that_of_all_parameters_whatever_their_rule() -> None:
    clipping = GradientClipping.GlobalNorm(1.0)
    optim = ModuleOptimizer(SgdConfig().build(), clipping).with_group(LAYER_A, SgdConfig().build(), clipping)
    model = Pair()
    before = values(model)
    model = train(optim, model, range(1), 1.0)
    moved = [(array - before[path]).ravel() for path, array in values(model).items()]
    assert np.linalg.norm(np.concatenate(moved)) == pytest.approx(1.0, rel=1e-5)


def test_a_short_gradient_is_not_lengthened_by_a_global_norm() -> None:
    model = Single(np.zeros(2, np.float32))
    optim = ModuleOptimizer(SgdConfig().build(), GradientClipping.GlobalNorm(5.0))
    optim.step(1.0, model, given(model, {"weight": np.array([3.0, 3.9], np.float32)}))
    np.testing.assert_array_equal(model.weight.val().numpy(), -np.array([3.0, 3.9], np.float32))


def test_a_global_norm_does_not_overflow() -> None:
    model = Single(np.zeros(2, np.float32))
    optim = ModuleOptimizer(SgdConfig().build(), GradientClipping.GlobalNorm(1.0))
    optim.step(1.0, model, given(model, {"weight": np.array([3e38, 3e38], np.float32)}))
    np.testing.assert_allclose(model.weight.val().numpy(), -(0.5**0.5), rtol=1e-6)


@pytest.mark.parametrize("clipping", [GradientClipping.Norm(1.0), GradientClipping.GlobalNorm(1.0)])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_norm_that_is_not_finite(clipping: GradientClipping, bad: float) -> None:
    def gradients(model: Pair) -> GradientsParams:
        arrays = {path: np.ones_like(array) for path, array in values(model).items()}
        arrays["layer_b.bias"][1] = bad
        return given(model, arrays)

    model, optim = Pair(), ModuleOptimizer(AdamConfig().build(), clipping)
    before, grads = values(model), gradients(model)
    with pytest.raises(NonFiniteGradientError, match=f"is {bad}; no parameter was changed") as info:
        optim.step(0.1, model, grads)
    assert not math.isfinite(info.value.norm) and len(grads) == 4
    model = optim.step(0.1, model, grads, on_nonfinite="skip")
    assert grads.is_empty() and len(optim.to_record()) == 0
    assert all(np.array_equal(array, before[path]) for path, array in values(model).items())
    model = optim.step(0.1, model, gradients(model), on_nonfinite="propagate")
    assert np.isnan(values(model)["layer_b.bias"]).any()


def test_without_clipping_by_norm_nothing_is_looked_at() -> None:
    model = Single(np.ones(2, np.float32))
    optim = ModuleOptimizer(SgdConfig().build(), GradientClipping.Value(1.0))
    optim.step(1.0, model, given(model, {"weight": np.array([math.inf, math.nan], np.float32)}))
    found = model.weight.val().numpy()
    assert found[0] == 0.0 and np.isnan(found[1])


# ---- custom rules


class Average(RecordState):
    steps: UInt
    mean: Tensor


class Smoothed(Optimizer[Average]):
    """A custom rule in a few lines."""

    State = Average

    def step(self, lr: float, tensor: Tensor, grad: Tensor, state: Average | None) -> tuple[Tensor, Average]:
        mean = grad if state is None else state.mean * 0.5 + grad * 0.5
        return tensor - mean * lr, Average(1 if state is None else state.steps + 1, mean)


class Forgetful(Optimizer[Any]):
    def step(self, lr: float, tensor: Tensor, grad: Tensor, state: Any) -> tuple[Tensor, None]:
        assert state is None
        return tensor - grad.sign() * lr, None


def test_a_custom_rule_serves_groups_and_records_as_any_other() -> None:
    def build() -> ModuleOptimizer:
        return AdamConfig().init().with_group(LAYER_A, Smoothed())

    model, optim = Pair(), build()
    model = train(optim, model, range(2))
    record = optim.to_record()
    key, names = model.layer_a.weight.id.val(), record.keys()
    assert [f"{key}.mean"] == [name for name in names if str(key) in name]
    assert record.scalars()[f"{key}.steps"].value == 2
    copy, again = model.clone(), build().from_bytes(optim.into_bytes(), strict=True)
    model, copy = train(optim, model, range(2, 4)), train(again, copy, range(2, 4))
    for path, array in values(model).items():
        np.testing.assert_array_equal(array, values(copy)[path])


def test_a_custom_rule_that_remembers_nothing_has_no_record() -> None:
    model, optim = Single(np.ones(2, np.float32)), ModuleOptimizer.from_optimizer(Forgetful())
    model = optim.step(0.25, model, given(model, {"weight": np.array([3.0, -2.0], np.float32)}))
    model = optim.step(0.25, model, given(model, {"weight": np.array([3.0, -2.0], np.float32)}))
    assert model.weight.val().tolist() == [0.5, 1.5]
    assert optim.to_record().is_empty() and not optim.to_record().scalars()


def test_a_rule_that_fails_leaves_all_parameters_as_they_were() -> None:
    class Failing(Smoothed):
        def step(self, lr: float, tensor: Tensor, grad: Tensor, state: Average | None) -> Any:
            if tensor.ndim == 1:
                raise KeyError("bias")
            return super().step(lr, tensor, grad, state)

    model, optim = Pair(), SgdConfig().init().with_group(LAYER_A, Failing())
    before, grads = values(model), random_gradients(Pair(), 0)
    grads = random_gradients(model, 0)
    with pytest.raises(KeyError, match="bias"):
        optim.step(0.1, model, grads)
    assert all(np.array_equal(array, before[path]) for path, array in values(model).items())
    assert len(optim.to_record()) == 0 and len(grads) == 4


@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        ((Tensor([1.0]), None), ShapeError, r"weight: the optimizer made f32 of shape \(1,\) of a parameter"),
        ((Tensor([1.0, 1.0]).cast("f64"), None), ShapeError, "made f64 of shape"),
        ((Tensor([1.0, 1.0]), Average(1, Tensor([1.0]))), TypeError, "its State is NoState"),
    ],
)
def test_results_that_a_custom_rule_must_not_give(result: Any, error: type[Exception], text: str) -> None:
    class Wrong(Optimizer[Any]):
        def step(self, lr: float, tensor: Tensor, grad: Tensor, state: Any) -> Any:
            return result

    model = Single(np.ones(2, np.float32))
    with pytest.raises(error, match=text):
        ModuleOptimizer(Wrong()).step(0.1, model, random_gradients(model, 0))
    assert model.weight.val().tolist() == [1.0, 1.0]


def test_a_rule_without_a_step_says_what_it_needs() -> None:
    model = Single(np.ones(2, np.float32))
    with pytest.raises(
        NotImplementedError, match=r"Optimizer needs a method step\(lr, tensor, grad, state\)"
    ):
        ModuleOptimizer(Optimizer()).step(0.1, model, random_gradients(model, 0))


# ---- what is refused


@pytest.mark.parametrize("lr", [-0.1, math.nan, math.inf])
def test_a_rate_must_be_finite_and_not_negative(lr: float) -> None:
    model = Single(np.ones(2, np.float32))
    with pytest.raises(ValueError, match="lr must be finite and not negative"):
        SgdConfig().init().step(lr, model, random_gradients(model, 0))


@pytest.mark.parametrize("lr", ["0.1", None, True])
def test_a_rate_must_be_a_number(lr: Any) -> None:
    model = Single(np.ones(2, np.float32))
    with pytest.raises(TypeError, match="lr must be a number or the rates"):
        SgdConfig().init().step(lr, model, random_gradients(model, 0))


def test_gradients_must_fit_their_parameters_and_nothing_changes() -> None:
    model = Pair()
    for optim in (SgdConfig().init(), AdamConfig().init().with_group(LAYER_A, SgdConfig().build())):
        before = values(model)
        grads = random_gradients(model, 0)
        grads.register(model.layer_b.bias.id, Tensor([1.0]).inner())
        with pytest.raises(ShapeError):
            optim.step(0.1, model, grads)
        grads = random_gradients(model, 0)
        grads.register(model.layer_b.bias.id, Tensor.ones((4,), dtype="f64").inner())
        with pytest.raises(DTypeError):
            optim.step(0.1, model, grads)
        assert all(np.array_equal(array, before[path]) for path, array in values(model).items())
        assert len(optim.to_record()) == 0


def test_muon_refuses_what_is_no_matrix_before_anything_changes() -> None:
    model, optim = Pair(), MuonConfig().init()
    before = values(model)
    with pytest.raises(ValueError, match=r"of shape \(4,\) is no matrix"):
        train(optim, model, range(1))
    assert all(np.array_equal(array, before[path]) for path, array in values(model).items())


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ModuleOptimizer(SgdConfig()), TypeError, "optim must be an Optimizer"),  # type: ignore[arg-type]
        (lambda: ModuleOptimizer(LBFGSConfig().init()), TypeError, "optim must be an Optimizer"),  # type: ignore[arg-type]
        (
            lambda: SgdConfig().init().with_group(LAYER_A, SgdConfig().init()),  # type: ignore[arg-type]
            TypeError, "give what build",
        ),
        (
            lambda: SgdConfig().init().with_group("layer_a", SgdConfig().build()),  # type: ignore[arg-type]
            TypeError, "group must be a ParamGroup, got 'layer_a'",
        ),
        (
            lambda: SgdConfig().init().with_grad_clipping(1.0),  # type: ignore[arg-type]
            TypeError, "grad_clipping must be a GradientClipping or None, got 1.0",
        ),
        (
            lambda: SgdConfig().init().step(0.1, Pair(), {}),  # type: ignore[arg-type]
            TypeError, "grads must be GradientsParams",
        ),
        (
            lambda: SgdConfig().init().step_multi(0.1, Pair(), GradientsParams()),  # type: ignore[arg-type]
            TypeError, "grads must be MultiGradientsParams",
        ),
        (
            lambda: SgdConfig().init().load_record(Pair().into_record()),  # type: ignore[arg-type]
            TypeError, "record must be a OptimizerRecord, got ModuleRecord",
        ),
        (
            lambda: SgdConfig().init().step(0.1, [1], GradientsParams()),  # type: ignore[type-var]
            TypeError, "module must be a Module",
        ),
        (
            lambda: SgdConfig().init().step(0.1, Pair(), GradientsParams(), on_nonfinite="stop"),  # type: ignore[arg-type]
            ValueError, "on_nonfinite must be one of",
        ),
        (
            lambda: train(SgdConfig().init(), Pair(), range(1), ModuleLearningRate([(LAYER_A, 0.1)])),
            ValueError, "lr: no group has the parameter layer_b.weight",
        ),
    ],
)  # fmt: skip
def test_arguments_that_are_none(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_momentum_alone_makes_a_record_of_sgd() -> None:
    model, plain = Single(np.ones(2, np.float32)), SgdConfig().init()
    assert plain.to_record().is_empty() and not plain.to_record().scalars()
    train(plain, model, range(1))
    key = model.weight.id.val()
    assert list(plain.to_record().scalars()) == [f"{key}.__rank"] and plain.to_record().is_empty()
    heavy = SgdConfig(momentum=MomentumConfig()).init()
    train(heavy, model, range(1))
    assert heavy.to_record().keys() == [f"{key}.momentum.velocity"]


def test_a_module_that_holds_itself_is_an_error() -> None:
    model = Pair()
    grads = random_gradients(model, 0)
    model.layer_b.owner = model  # type: ignore[attr-defined]
    with pytest.raises(RecursionError, match="does one hold itself"):
        SgdConfig().init().step(0.1, model, grads)


def test_copies_of_a_module_in_a_module_are_refused_as_they_have_its_ids() -> None:
    model = Pair()
    model.layer_b = copy_module.deepcopy(model.layer_a)
    with pytest.raises(ValueError, match=r"layer_a\.weight and layer_b\.weight have one id"):
        step_on_loss(SgdConfig().init(), 0.1, model, X)
    for _, param in model.layer_b.named_params():
        param.id = ParamId.new()
    before = values(model)
    step_on_loss(SgdConfig().init(), 0.1, model, X)
    assert all((new != old).any() for new, old in zip(values(model).values(), before.values(), strict=True))


def test_a_frozen_copy_may_have_the_ids_of_what_it_was_copied_from() -> None:
    model = Pair()
    model.layer_b = model.layer_a.clone().no_grad()
    before = values(model)
    step_on_loss(SgdConfig().init(), 0.1, model, X)
    assert (values(model)["layer_a.weight"] != before["layer_a.weight"]).any()
    assert (values(model)["layer_b.weight"] == before["layer_b.weight"]).all()
