"""Values of activations by hand; what they refuse; how they behave in training; the choice of one."""

import json
import math
from typing import Any

import numpy as np
import pytest

import burnpy as bp
from burnpy import Tensor, nn
from burnpy.errors import BurnpyError, ConfigError, DTypeError, ShapeError
from burnpy.nn import ActivationConfig
from burnpy.tensor.activation import softmax
from tests.nn.golden_modules import config_of


def _close(found: Tensor, expected: Any, tolerance: float = 5e-5) -> None:
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("module", "x", "expected"),
    [
        (nn.Gelu(), [0.5447], [0.3851]),
        (nn.Gelu.new_approximate(), [-1.0, 0, 1], [-0.158808, 0, 0.841192]),
        (nn.Gelu(approximate=True), [0.5, -0.5, 2], [0.345714, -0.154286, 1.954598]),
        (nn.EluConfig().init(), [-0.2507], [-0.221744]),
        (nn.CeluConfig().init(), [-0.5], [-0.393469]),
        (nn.CeluConfig(alpha=2.0).init(), [-2.0], [-1.264241]),
        (nn.CeluConfig(alpha=-1.0).init(), [-1.0, 0, 1], [-1.7182819, 0, 1]),
        (nn.Selu(), [0.0, 1, -1, 2, -2, 0.5], [0, 1.0507, -1.1113, 2.1014, -1.5202, 0.5254]),
        (nn.SiLU(), [1.0, 2, 3, 4], [0.73106, 1.76159, 2.85772, 3.92806]),
        (nn.Mish(), [-0.4240, 0.7218], [-0.19709, 0.58235]),
        (nn.HardSigmoidConfig().init(), [0.4410, -0.2507], [0.5882, 0.44986]),
        (nn.HardSwish(), [1.0, 3, -3], [0.6666667, 3, 0]),
        (nn.SoftplusConfig().init(), [0.0, 1, -1, 100, 1000], [0.6931, 1.3133, 0.3133, 100, 1000]),
        (nn.SoftplusConfig(beta=2.0).init(), [0.0, 1], [0.3466, 1.0635]),
        (nn.SoftplusConfig(threshold=10.0).init(), [5.0], [5.0067153]),
        (nn.SoftplusConfig(threshold=1.0).init(), [5.0], [5]),
        (nn.LogSigmoid(), [1.0, 7, 13, -3], [-0.3132617, -9.114665e-4, -2.26e-6, -3.0485873]),
        (nn.ShrinkConfig().init(), [0.5, -0.5, -1, 8], [0, 0, -0.5, 7.5]),
        (nn.HardtanhConfig(min_val=1.0, max_val=1.0).init(), [0.0, 2], [1, 1]),
        (
            nn.GLU(-1),
            [-0.5710, -1.3416, 1.9128, -0.8257, -0.1331, -1.4804, -0.6281, -0.6115],
            [-0.2665, -0.2487, 0.6656, -0.2904],
        ),
    ],
)
def test_an_activation_by_hand(module: nn.Activation, x: list[float], expected: list[float]) -> None:
    _close(module(Tensor(x)), expected)


def test_softmax_by_hand() -> None:
    _close(softmax(Tensor([1.0, 2, 3]), 0), [0.09003, 0.24473, 0.66524])
    rows = softmax(Tensor([[1.0, 7], [13, -3]]), 1)
    _close(rows, [[2.4726e-3, 0.9975274], [1, 1.1254e-7]], 1e-4)


@pytest.mark.parametrize(("bias", "expected"), [(False, [8.5732, 56.2189]), (True, [11.8909, 63.9785])])
def test_swiglu_by_hand(bias: bool, expected: list[float]) -> None:
    glu = nn.SwiGluConfig(3, 3, bias=bias, initializer=nn.Initializer.Constant(0.5)).init()
    _close(glu(Tensor([[1.0, 2, 3], [4, 5, 6]])), [[value] * 3 for value in expected])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.CeluConfig(alpha=0.0), "alpha must be finite and not 0, got 0.0"),
        (lambda: nn.CeluConfig(alpha=math.inf), "alpha must be finite and not 0, got inf"),
        (
            lambda: nn.HardtanhConfig(min_val=1.0, max_val=0.5),
            "min_val must be at most max_val, got 1.0 and 0.5",
        ),
        (lambda: nn.HardtanhConfig(max_val=math.nan), "must be finite, got -1.0 and nan"),
        (lambda: nn.RReluConfig(lower=0.5), "lower must be at most upper, got lower 0.5 and upper 0.333"),
        (lambda: nn.PReluConfig(num_parameters=0), "num_parameters"),
        (lambda: nn.EluConfig(alpha="a"), "alpha must be a number, got 'a'"),  # type: ignore[arg-type]
        (lambda: ActivationConfig.Elu(nn.CeluConfig()), "value must be a EluConfig"),  # type: ignore[arg-type]
    ],
)
def test_a_config_refuses_what_makes_no_activation(make: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.GLU(0)(Tensor([1.0, 2, 3])), BurnpyError, "3"),
        (lambda: nn.GLU(1)(Tensor([1.0, 2])), BurnpyError, "1"),
        (lambda: nn.PReluConfig(num_parameters=3).init()(Tensor([[1.0, 2]])), ShapeError, "3"),
        (lambda: nn.PReluConfig(num_parameters=3).init()(Tensor([1.0, 2, 3])), ShapeError, "3"),
        (lambda: nn.SwiGluConfig(3, 2).init()(Tensor([[1.0, 2]])), ShapeError, "3"),
        (lambda: nn.Relu()(Tensor([True])), DTypeError, "bool"),
        (lambda: nn.Gelu()(Tensor([1, 2])), DTypeError, "i32"),
        (lambda: nn.EluConfig().init()(Tensor([1, 2])), DTypeError, "i32"),
    ],
)
def test_an_input_that_does_not_fit_is_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_random_slopes_are_drawn_in_training_alone() -> None:
    bp.manual_seed(3)
    module = nn.RReluConfig().init()
    x = Tensor.full((1000,), -1.0)
    slopes = -module(x).to_numpy()
    assert slopes.min() >= 0.125 and slopes.max() < 1 / 3
    assert slopes.std() == pytest.approx((1 / 3 - 1 / 8) / math.sqrt(12), rel=0.1)
    _close(module(x.inner()), [-(1 / 8 + 1 / 3) / 2] * 1000, 1e-6)
    _close(module.valid()(x), [-(1 / 8 + 1 / 3) / 2] * 1000, 1e-6)
    assert str(module.valid()).endswith(", training: disabled}")
    assert nn.RReluConfig(upper=0.125).init()(Tensor([-8.0, 1.0])).tolist() == [-1.0, 1.0]


