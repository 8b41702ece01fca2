"""Every activation of Burn's golden file: values, gradients, the text of the module, the JSON of the config."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from burnpy import Tensor, nn
from burnpy.config import Config
from burnpy.tensor import activation
from tests.nn.golden_stateless import Case, array, cases, check

ACTIVATIONS = cases("activations.json")
MODULES = {
    "relu6": nn.Relu6(), "silu": nn.SiLU(), "mish": nn.Mish(), "log_sigmoid": nn.LogSigmoid(),
    "tanhshrink": nn.Tanhshrink(), "glu_last": nn.GLU(-1), "glu_first": nn.GLU(0),
}  # fmt: skip
FUNCTIONS = {
    "softmax_0": (activation.softmax, 0), "softmax_last": (activation.softmax, -1),
    "log_softmax": (activation.log_softmax, -1), "softmin": (activation.softmin, -1),
    "quiet_softmax": (activation.quiet_softmax, -1),
}  # fmt: skip

# The slope of large numbers, where Burn's gradient is 0 · ∞.
SLOPES = {"act_elu": 1.0, "act_celu": 1.0, "act_selu": 1.0507009873554805}
# In double precision too, Burn has the gradients of these from constants in single precision.
SINGLE = {"act_hard_sigmoid", "hard_sigmoid_torch", "act_hard_swish", "act_celu"}


class Holder(Config):
    activation: nn.ActivationConfig


def _config(case: Case) -> Any:
    entry = case["configs"][0]
    if entry["type"] == "ActivationConfig":
        return Holder.load_binary(json.dumps({"activation": entry["json"]}).encode()).activation
    return getattr(nn, entry["type"]).load_binary(json.dumps(entry["json"]).encode())


def _run(case: Case, inputs: dict[str, Tensor]) -> Mapping[str, Tensor]:
    if case["name"] in FUNCTIONS:
        function, dim = FUNCTIONS[case["name"]]
        return {"output": function(inputs["x"], dim)}
    module = _config(case).init() if case["configs"] else MODULES[case["name"]]
    module = module.valid() if case["name"] == "rrelu" else module
    return {"output": module(inputs["x"])}


@pytest.mark.golden
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_has_burns_values_and_gradients(name: str, dtype: str) -> None:
    case = ACTIVATIONS[name]
    check(case, _run, dtype, instead=_instead(case, dtype), relative=1e-7 if name in SINGLE else None)


def _instead(case: Case, dtype: str) -> dict[str, list[float]]:
    """Burn's gradient with the true one where Burn's is NaN."""
    if case["name"] not in SLOPES or (case["name"], dtype) == ("act_celu", "float64"):
        return {}
    burns = (case["f64"] if dtype == "float64" else case)["input_grads"]["output"]["x"]["values"]
    slope = SLOPES[case["name"]]
    entry = {"values": case["output_weights"]["output"], "shape": [len(burns)]}
    weights = array(entry, dtype).tolist()
    pairs = zip(burns, weights, strict=True)
    return {"output of x": [weight * slope if burn == "NaN" else burn for burn, weight in pairs]}


@pytest.mark.golden
@pytest.mark.parametrize("name", [name for name, case in ACTIVATIONS.items() if case["configs"]])
def test_an_activation_is_shown_and_its_config_written_as_burn_does(name: str) -> None:
    case = ACTIVATIONS[name]
    config = _config(case)
    assert str(config.init()) == case["display"]
    entry = case["configs"][0]
    if entry["type"] == "ActivationConfig":
        assert json.loads(str(Holder(config)))["activation"] == entry["json"]
    else:
        assert str(config) == entry["text"]
