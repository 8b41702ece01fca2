"""Trajectories of twenty steps, in single and double precision."""

import json
from typing import Any

import numpy as np
import pytest

import burnpy.optim
from burnpy import Tensor
from burnpy.module import Module, Param
from burnpy.optim import (
    AdjustLrFn,
    GradientClippingConfig,
    GradientsAccumulator,
    GradientsParams,
    ModuleOptimizer,
)
from burnpy.record.state import StateSink
from tests.optim.models import given
from tests.tensor.golden_numerics import Case, _arrays, case_names, manifest

DTYPES = ["float32", "float64"]
CASES = manifest()["families"]["optimizers"]["cases"]
STEPS = [name for name in case_names("optimizers") if CASES[name]["op"].endswith("ModuleOptimizer.step")]
CLIPS = [name for name in case_names("optimizers") if CASES[name]["op"].startswith("GradientClipping")]
# Those are tests of L-BFGS.
OTHERS = {"muon_ratio", "lbfgs", "lbfgs_wolfe", "lbfgs_history"}


def test_every_golden_case_is_run() -> None:
    assert {*STEPS, *CLIPS, *OTHERS} == set(case_names("optimizers"))


def optimizer_of(case: Case) -> ModuleOptimizer:
    """The optimizer of a case; its configuration is read as JSON."""
    kind = getattr(burnpy.optim, f"{CASES[case.name]['op'].split(' ')[0]}Config")
    optim: ModuleOptimizer = kind.load_binary(json.dumps(CASES[case.name]["config"]).encode()).init()
    return optim


class Parts(Module):
    """The parameters of a case."""

    def __init__(self, case: Case, paths: list[str]) -> None:
        for path in paths:
            setattr(self, path, Param.from_tensor(case.tensor(case.arrays[f"in.{path}"])))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", STEPS)
def test_a_trajectory_is_followed(name: str, dtype: str) -> None:
    case, width = load(name, dtype), "f64" if dtype == "float64" else "f32"
    paths = [key.removeprefix("in.") for key in case.arrays if key.startswith("in.")]
    model, optim = Parts(case, paths), optimizer_of(case)
    gradients = {path: case.arrays[f"grads.{path}"].astype(dtype) for path in paths}
    for step, lr in enumerate(case.arrays["lr"]):
        model = optim.step(float(lr), model, accumulated(case, model, gradients, step))
        for path in paths:
            expected = case.arrays[f"out.{path}.{width}"][step]
            case.assert_close(getattr(model, path).val(), expected, f"{path} after {step + 1} steps")
    for path in paths:
        state = states(optim, getattr(model, path))
        expected = case.group(f"state.{path}.")
        wanted = {key.removesuffix(f".{width}"): a for key, a in expected.items() if key.endswith(width)}
        assert wanted.keys() == state.keys()
        for leaf, array in wanted.items():
            found = state[leaf]
            case.assert_close(
                found if isinstance(found, Tensor) else Tensor.from_numpy(np.array(found)), array, leaf
            )


def load(name: str, dtype: str) -> Case:
    entry = CASES[name]
    key = "f64" if dtype == "float64" else "f32_against_f32"
    tolerance = entry["tolerance"].get(key) or entry["tolerance"]["f32"]
    arrays = _arrays("optimizers")[name]
    return Case(name, entry["config"], arrays, tolerance, dtype)


def accumulated(case: Case, model: Parts, gradients: dict[str, Any], step: int) -> GradientsParams:
    count = CASES[case.name]["accumulate"]
    if count == 1:
        return given(model, {path: array[step] for path, array in gradients.items()})
    sums = GradientsAccumulator()
    for i in range(count):
        sums.accumulate(model, given(model, {path: a[step * count + i] for path, a in gradients.items()}))
    return sums.grads()


def states(optim: ModuleOptimizer, param: Param) -> dict[str, Any]:
    """The leaves of a parameter's state by the last part of their names."""
    state, sink = optim._contexts[param.id.val()].recorded(), StateSink()
    if state is not None:
        state.state_flatten("", sink)
    leaves = {**sink.tensors, **{name: scalar.value for name, scalar in sink.scalars.items()}}
    return {name.rpartition(".")[2]: value for name, value in leaves.items()}


PRECISIONS = {"f16": "float16", "f32": "float32", "f64": "float64"}


@pytest.mark.parametrize(
    ("name", "precision"), [(name, precision) for name in CLIPS for precision in CASES[name]["tolerance"]]
)
def test_a_gradient_is_clipped(name: str, precision: str) -> None:
    entry, arrays = CASES[name], _arrays("optimizers")[name]
    case = Case(name, entry["config"], arrays, entry["tolerance"][precision], PRECISIONS[precision])
    ((kind, limit),) = entry["config"].items()
    clipping = getattr(GradientClippingConfig, kind)(limit).init()
    found = clipping.clip_gradient(case.tensor(arrays["in.grad"]).inner())
    case.assert_close(found, arrays["out.grad"], "gradient")


def test_the_rates_of_muon_are_adjusted() -> None:
    arrays = _arrays("optimizers")["muon_ratio"]
    for function in AdjustLrFn:
        ratios = [function.adjustment_ratio(tuple(map(int, shape))) for shape in arrays["in.shape"]]
        np.testing.assert_allclose(ratios, arrays[f"out.{function.value}"], rtol=1e-12)
