"""Layers of sequences on the golden cases of `numerics`, in double and in single precision, values and gradients."""

from typing import Any

import numpy as np
import pytest

from burnpy import Tensor, nn
from tests.nn.golden_modules import check, names_of
from tests.nn.sequences import RUNS, mha_input
from tests.tensor.golden_numerics import Case, Inputs, Outputs

PRECISIONS = ["float64", "float32"]
# The cases name it without its settings, which are the defaults.
HARD_SIGMOID: dict[str, Any] = {"gate_activation": {"HardSigmoid": {"alpha": 0.2, "beta": 0.5}}}


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
        weights = module.forward(mha_input(inputs)).weights
        return {"weights": weights, "context": module.forward_context(mha_input(inputs))}

    check(name, dtype, both)


def test_the_mask_that_hides_the_future_is_the_golden_one() -> None:
    case = Case.load("modules", "autoregressive_mask", "float32")
    found = nn.generate_autoregressive_mask(case.config["batch"], case.config["seq_length"])
    assert isinstance(found, Tensor)
    np.testing.assert_array_equal(found.numpy(), case.arrays["out.output"])
