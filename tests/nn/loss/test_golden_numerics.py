"""Every case of the golden family `losses`, in double and in single precision: values and gradients."""

from collections.abc import Callable
from typing import Any

import pytest

from burnpy import Tensor
from burnpy.nn import loss
from tests.tensor.golden_numerics import Case, Inputs, Outputs, case_names, manifest

REDUCIBLE = {
    "MseLoss", "LpLoss", "HuberLoss", "KLDivLoss", "PoissonNllLoss", "GaussianNLLLoss", "HingeEmbeddingLoss",
    "MarginRankingLoss", "MultiMarginLoss", "SoftMarginLoss", "TripletMarginLoss",
}  # fmt: skip


def _reducible(case: Case, made: Any, inputs: list[Tensor]) -> Outputs:
    names = case.group("out.")
    values = {"none": made.forward_no_reduction(*inputs)}
    for name in set(names) - {"none"}:
        values[name] = made.forward(*inputs, name)
    return values


def _cosine(case: Case, t: Inputs) -> Outputs:
    inputs = (t["x1"], t["x2"], t["target"])
    made = {
        name: loss.CosineEmbeddingLossConfig(reduction=loss.Reduction(name), **case.config).init()
        for name in ("mean", "sum")
    }
    return {"none": made["sum"].forward_no_reduction(*inputs)} | {n: made[n](*inputs) for n in made}


def _smooth_l1(case: Case, t: Inputs) -> Outputs:
    made = loss.SmoothL1LossConfig(beta=case.config["beta"]).init()
    if "dims" in case.config:
        return {"output": made.forward_reduce_dims(t["x"], t["target"], case.config["dims"])}
    reduced = {name: made.forward_with_reduction(t["x"], t["target"], name) for name in ("mean", "sum")}
    return {"none": made(t["x"], t["target"])} | reduced


def _sequences(case: Case, made: Any, inputs: tuple[Tensor, ...]) -> Outputs:
    if "output" in case.group("out."):
        return {"output": made(*inputs)}
    reduced = {name: made.forward_with_reduction(*inputs, name) for name in ("mean", "sum")}
    return {"none": made(*inputs)} | reduced


def _ctc(case: Case, t: Inputs) -> Outputs:
    made = loss.CTCLossConfig(**case.config).init()
    rest = (t["targets"], t["input_lengths"], t["target_lengths"])
    return _sequences(case, made, (t["x"].log_softmax(2), *rest))


def _rnnt(case: Case, t: Inputs) -> Outputs:
    made = loss.RNNTLossConfig(**case.config).init()
    x = t["x"] if case.config["logits"] else t["x"].log_softmax(3)
    return _sequences(case, made, (x, t["targets"], t["logit_lengths"], t["target_lengths"]))


def _lp_dims(case: Case, t: Inputs) -> Outputs:
    made = loss.LpLossConfig(case.config["p"]).init()
    return {"output": made.forward_reduce_dims(t["x"], t["target"], case.config["dims"])}


RUNS: dict[str, Callable[[Case, Inputs], Outputs]] = {
    "CosineEmbeddingLoss": _cosine,
    "SmoothL1Loss": _smooth_l1,
    "CTCLoss": _ctc,
    "RNNTLoss": _rnnt,
}


def _run(case: Case, t: Inputs) -> Outputs:
    name = manifest()["families"]["losses"]["cases"][case.name]["op"]
    if name in RUNS:
        return RUNS[name](case, t)
    if "dims" in case.config:
        return _lp_dims(case, t)
    config = getattr(loss, f"{name}Config", None)
    made = getattr(loss, name)() if config is None else config(**case.config).init()
    if name in REDUCIBLE:
        return _reducible(case, made, list(t.values()))
    return {"output": made(*t.values())}


# The clamp of these depends on the dtype; they are for single precision.
F32_ONLY = {"cross_entropy_probs_zero", "cross_entropy_probs_zero_smooth"}
CASES = [
    (name, dtype)
    for name in case_names("losses")
    for dtype in ("float64", "float32")
    if dtype == "float32" or name not in F32_ONLY
]


@pytest.mark.golden
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_a_loss_has_the_values_and_gradients_of_the_golden_case(name: str, dtype: str) -> None:
    Case.load("losses", name, dtype).check(_run)
