"""Layers of sequences filled with Burn's records: what they compute, their gradients, and what they give back."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor, nn
from burnpy.module import Module
from tests.nn.burn_modules import BurnModule, Inputs, Outputs, array, config_of, entries
from tests.nn.sequences import RUNS

pytestmark = pytest.mark.golden


# Tables, the scale of attention scores and the settings of an activation are in single precision there.
SINGLE = ("positional", "mha", "transformer", "lstm_input_forget")


class Layered(BurnModule):
    """A stack of layers: rounding to half precision adds up."""

    def slack(self, dtype: str) -> float:
        return super().slack(dtype) * (2 if dtype in ("f16", "bf16") else 1)


class LanguageModel(Module):
    def __init__(self, sizes: dict[str, int]) -> None:
        n, s, d = sizes["vocabulary"], sizes["sequence"], sizes["d_model"]
        encoder = nn.TransformerEncoderConfig(d, sizes["d_ff"], sizes["heads"], sizes["layers"])
        self.tokens = nn.EmbeddingConfig(n, d).init()
        self.positions = nn.EmbeddingConfig(s, d).init()
        self.encoder = encoder.with_dropout(0.0).with_norm_first(True).init()
        self.norm = nn.RmsNormConfig(d).init()
        self.head = nn.LinearConfig(d, n, bias=False, layout=nn.LinearLayout.Col).init()

    def forward(self, tokens: Tensor, mask_attn: Tensor, mask_pad: Tensor) -> Tensor:
        batch, seq = tokens.shape
        places = Tensor.arange(0, seq).reshape(1, seq).expand(batch, seq)
        x = self.tokens(tokens) + self.positions(places)
        x = self.encoder(nn.TransformerEncoderInput(x, attn=mask_attn, pad=mask_pad))
        y: Tensor = self.head(self.norm(x))
        return y


class Tagger(Module):
    def __init__(self, n: int, d: int, lstm: int, gru: int, tags: int) -> None:
        self.embed = nn.EmbeddingConfig(n, d).init()
        self.lstm = nn.BiLstmConfig(d, lstm, True).init()
        self.gru = nn.GruConfig(2 * lstm, gru, True).init()
        self.out = nn.LinearConfig(gru, tags).init()

    def forward(self, tokens: Tensor) -> Tensor:
        x, _ = self.lstm(self.embed(tokens))
        y: Tensor = self.out(self.gru(x))
        return y


def _rotary(start: int, module: Any, inputs: Inputs) -> Outputs:
    return {"output": module.forward(inputs["x"]), "shifted": module.apply(inputs["x"], start)}


def _kind(name: str) -> str:
    found = [config["type"].removesuffix("Config") for config in entries()[name]["configs"]]
    return found[0] if len(found) == 1 else ""


def _case(name: str) -> BurnModule:
    entry = entries()[name]
    if name == "user_language_model":
        return BurnModule(name, partial(LanguageModel, entry["sizes"]), RUNS["Gru"], single=True)
    if name == "user_tagger":
        return BurnModule(name, partial(Tagger, 6, 3, 2, 2, 3), RUNS["Gru"])
    config = config_of(entry)
    if name == "rotary_encoding":
        return BurnModule(name, config.init, partial(_rotary, entry["start"]), single=True)
    made = Layered if name.startswith("transformer") else BurnModule
    return made(name, config.init, RUNS[_kind(name)], single=name.startswith(SINGLE))


NAMES = [
    *(name for name in entries() if _kind(name) in {*RUNS, "RotaryEncoding"}),
    "user_language_model",
    "user_tagger",
]


def _with(key: str) -> list[str]:
    return [name for name in NAMES if key in entries()[name]]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_shown_counted_and_named_as_in_burn(name: str) -> None:
    _case(name).check_structure()


def _has(name: str, dtype: str) -> bool:
    """Whether Burn computes it in this precision; a zero state is always of single precision there."""
    return dtype in ("f32", "f64") or "outputs" in entries()[name].get(f"eval_{dtype}", {})


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name in NAMES for dtype in ("f32", "f64", "f16", "bf16") if _has(name, dtype)],
)
def test_a_record_of_burn_gives_its_outputs(name: str, dtype: str) -> None:
    _case(name).check_values(dtype)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", _with("train"))
def test_gradients_are_those_of_burn(name: str, dtype: str) -> None:
    _case(name).check_training(dtype)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", _with("train_flags_off"))
def test_gradients_with_the_flags_off_are_those_of_burn(name: str, dtype: str) -> None:
    _case(name).check_training(dtype, flags=False)


@pytest.mark.parametrize("name", NAMES)
def test_saving_gives_burns_file_to_the_byte(name: str, tmp_path: Path) -> None:
    _case(name).check_saved(tmp_path)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("user_")])
def test_the_configuration_is_written_as_burn_writes_it(name: str) -> None:
    told = entries()[name]["configs"][0]
    assert str(config_of(entries()[name])) == told["text"]


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("name", [name for name in NAMES if not _has(name, "f16")])
def test_half_precision_works_where_it_does_not_in_burn(name: str, dtype: str) -> None:
    case = _case(name)
    plain = {key: tensor.inner() for key, tensor in case.inputs(dtype).items()}
    found = case.forward(case.loaded(dtype).valid(), plain)
    for key, value in case.entry["f64"]["eval"]["outputs"].items():
        assert found[key].dtype == dtype
        np.testing.assert_allclose(found[key].cast("f32").numpy(), array(value), atol=0.03)
