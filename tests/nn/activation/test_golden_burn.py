"""Activations with parameters on Burn's records: outputs, gradients, and the records they give back."""

from functools import partial
from pathlib import Path

import pytest

from tests.nn.burn_modules import layer, names_of

pytestmark = pytest.mark.golden
CASES = {name: partial(layer, name) for name in names_of(["ActivationConfig", "PReluConfig", "SwiGluConfig"])}


def test_the_cases_are_those_of_the_folder() -> None:
    assert set(CASES) == {
        "activation_prelu", "activation_swiglu", "prelu_one", "prelu_many", "swiglu_no_bias", "swiglu_bias_col",
    }  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_is_shown_counted_and_named_as_in_burn(name: str) -> None:
    CASES[name]().check_structure()


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("name", CASES)
def test_a_record_of_burn_gives_its_outputs(name: str, dtype: str) -> None:
    CASES[name]().check_values(dtype)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_burn(name: str, dtype: str) -> None:
    CASES[name]().check_training(dtype)


@pytest.mark.parametrize("name", CASES)
def test_a_record_that_was_loaded_is_saved_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    CASES[name]().check_saved(tmp_path)
