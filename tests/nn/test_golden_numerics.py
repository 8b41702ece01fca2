"""Layers on the golden cases of `numerics`, in double and in single precision, values and gradients."""

from typing import Any

import pytest

from burnpy.module import Flag
from burnpy.nn import BatchNorm
from burnpy.nn.attention import generate_autoregressive_mask
from burnpy.tensor import module as ops
from tests.nn.golden_modules import check, names_of, operation
from tests.tensor.golden_numerics import Case, Inputs, Outputs, case_names

PRECISIONS = ["float64", "float32"]
# Layers whose output is that of one call with the inputs in the order of the case.
PLAIN = [
    "CosineSimilarity", "Embedding", "GroupNorm", "InstanceNorm", "LayerNorm", "Linear", "LocalResponseNorm",
    "PairwiseDistance", "RmsNorm", "SwiGlu",
]  # fmt: skip
SPATIAL = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AvgPool1d", "AvgPool2d", "Conv1d", "Conv2d",
    "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "DeformConv2d", "Fold4d", "Interpolate1d",
    "Interpolate2d", "MaxPool1d", "MaxPool2d", "PixelShuffle", "PixelUnshuffle", "Unfold4d",
]  # fmt: skip


def _forward(module: Any, inputs: Inputs) -> Outputs:
    return {"output": module.forward(*inputs.values())}


def _batch_norm(module: BatchNorm, inputs: Inputs) -> Outputs:
    """Training on batch after batch; or inference, where the case has one input and running values."""
    if list(inputs) == ["x"]:
        module.training = Flag(False)
        return {"output": module.forward(inputs["x"])}
    outputs = {}
    for i, x in enumerate(inputs.values(), start=1):
        outputs[f"train_{i}"] = module.forward(x)
        outputs[f"running_mean_{i}"] = module.running_mean.value_sync()
        outputs[f"running_var_{i}"] = module.running_var.value_sync()
    if module.momentum == 0.1:
        outputs["eval"] = module.valid().forward(inputs["x1"].inner())
    return outputs


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", names_of(PLAIN))
def test_values_and_gradients_are_the_golden_ones(name: str, dtype: str) -> None:
    check(name, dtype, _forward)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", names_of(["BatchNorm"]))
def test_batch_norm_trains_and_infers_as_the_golden_cases(name: str, dtype: str) -> None:
    check(name, dtype, _batch_norm)


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_the_function_of_batch_norm_gives_the_statistics_too(dtype: str) -> None:
    def run(case: Case, t: Inputs) -> Outputs:
        found = ops.batch_norm_train(t["x"], t["gamma"], t["beta"], epsilon=case.config["epsilon"])
        return dict(zip(("output", "mean", "variance"), found, strict=True))

    Case.load("modules", "batch_norm_train", dtype).check(run)


def test_a_mask_hides_what_comes_later() -> None:
    case = Case.load("modules", "autoregressive_mask", "float32")
    mask = generate_autoregressive_mask(case.config["batch"], case.config["seq_length"])
    case.assert_close(mask, case.arrays["out.output"], "the mask")


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("name", names_of(SPATIAL, "conv_pool"))
def test_layers_of_space_give_the_golden_values_and_gradients(name: str, dtype: str) -> None:
    check(name, dtype, _forward, family="conv_pool")


def test_every_case_of_space_is_about_a_layer_that_is_tested() -> None:
    assert {operation(name, "conv_pool") for name in case_names("conv_pool")} - set(SPATIAL) == set()
