"""Configurations and layers without parameters, as Burn wrote and computed them."""

import json
from typing import Any

import pytest

from burnpy import Tensor, nn
from burnpy.config.codec import decode, encode
from burnpy.tensor import ArgumentError
from tests.nn.burn_modules import entries
from tests.nn.golden_stateless import cases, check

pytestmark = pytest.mark.golden
LAYERS = cases("layers.json")
PANICS = [name for name in LAYERS if "panic" in LAYERS[name]]
TOLD = [
    (name, config)
    for name, entry in (entries() | LAYERS).items()
    for config in entry["configs"]
    if hasattr(nn, config["type"])
]


def _class(name: str) -> Any:
    return getattr(nn, name)


@pytest.mark.parametrize(("name", "config"), TOLD, ids=[name for name, _ in TOLD])
def test_a_configuration_is_read_and_written_as_burn_does(name: str, config: dict[str, Any]) -> None:
    cls = _class(config["type"])
    assert encode(decode(json.loads(config["text"]), cls), cls) == config["text"]


def _module(case: dict[str, Any]) -> Any:
    config = case["configs"][0]
    return decode(config["json"], _class(config["type"])).init()


def _without_panics(case: dict[str, Any]) -> dict[str, Any]:
    """The case without gradients that Burn cannot compute; ours of Lanczos are among the golden numerics."""
    found = {key: _without_panics(case[key]) for key in ("f64",) if key in case}
    gradients = {
        output: {name: entry for name, entry in told.items() if not isinstance(entry, str)}
        for output, told in case["input_grads"].items()
    }
    return case | {"input_grads": gradients} | found


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [name for name in LAYERS if name not in PANICS])
def test_outputs_and_gradients_are_those_of_burn(name: str, dtype: str) -> None:
    def run(case: dict[str, Any], inputs: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"output": _module(case).forward(*inputs.values())}

    check(_without_panics(LAYERS[name]), run, dtype)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_shown_as_in_burn(name: str) -> None:
    assert str(_module(LAYERS[name])) == LAYERS[name]["display"]


@pytest.mark.parametrize("name", PANICS)
def test_what_burn_cannot_do_is_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match="NearestExact is not supported"):
        _module(LAYERS[name]).forward(Tensor.zeros(LAYERS[name]["inputs"]["x"]["shape"]))
