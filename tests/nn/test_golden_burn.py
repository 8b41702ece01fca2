"""Layers filled with Burn's records: what they compute, their gradients, and the records they give back."""

from functools import partial
from pathlib import Path

import pytest

from tests.nn.burn_modules import entries, layer, names_of

pytestmark = pytest.mark.golden
LAYERS = names_of(
    [
        "BatchNormConfig", "Conv1dConfig", "Conv2dConfig", "Conv3dConfig", "ConvTranspose1dConfig",
        "ConvTranspose2dConfig", "ConvTranspose3dConfig", "DeformConv2dConfig", "DropoutConfig", "EmbeddingConfig",
        "GaussianNoiseConfig", "GroupNormConfig", "InstanceNormConfig", "LayerNormConfig", "LinearConfig",
        "LocalResponseNormConfig", "NormalizationConfig", "RmsNormConfig",
    ]
)  # fmt: skip
# Burn computes the root of RmsNorm, and gradients of DeformConv2d, in single precision always.
CASES = {name: partial(layer, name, single="rms" in name or "deform" in name) for name in LAYERS}


def _with(key: str) -> list[str]:
    return [name for name in CASES if key in entries()[name]]


@pytest.mark.parametrize("name", CASES)
def test_it_is_shown_counted_and_named_as_in_burn(name: str) -> None:
    CASES[name]().check_structure()


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("name", CASES)
def test_a_record_of_burn_gives_its_outputs(name: str, dtype: str) -> None:
    CASES[name]().check_values(dtype)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", _with("train"))
def test_gradients_are_those_of_burn(name: str, dtype: str) -> None:
    CASES[name]().check_training(dtype)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", _with("train_flags_off"))
def test_gradients_with_the_flags_off_are_those_of_burn(name: str, dtype: str) -> None:
    CASES[name]().check_training(dtype, flags=False)


@pytest.mark.parametrize("name", _with("running"))
def test_running_values_follow_as_in_burn(name: str) -> None:
    CASES[name]().check_running()


@pytest.mark.parametrize("name", CASES)
def test_a_record_that_was_loaded_is_saved_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    CASES[name]().check_saved(tmp_path)
