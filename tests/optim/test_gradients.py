"""Gradients by parameter, their sums, their limits."""

from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.config import Config
from burnpy.errors import AutodiffError, ConfigError, ShapeError
from burnpy.module import ParamId
from burnpy.optim import (
    AdafactorConfig,
    AdaGradConfig,
    AdamConfig,
    AdamWConfig,
    AdanConfig,
    GradientClipping,
    GradientClippingConfig,
    GradientsAccumulator,
    GradientsParams,
    LambConfig,
    LionConfig,
    MomentumConfig,
    MultiGradientsParams,
    MuonConfig,
    RmsPropConfig,
    SgdConfig,
    WeightDecayConfig,
)
from burnpy.optim.parameters import parameters_of
from tests.optim.models import Affine, Pair, Single, affine, given, random_gradients

X = Tensor.ones((2, 4))
G = np.array(
    [[0.6294, 0.0940, 0.8176, 0.8824, 0.5228, 0.4310], [0.7152, 0.9559, 0.7893, 0.5684, 0.5939, 0.8883]],
    np.float32,
)


def backward(model: Any) -> Any:
    return model(X).sum().backward()


def test_a_linear_map_has_two_gradients() -> None:
    model = affine(np.random.default_rng(0))
    grads = GradientsParams.from_grads(backward(model), model)
    assert (len(grads), grads.len(), grads.is_empty(), repr(grads)) == (2, 2, False, "GradientsParams(2)")
    assert set(grads) == {model.weight.id, model.bias.id} and model.bias.id in grads
    weight = grads.get(model.weight.id)
    assert weight is not None and not weight.is_autodiff() and weight.shape == (4, 4)
    assert GradientsParams.new().is_empty()


def test_gradients_are_moved_out_and_several_modules_are_served() -> None:
    model = Pair()
    found = backward(model)
    first = GradientsParams.from_module(found, model.layer_a)
    second = GradientsParams.from_grads(found, model.layer_b)
    assert set(first) == {model.layer_a.weight.id, model.layer_a.bias.id}
    assert set(second) == {model.layer_b.weight.id, model.layer_b.bias.id}
    assert GradientsParams.from_grads(found, model).is_empty()


def test_some_ids_alone() -> None:
    model = Pair()
    found = backward(model)
    ids = [model.layer_b.bias.id, ParamId(5)]
    assert set(GradientsParams.from_params(found, model, ids)) == {model.layer_b.bias.id}
    assert len(GradientsParams.from_grads(found, model)) == 3


def test_frozen_parameters_have_no_gradient() -> None:
    model = Pair()
    model.layer_a.freeze()
    assert set(GradientsParams.from_grads(backward(model), model)) == set(parameters_of(model.layer_b).ids)


