"""Modules of one's own, filled with Burn's records: what they compute, their gradients, and what they give back."""

from functools import partial
from pathlib import Path

import pytest

from burnpy import Tensor
from burnpy.module import Param
from burnpy.record import ModuleRecord
from tests.nn import composed
from tests.nn.burn_modules import FOLDER, BurnModule, Inputs, Outputs, array, entries

pytestmark = pytest.mark.golden
# Made of layers that have tests of their own for such models; and a parameter that is the whole module.
ELSEWHERE = {"user_language_model", "user_tagger", "user_bare_param"}
NAMES = [name for name in entries() if name.startswith("user_") and name not in ELSEWHERE]
# An empty list could be one of anything here, and what may be absent is not wrapped.
REPLACED = {"empty: Vec<0..0>": "empty: []", "skipped: Some(1.5)": "skipped: 1.5"}


def _case(name: str) -> BurnModule:
    def forward(module: composed.Mlp, inputs: Inputs) -> Outputs:
        return {"output": module.forward(*inputs.values())}

    # These were folded in single precision before they were recorded.
    single = name == "user_lora_merged"
    return BurnModule(name, partial(composed.build, name, entries()[name]), forward, single)


def _with(key: str) -> list[str]:
    """The cases that tell of something, and where Burn did not panic."""
    return [name for name in NAMES if "panic" not in entries()[name].get(key, {"panic": "absent"})]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_shown_counted_and_named_as_in_burn(name: str) -> None:
    _case(name).check_structure(REPLACED)


@pytest.mark.parametrize("name", NAMES)
def test_a_record_of_burn_gives_its_outputs(name: str) -> None:
    _case(name).check_values()


@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16"])
@pytest.mark.parametrize("name", _with("eval_f16"))
def test_in_another_precision_too(name: str, dtype: str) -> None:
    _case(name).check_values(dtype)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", _with("train"))
def test_gradients_are_those_of_burn(name: str, dtype: str) -> None:
    _case(name).check_training(dtype)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", _with("train_flags_off"))
def test_gradients_with_the_flags_off_are_those_of_burn(name: str, dtype: str) -> None:
    _case(name).check_training(dtype, flags=False)


@pytest.mark.parametrize("name", _with("running"))
def test_running_values_follow_as_in_burn(name: str) -> None:
    _case(name).check_running()


@pytest.mark.parametrize("name", NAMES)
def test_a_record_that_was_loaded_is_saved_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    _case(name).check_saved(tmp_path)


def test_a_parameter_alone_is_a_module_with_an_empty_path() -> None:
    told = entries()["user_bare_param"]
    param = Param.from_tensor(Tensor.ones(told["tensors"][0]["shape"]))
    ModuleRecord.load(FOLDER / told["file"]).apply(param)
    found = Tensor.from_numpy(array(told["inputs"]["x"])).matmul(param.val())
    assert found.all_close(Tensor.from_numpy(array(told["eval"]["outputs"]["output"])), 1e-5, 1e-5)