def test_the_gradient_of_random_slopes_is_the_slopes() -> None:
    x = Tensor([-1.0, 2.0, math.nan, 0.0]).require_grad()
    output = nn.RReluConfig().init()(x)
    gradient = x.grad(output.backward())
    assert gradient is not None
    assert gradient.to_numpy()[0] == pytest.approx(-output.to_numpy()[0])
    assert gradient.to_numpy()[1] == gradient.to_numpy()[3] == 1.0
    assert np.isnan(output.to_numpy()[2])


@pytest.mark.parametrize("value", [50.0, 89.0, 100.0, 1000.0, 1e30])
@pytest.mark.parametrize(
    ("module", "slope"),
    [
        (nn.EluConfig(alpha=0.7).init(), 1.0),
        (nn.CeluConfig(alpha=1.5).init(), 1.0),
        (nn.Selu(), 1.0507009873),
    ],
)
def test_the_gradient_of_large_numbers_is_the_true_one(module: Any, slope: float, value: float) -> None:
    x = Tensor([value]).require_grad()
    gradient = x.grad(module(x).backward())
    assert gradient is not None and gradient.item() == pytest.approx(slope)


VARIANTS = [
    "Identity", "Gelu", "GeluApproximate", "PRelu", "Relu", "LeakyRelu", "SwiGlu", "Selu", "Sigmoid", "Tanh",
    "HardSigmoid", "HardSwish", "Softplus", "Softsign", "Elu", "Celu", "ThresholdedRelu", "HardShrink", "SoftShrink",
    "Shrink",
]  # fmt: skip


class Holder(bp.Config):
    activation: ActivationConfig


def test_the_variants_are_burns() -> None:
    assert list(ActivationConfig.variants()) == VARIANTS


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_written_read_and_made(name: str) -> None:
    cls = ActivationConfig.variants()[name]
    config_cls = getattr(nn, f"{name}Config", None)
    config = cls() if config_cls is None else cls(config_cls(2, 2) if name == "SwiGlu" else config_cls())
    text = str(Holder(config))
    assert Holder.load_binary(text.encode()).activation == config
    tag = json.loads(text)["activation"]
    assert tag == name if config_cls is None else list(tag) == [name]
    made = config.init()
    assert isinstance(made, nn.Activation)
    assert made.variant == ("Gelu" if name == "GeluApproximate" else name)
    assert made(Tensor([[1.0, -1.0]])).shape == (1, 2)
    assert all(path.startswith(f"{name}.") for path, _ in made.named_params())


@pytest.mark.parametrize(
    ("value", "message"),
    [("Mish", "not one of Identity, Gelu"), ({"Relu": {}}, "Relu"), ("LeakyRelu", "LeakyRelu has 1 values")],
)
def test_json_of_no_variant_is_refused(value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Holder.load_binary(json.dumps({"activation": value}).encode())


def test_the_shrinks_take_lambda_under_pythons_name() -> None:
    for cls in (nn.HardShrinkConfig, nn.SoftShrinkConfig, nn.ShrinkConfig):
        config = config_of(cls, {"lambda": 1.5})
        assert config.lambda_ == 1.5 == config.init().lambda_
        assert config == cls(lambda_=1.5) == cls().with_lambda(1.5)
        assert json.loads(str(config))["lambda"] == 1.5


def test_learned_slopes_are_parameters() -> None:
    module = nn.PReluConfig(num_parameters=2, alpha=0.5).init()
    x = Tensor([[-2.0, -4.0], [1.0, -1.0]]).require_grad()
    output = module(x)
    assert output.tolist() == [[-1.0, -2.0], [1.0, -0.5]]
    gradients = output.backward()
    assert module.alpha.val().grad(gradients).tolist() == [-2.0, -5.0]  # type: ignore[union-attr]
    assert module.num_params() == 2 and module.alpha_value == 0.5
