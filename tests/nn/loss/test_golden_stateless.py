"""Every loss of Burn's golden file: values, gradients, the text of the object, the JSON of the config."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from burnpy import Tensor
from burnpy.errors import ArgumentError
from burnpy.nn import loss
from tests.nn.golden_stateless import Case, cases, check

LOSSES = cases("losses.json")

NAN = float("nan")
INF = float("inf")
# Gradients that are meant to differ from Burn's.
INSTEAD: dict[str, dict[str, list[float]]] = {
    # Burn computes 0 · ∞; the clamp of the logarithms at -100 has gradient 0.
    "bce_hard": {"mean of x": [0.25, -0.25, 0.0, 0.0]},
    # The gradient of a norm of 0 is 0; Burn divides by it.
    "triplet_equal": {
        f"{output} of {name}": [first * scale, 0.0, 0.0, 0.0]
        for output, scale in {"mean": 0.5, "sum": 1.0, "auto": 0.5, "none": -0.70417124}.items()
        for name, first in {"a": 1.0, "p": 0.0, "n": -1.0}.items()
    },
    # No gradient of what cannot be aligned; Burn's has nonsense from the second time step on.
    "ctc_impossible": {
        "none of logits": [
            0.0, 0.0, 0.0, 0.07580741, 0.5351285, -0.61093587, 0.0, 0.0, 0.0, 0.04481837, -0.24228442, 0.19746609,
            0.0, 0.0, 0.0, -0.621038, -0.25545686, 0.87649494,
        ]
    },
    # The mean is infinite, since it divides by a length of 0; no gradient of it has a meaning.
    "ctc_empty_target": {
        "mean of logits": [
            NAN, NAN, NAN, -0.0018451177, 0.14050703, -0.13866189, NAN, NAN, NAN, 0.013487536, -0.0015754327,
            -0.0119121075, NAN, NAN, NAN, 0.0013602674, -0.14981255, 0.14845227,
        ]
    },
}  # fmt: skip
# In double precision too, Burn has these from single-precision constants: the smoothing, ln 2π, 1 / N;
# and the values of INSTEAD are given in single precision.
SINGLE = {
    "ce_smoothing", "ce_smoothing_weights", "ce_smoothing_pad", "ce_smoothing_probs", "ce_hard_smoothing",
    "bce_smoothing", "bce_rank1", "kl_div_log", "poisson_full", "poisson_plain_full",
    "bce_hard", "triplet_equal", "ctc_impossible", "ctc_empty_target",
}  # fmt: skip


def _config(case: Case) -> Any:
    entry = case["configs"][0]
    return getattr(loss, entry["type"]).load_binary(json.dumps(entry["json"]).encode())


def _made(case: Case) -> Any:
    if case["configs"]:
        return _config(case).init()
    return loss.SoftMarginLoss() if case["name"].startswith("soft_margin") else loss.MseLoss()


def _run(case: Case, inputs: dict[str, Tensor]) -> Mapping[str, Tensor]:
    made, values = _made(case), list(inputs.values())
    if isinstance(made, loss.CTCLoss):
        values[0] = values[0].log_softmax(2)
    return {name: _output(made, name, values) for name in case["outputs"]}


def _output(made: Any, name: str, values: list[Tensor]) -> Any:
    if name == "dims":
        return made.forward_reduce_dims(*values, [0 if isinstance(made, loss.SmoothL1Loss) else 1])
    if name == "none":
        unreduced = hasattr(made, "forward_no_reduction")
        return made.forward_no_reduction(*values) if unreduced else made(*values)
    if name == "reduced" or isinstance(made, loss.CrossEntropyLoss | loss.BinaryCrossEntropyLoss):
        return made(*values)
    call = getattr(made, "forward_with_reduction", made.forward)
    return call(*values, name)


@pytest.mark.golden
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [name for name, case in LOSSES.items() if "panic" not in case])
def test_a_loss_has_burns_values_and_gradients(name: str, dtype: str) -> None:
    relative = 1e-7 if name in SINGLE else None
    check(LOSSES[name], _run, dtype, instead=INSTEAD.get(name, {}), relative=relative)


@pytest.mark.golden
@pytest.mark.parametrize("name", [name for name, case in LOSSES.items() if case["configs"]])
def test_a_loss_is_shown_and_its_config_written_as_burn_does(name: str) -> None:
    case = LOSSES[name]
    config = _config(case)
    assert str(config) == case["configs"][0]["text"]
    assert str(config.init()) == case["display"]


@pytest.mark.golden
@pytest.mark.parametrize("name", [name for name, case in LOSSES.items() if "panic" in case])
def test_what_panics_in_burn_raises(name: str) -> None:
    assert name == "mse_batch_mean"
    with pytest.raises(ArgumentError, match="BatchMean is for KLDivLoss alone"):
        loss.MseLoss()(Tensor([1.0]), Tensor([2.0]), loss.Reduction.BatchMean)
