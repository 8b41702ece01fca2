"""How layers of sequences are run in golden cases: by the names of inputs, to the names of outputs."""

from collections.abc import Callable
from typing import Any

from burnpy import nn
from tests.tensor.golden_numerics import Inputs, Outputs

__all__ = ["RUNS", "mha_input"]


def _plain(module: Any, inputs: Inputs) -> Outputs:
    return {"output": module.forward(**inputs)}


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


def mha_input(inputs: Inputs) -> nn.MhaInput:
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
    return module.forward(mha_input(inputs))._asdict()  # type: ignore[no-any-return]


def _encoder(module: Any, inputs: Inputs) -> Outputs:
    masks = {name.removeprefix("mask_"): mask for name, mask in inputs.items() if "mask" in name}
    return {"output": module.forward(nn.TransformerEncoderInput(inputs["x"], **masks))}


def _decoder(module: Any, inputs: Inputs) -> Outputs:
    masks = {name.replace("mask_", ""): mask for name, mask in inputs.items() if "mask" in name}
    return {"output": module.forward(nn.TransformerDecoderInput(inputs["target"], inputs["memory"], **masks))}


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
