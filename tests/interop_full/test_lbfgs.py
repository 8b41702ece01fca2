"""Burn goes on with L-BFGS after steps of burnpy, with the history of its record; and the way back."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnpy as bp
from burnpy import nn
from burnpy.nn.loss import MseLoss
from burnpy.optim import LBFGS, GradientsParams, LBFGSConfig, LineSearchFn
from tests.interop_full.program import Array, ask

pytestmark = pytest.mark.interop

RANDOM = np.random.default_rng(6)
X = RANDOM.standard_normal((8, 3)).astype(np.float32)
Y = np.sin(X[:, :2]).astype(np.float32)


class Curve(bp.Module):
    """``fc2(tanh(fc1(x)))``."""

    def __init__(self) -> None:
        self.fc1 = nn.LinearConfig(3, 4).init()
        self.fc2 = nn.LinearConfig(4, 2).init()

    def forward(self, x: bp.Tensor) -> bp.Tensor:
        output: bp.Tensor = self.fc2(self.fc1(x).tanh())
        return output


def closure(model: Curve) -> tuple[float, GradientsParams]:
    loss = MseLoss().forward(model(bp.Tensor.from_numpy(X.copy())), bp.Tensor.from_numpy(Y.copy()), "Mean")
    return loss.item(), GradientsParams.from_grads(loss.backward(), model)


def steps(model: Curve, optim: LBFGS, count: int) -> list[dict[str, Any]]:
    after = []
    for _ in range(count):
        model, loss = optim.step(0.3, model, closure)
        after.append({"loss": loss, "parameters": values(model)})
    return after


def values(model: Curve) -> dict[str, Array]:
    return {path: leaf.val().to_numpy().ravel() for path, leaf in model.named_params()}


def assert_same(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    # A curve is guessed from differences of gradients, which makes rounding larger than a rule of Adam's kind does.
    for mine, other in zip(found, expected, strict=True):
        assert mine["loss"] == pytest.approx(other["loss"], rel=1e-5)
        for path, wanted in other["parameters"].items():
            np.testing.assert_allclose(mine["parameters"][path], wanted, rtol=2e-5, atol=2e-5, err_msg=path)


CONFIGS = {
    "fixed steps": LBFGSConfig(max_iter=3),
    "line search": LBFGSConfig(max_iter=3, line_search_fn=LineSearchFn.StrongWolfe),
    "short history": LBFGSConfig(max_iter=4, history_size=2),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_burn_goes_on_with_lbfgs(name: str, tmp_path: Path) -> None:
    bp.manual_seed(4)
    model, optim = Curve(), CONFIGS[name].init()
    steps(model, optim, 2)
    paths = {each: tmp_path / f"{each}.bpk" for each in ("record", "optim", "saved", "saved_optim")}
    model.into_record().save(paths["record"])
    optim.to_record().save(paths["optim"])

    answer = ask("lbfgs", tmp_path, config=CONFIGS[name], lr=0.3, x=X, y=Y, steps=2, **paths)

    assert_same(steps(model, optim, 2), answer)
    back = Curve().load_record(bp.ModuleRecord.load(paths["saved"]))
    resumed = CONFIGS[name].init().load(paths["saved_optim"], strict=True)
    assert_same(steps(back, resumed, 1), steps(model, optim, 1))