def test_get_remove_register() -> None:
    grads, id = GradientsParams(), ParamId(3)
    grads.register(id, Tensor([1.0]).inner())
    grads.register(id, Tensor([2.0]).inner())
    held = grads.get(id)
    assert held is not None and held.item() == 2.0 and len(grads.to_device(X.device, Pair())) == 1
    removed = grads.remove(id)
    assert removed is not None and removed.item() == 2.0
    assert (grads.get(id), grads.remove(id), id in grads) == (None, None, False)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda g: g.register(ParamId(1), Tensor([1.0]).require_grad() * 2.0), AutodiffError, "is tracked"),
        (lambda g: g.register(ParamId(1), [1.0]), TypeError, "tensor must be a Tensor"),
        (lambda g: g.register(1, Tensor([1.0])), TypeError, "id must be a ParamId, got 1"),
        (lambda g: g.get("weight"), TypeError, "id must be a ParamId, got 'weight'"),
        (
            lambda g: g.from_grads(Tensor([1.0]).require_grad().sum().backward(), 3),
            TypeError,
            "must be a Module",
        ),
    ],
)
def test_arguments_that_are_none(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(GradientsParams())


def test_sums_over_batches_and_what_is_kept() -> None:
    model, sums = Pair(), GradientsAccumulator.new()
    ones = np.ones(4, np.float32)
    sums.accumulate(model, given(model, {"layer_a.bias": ones}))
    grads = given(model, {"layer_a.bias": ones, "layer_b.bias": ones * 3})
    grads.register(ParamId(9), Tensor([1.0]).inner())
    sums.accumulate(model, grads)
    assert grads.is_empty()
    total = sums.grads()
    assert set(total) == {model.layer_a.bias.id, model.layer_b.bias.id} and sums.grads().is_empty()
    found = [total.get(layer.bias.id) for layer in (model.layer_a, model.layer_b)]
    assert [tensor.tolist()[0] for tensor in found if tensor is not None] == [2.0, 3.0]


def test_sums_of_several_shapes_are_refused() -> None:
    model, sums = Pair(), GradientsAccumulator()
    sums.accumulate(model, given(model, {"layer_a.bias": np.ones(4, np.float32)}))
    with pytest.raises(ShapeError, match=r"shapes \(4,\) and \(1,\)"):
        sums.accumulate(model, given(model, {"layer_a.bias": np.ones(1, np.float32)}))
    kept = sums.grads().get(model.layer_a.bias.id)
    assert kept is not None and kept.tolist() == [1.0] * 4


def test_the_sum_over_replicas_begins_where_the_id_says() -> None:
    def replica(**gradients: float) -> tuple[GradientsParams, Any]:
        grads = GradientsParams()
        for name, value in gradients.items():
            grads.register(ParamId(int(name[1:])), Tensor([value]).inner())
        return grads, X.device

    multi = MultiGradientsParams([replica(p7=1.0), replica(p8=10.0, p7=2.0), replica(p8=20.0)])
    for id, expected in ((7, 3.0), (8, 30.0)):
        found = multi.remove(ParamId(id))
        assert found is not None and found[0].item() == expected and found[1] == X.device
        assert multi.remove(ParamId(id)) is None
    assert MultiGradientsParams().remove(ParamId(1)) is None


# ---- limits


def test_clipping_as_in_burns_tests() -> None:
    grad = Tensor.from_numpy(G).inner()
    assert GradientClipping.Value(0.5).clip_gradient(grad).max().item() <= 0.5
    by_norm = GradientClipping.Norm(2.2).clip_gradient(grad)
    assert by_norm.max().item() <= 0.88
    expected = [
        [0.57375723, 0.085689828, 0.74531919, 0.80439043, 0.47658134, 0.39289698],
        [0.651972, 0.87139261, 0.71952111, 0.51815003, 0.54139566, 0.80976886],
    ]
    np.testing.assert_allclose(by_norm.numpy(), expected, rtol=1e-6)
    short = np.array([[0.3, 0.4, 0.5, 0.2], [0.1, 0.6, 0.3, 0.4]], np.float32)
    kept = GradientClippingConfig.Norm(2.2).init().clip_gradient(Tensor.from_numpy(short).inner())
    np.testing.assert_array_equal(kept.numpy(), short)


@pytest.mark.parametrize(("gradient", "expected"), [([300.0], 1.0), ([60000.0, 60000.0], 0.70710678)])
def test_a_long_gradient_in_half_precision_is_clipped(gradient: list[float], expected: float) -> None:
    found = GradientClipping.Norm(1.0).clip_gradient(Tensor(gradient).inner().cast("f16"))
    assert found.dtype == "f16"
    np.testing.assert_allclose(found.numpy().astype(np.float64), expected, atol=1e-3)


@pytest.mark.parametrize("kind", ["Value", "Norm", "GlobalNorm"])
def test_a_limit_is_rounded_and_written_as_burn_does(kind: str) -> None:
    config = SgdConfig(gradient_clipping=getattr(GradientClippingConfig, kind)(0.1))
    clipping: Any = config.gradient_clipping
    assert clipping.value == np.float32(0.1) and f'"{kind}": 0.1' in str(config)
    assert SgdConfig.load_binary(str(config).encode()) == config
    assert config.init().grad_clipping() == getattr(GradientClipping, kind)(0.1)


@pytest.mark.parametrize("limit", ["1", None])
def test_a_limit_must_be_a_number(limit: Any) -> None:
    with pytest.raises(ValueError, match="value must be a number"):
        GradientClippingConfig.Norm(limit)


# ---- configurations


BAD: list[tuple[Config, str]] = [
    (AdamConfig(beta_1=1.0), "AdamConfig: beta_1 must lie in [0, 1), got 1.0"),
    (AdamConfig(beta_2=-0.5), "beta_2 must lie in [0, 1), got -0.5"),
    (AdamConfig(epsilon=-1.0), "epsilon must be finite and not negative, got -1.0"),
    (AdamConfig(weight_decay=WeightDecayConfig(-1.0)), "penalty must be finite and not negative, got -1.0"),
    (AdamWConfig(beta_1=2.0), "beta_1"),
    (AdamWConfig(weight_decay=-0.5), "weight_decay"),
    (AdaGradConfig(lr_decay=-1.0), "lr_decay"),
    (RmsPropConfig(alpha=1.0), "alpha"),
    (RmsPropConfig(momentum=-1.0), "momentum"),
    (AdanConfig(beta_3=1.0), "beta_3"),
    (LionConfig(beta_1=1.5), "beta_1"),
    (LambConfig(epsilon=float("nan")), "epsilon"),
    (MuonConfig(epsilon=-1.0), "epsilon"),
    (MuonConfig(momentum=MomentumConfig(momentum=-1.0)), "momentum"),
    (SgdConfig(momentum=MomentumConfig(dampening=float("inf"))), "dampening"),
    (AdafactorConfig(epsilon_1=0.0), "epsilon_1 must be finite and positive, got 0.0"),
    (AdafactorConfig(epsilon_2=-1.0), "epsilon_2"),
    (AdafactorConfig(clip_threshold=float("inf")), "clip_threshold"),
    (AdafactorConfig(decay_rate=0.0), "decay_rate must be finite and negative, got 0.0"),
    (AdafactorConfig(weight_decay=-0.5), "weight_decay"),
]


@pytest.mark.parametrize(("config", "text"), BAD, ids=lambda value: value if isinstance(value, str) else None)
def test_numbers_that_make_no_sense_are_refused_when_the_optimizer_is_built(config: Any, text: str) -> None:
    for make in (config.build, config.init):
        with pytest.raises(ConfigError) as info:
            make()
        assert text in str(info.value)


def test_what_burn_takes_and_makes_sense_is_taken() -> None:
    AdamConfig(epsilon=0.0).init()
    SgdConfig(momentum=MomentumConfig(momentum=0.0, nesterov=True)).init()
    assert SgdConfig.new().with_momentum(MomentumConfig.new()).momentum == MomentumConfig()
    assert SgdConfig(momentum=MomentumConfig()).with_momentum(None) == SgdConfig()


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (SgdConfig.pytorch(), SgdConfig()),
        (
            SgdConfig.pytorch(momentum=0.9, weight_decay=0.1, nesterov=True),
            SgdConfig(
                weight_decay=WeightDecayConfig(0.1),
                momentum=MomentumConfig(momentum=0.9, dampening=0.0, nesterov=True),
            ),
        ),
        (AdamConfig.pytorch(), AdamConfig(epsilon=1e-8)),
        (AdamConfig.pytorch(amsgrad=True), AdamConfig(epsilon=1e-8, amsgrad=True)),
        (AdamWConfig.pytorch(), AdamWConfig(epsilon=1e-8, weight_decay=1e-2)),
        (AdaGradConfig.pytorch(), AdaGradConfig(epsilon=1e-10)),
        (RmsPropConfig.pytorch(), RmsPropConfig(epsilon=1e-8, momentum=0.0)),
        (MuonConfig.pytorch(), MuonConfig(weight_decay=WeightDecayConfig(0.1))),
    ],
)
def test_presets_have_the_defaults_of_pytorch(config: Config, expected: Config) -> None:
    assert config == expected


