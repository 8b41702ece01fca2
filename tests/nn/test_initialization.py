"""First values of layers: how large, and when they are made."""

import math
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor, manual_seed, nn
from burnpy.module import Initializer, Lora, Param

XAVIER = Initializer.XavierNormal(1.0)
FAN_OUT = Initializer.KaimingUniform(gain=1.0, fan_out_only=True)
# Configurations, and the numbers of inputs of one output; one over its root is the bound of the default.
FANS: list[tuple[Any, int, int]] = [
    (nn.LinearConfig(64, 400), 64, 64),
    (nn.LinearConfig(64, 400, layout=nn.LinearLayout.Col), 400, 64),  # as Burn: that of the transpose
    (nn.Conv1dConfig(8, 400, 5, groups=2), 20, 20),
    (nn.Conv2dConfig((4, 400), (3, 5)), 60, 60),
    (nn.Conv2dConfig((4, 400), (3, 5), groups=2), 30, 30),
    (nn.Conv3dConfig((4, 400), (3, 1, 2)), 24, 24),
    (nn.DeformConv2dConfig((4, 400), (3, 5), weight_groups=2), 30, 30),
    (nn.ConvTranspose1dConfig((80, 400), 3, groups=2), 600, 600),
    (nn.ConvTranspose2dConfig((4, 400), (3, 3)), 3600, 3600),
    (nn.ConvTranspose3dConfig((4, 400), (1, 2, 2)), 1600, 1600),
]
NAMES = [type(config).__name__ for config, _, _ in FANS]


def _all(param: Param | None) -> Any:
    assert param is not None
    return param.val().numpy()


@pytest.mark.parametrize(("config", "weight", "bias"), FANS, ids=NAMES)
def test_the_default_reaches_one_over_the_root_of_the_inputs(config: Any, weight: int, bias: int) -> None:
    manual_seed(1)
    module = config.init()
    for values, fan in ((_all(module.weight), weight), (_all(module.bias), bias)):
        assert 0.97 / math.sqrt(fan) < np.abs(values).max() <= 1 / math.sqrt(fan)
        assert abs(values.mean()) < 0.1 / math.sqrt(fan)


@pytest.mark.parametrize(
    ("config", "std"),
    [
        (nn.LinearConfig(60, 40, initializer=XAVIER), math.sqrt(2 / 100)),
        (nn.Conv2dConfig((20, 60), (3, 3), groups=2, initializer=XAVIER), math.sqrt(2 / (90 + 270))),
        (nn.Conv1dConfig(20, 60, 3, initializer=XAVIER, bias=False), math.sqrt(2 / (60 + 180))),
        (nn.EmbeddingConfig(60, 50), 1.0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_fans_are_those_of_input_and_output(config: Any, std: float) -> None:
    manual_seed(2)
    assert _all(config.init().weight).std() == pytest.approx(std, rel=0.05)


@pytest.mark.parametrize("initializer", [XAVIER, FAN_OUT], ids=lambda value: type(value).__name__)
def test_a_missing_fan_is_told_when_the_value_is_needed(initializer: Initializer) -> None:
    conv = nn.Conv1dConfig(2, 3, 3, initializer=initializer).init()
    conv.weight.val()
    with pytest.raises(ValueError, match="fan_out"):
        _all(conv.bias)
    transposed = nn.ConvTranspose2dConfig((2, 3), (3, 3), initializer=initializer).init()
    with pytest.raises(ValueError, match="fan_out"):
        transposed.weight.val()


@pytest.mark.parametrize("initializer", [None, Initializer.KaimingNormal(1.0), Initializer.XavierNormal(1.0)])
def test_a_layer_without_inputs_gives_its_bias_which_is_finite(initializer: Initializer | None) -> None:
    config = nn.LinearConfig(0, 2) if initializer is None else nn.LinearConfig(0, 2, initializer=initializer)
    out = config.init()(Tensor.zeros((3, 0)))
    assert out.shape == (3, 2) and np.isfinite(out.numpy()).all()
    assert nn.LinearConfig(0, 0).init()(Tensor.zeros((3, 0))).shape == (3, 0)


def test_a_bias_of_two_axes_has_both_fans() -> None:
    assert _all(nn.Conv2dConfig((2, 3), (3, 3), initializer=XAVIER).init().bias).shape == (3,)


@pytest.mark.parametrize(
    "config",
    [nn.LayerNormConfig(3), nn.BatchNormConfig(3), nn.GroupNormConfig(1, 3), nn.InstanceNormConfig(3)],
    ids=lambda value: type(value).__name__,
)
def test_normalisations_begin_with_factors_1_and_shifts_0(config: Any) -> None:
    module = config.init()
    assert module.gamma.val().tolist() == [1, 1, 1] and module.beta.val().tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("config", "absent"),
    [
        (nn.LayerNormConfig(3, bias=False), ["beta"]),
        (nn.GroupNormConfig(1, 3, affine=False), ["gamma", "beta"]),
        (nn.InstanceNormConfig(3, affine=False), ["gamma", "beta"]),
        (nn.LinearConfig(2, 3, bias=False), ["bias"]),
        (nn.Conv2dConfig((2, 3), (1, 1), bias=False), ["bias"]),
        (nn.ConvTranspose1dConfig((2, 3), 1, bias=False), ["bias"]),
        (nn.DeformConv2dConfig((2, 3), (1, 1), bias=False), ["bias"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_configuration_leaves_out_is_no_parameter(config: Any, absent: list[str]) -> None:
    module = config.init()
    assert all(getattr(module, name) is None for name in absent)
    assert not {path for path, _ in module.named_params()} & set(absent)


def test_the_same_seed_gives_the_same_weights_whatever_is_used_first() -> None:
    def weights(*, backwards: bool) -> list[Any]:
        manual_seed(3)
        layers = [nn.LinearConfig(3, 4).init(), nn.LinearConfig(3, 4).init()]
        for layer in reversed(layers) if backwards else layers:
            layer.weight.val()
        return [layer.weight.val().tolist() for layer in layers]

    assert weights(backwards=False) == weights(backwards=True)


def test_counting_makes_no_value() -> None:
    conv = nn.Conv2dConfig((2, 3), (3, 3)).init()
    assert (conv.num_params(), str(conv).startswith("Conv2d"), conv.devices()[0].is_autodiff()) == (
        57, True, True,
    )  # fmt: skip
    assert not conv.weight.is_initialized()


def test_low_rank_factors_of_an_undrawn_col_layer_fit_its_form_in_memory() -> None:
    linear = nn.LinearConfig(3, 5, layout=nn.LinearLayout.Col).init().apply_lora(Lora(rank=2, alpha=1.0))
    assert {path: leaf.val().shape for path, leaf in linear.named_params()} == {
        "weight": (3, 5), "weight.lora.a": (3, 2), "weight.lora.b": (2, 5), "bias": (5,),
    }  # fmt: skip
    assert linear(Tensor.ones((1, 3))).shape == (1, 5)
