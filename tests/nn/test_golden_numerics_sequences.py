"""Layers of sequences on the golden cases of `numerics`, in double and in single precision, values and gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor, nn
from tests.nn.golden_modules import check, names_of
from tests.tensor.golden_numerics import Case, Inputs, Outputs

PRECISIONS = ["float64", "float32"]
# The cases name it without its settings, which are the defaults.
HARD_SIGMOID: dict[str, Any] = {"gate_activation": {"HardSigmoid": {"alpha": 0.2, "beta": 0.5}}}


def _plain(module: Any, inputs: Inputs) -> Outputs:
    return {"output": module.forward(*inputs.values())}


def _lstm(module: Any, inputs: Inputs) -> Outputs:
    given = nn.LstmState(inputs["cell"], inputs["hidden"]) if "cell" in inputs else None
    output, state = module.forward(inputs["x"], given)
    return {"output": output, "cell": state.cell, "hidden": state.hidden}


def _rnn(module: Any, inputs: Inputs) -> Outputs:
    output, state = module.forward(inputs["x"], nn.RnnState(inputs["hidden"]) if "hidden" in inputs else None)
    return {"output": output, "hidden": state.hidden}


def _bi_gru(module: Any, inputs: Inputs) -> Outputs:
    output, state = module.forward(**inputs)
    return {"output": output, "state": state}


def _input(inputs: Inputs) -> nn.MhaInput:
    query = inputs.get("query", inputs.get("x"))
    assert query is not None
    return nn.MhaInput(
        query,
        inputs.get("key", query),
        inputs.get("value", query),
        pad=inputs.get("mask_pad"),
        attn=inputs.get("mask_attn"),
    )


def _mha(module: Any, inputs: Inputs) -> Outputs:
    return module.forward(_input(inputs))._asdict()  # type: ignore[no-any-return]


def _encoder(module: Any, inputs: Inputs) -> Outputs:
    masks = {"pad": inputs.get("mask_pad"), "attn": inputs.get("mask_attn")}
    return {"output": module.forward(nn.TransformerEncoderInput(inputs["x"], **masks))}


def _decoder(module: Any, inputs: Inputs) -> Outputs:
    input = nn.TransformerDecoderInput(inputs["target"], inputs["memory"])
    input = input.target_mask_attn(inputs["target_mask_attn"]).memory_mask_pad(inputs["memory_mask_pad"])
    return {"output": module.forward(input)}


RUNS: dict[str, Callable[[Any, Inputs], Outputs]] = {
    "Lstm": _lstm,
    "BiLstm": _lstm,
    "Gru": _plain,
    "BiGru": _bi_gru,
    "Rnn": _rnn,
    "BiRnn": _rnn,
    "MultiHeadAttention": _mha,
    "CrossAttention": _plain,
    "PositionWiseFeedForward": _plain,
    "TransformerEncoder": _encoder,
    "TransformerDecoder": _decoder,
    "PositionalEncoding": _plain,
}


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in RUNS for name in names_of([kind])], ids=lambda value: value
)
def test_values_and_gradients_are_the_golden_ones(kind: str, name: str, dtype: str) -> None:
    check(
        name, dtype, RUNS[kind], **(HARD_SIGMOID if name in ("lstm_activations", "gru_activations") else {})
    )


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", names_of(["RotaryEncoding"]))
def test_rotations_are_the_golden_ones(name: str, dtype: str) -> None:
    start = Case.load("modules", name, dtype).config["start"]
    check(name, dtype, lambda module, inputs: {"output": module.apply(inputs["x"], start)}, unused=["start"])


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", names_of(["MultiHeadAttention"]))
def test_the_context_alone_is_that_beside_the_weights(name: str, dtype: str) -> None:
    def both(module: Any, inputs: Inputs) -> Outputs:
        weights = module.forward(_input(inputs)).weights
        return {"weights": weights, "context": module.forward_context(_input(inputs))}

    check(name, dtype, both)


def test_the_mask_that_hides_the_future_is_the_golden_one() -> None:
    case = Case.load("modules", "autoregressive_mask", "float32")
    found = nn.generate_autoregressive_mask(case.config["batch"], case.config["seq_length"])
    assert isinstance(found, Tensor)
    np.testing.assert_array_equal(found.numpy(), case.arrays["out.output"])