# ---- the parameters of a module


def test_the_parameters_of_a_module_are_found_once() -> None:
    model = Pair()
    found = parameters_of(model)
    assert parameters_of(model) is found
    assert found.paths == ["layer_a.weight", "layer_a.bias", "layer_b.weight", "layer_b.bias"]
    model.note = 3  # type: ignore[attr-defined]
    assert parameters_of(model) is found
    model.layer_a = affine(np.random.default_rng(1))
    assert parameters_of(model) is not found


@pytest.mark.parametrize("change", ["id", "list", "reparam", "dict"])
def test_changes_below_are_seen(change: str) -> None:
    model: Any = Pair()
    model.more, model.table = [], {}
    found = parameters_of(model)
    if change == "id":
        model.layer_b.bias.id = ParamId(1)
    elif change == "list":
        model.more.append(Single(np.ones(1, np.float32)))
    elif change == "dict":
        model.table["extra"] = Single(np.ones(1, np.float32))
    else:
        model.layer_a.weight.reparam = Reparam()
    again = parameters_of(model)
    assert again is not found and (again.keys != found.keys or again.paths != found.paths)


class Reparam(Affine):
    """A change of a parameter with parameters of its own."""

    name = "lora"

    def __init__(self) -> None:
        super().__init__(np.ones((4, 1), np.float32), np.ones(1, np.float32))

    def apply(self, base: Tensor) -> Tensor:
        return base


def test_a_module_that_is_gone_is_forgotten() -> None:
    import gc

    from burnpy.optim.parameters import _known

    model = Pair()
    parameters_of(model)
    key = id(model)
    assert key in _known
    random_gradients(model, 0)
    del model
    gc.collect()
    assert key not in _known
