"""Burn loads a module and its optimizer after steps of burnpy, and makes the same next steps; and the way back."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import burnpy as bp
from burnpy import nn
from burnpy.lr_scheduler import ModuleLrSchedulerConfig
from burnpy.module import ParamGroup
from burnpy.optim import (
    AdamConfig,
    AdamWConfig,
    GradientClippingConfig,
    LionConfig,
    ModuleOptimizer,
    MuonConfig,
    SgdConfig,
)
from tests.interop_full.program import Array, ask
from tests.optim.models import given
from tests.optim.rules import CLIPPED, FUSED, MUON, OTHERS

pytestmark = pytest.mark.interop

BEFORE, NEXT, AFTER = range(3), range(3, 5), range(5, 6)
"""Steps of burnpy, those of Burn, and one of burnpy again."""

# Clipping by the norm over all parameters is burnpy's own, and Burn cannot read its configuration.
RULES = FUSED | OTHERS | MUON | {name: CLIPPED[name] for name in ("sgd_value", "adam_norm")}


class Net(bp.Module):
    """Parameters of ranks 1, 2 and 4. It is never run: its gradients are given."""

    def __init__(self) -> None:
        self.fc1 = nn.LinearConfig(3, 5).init()
        self.conv = nn.Conv2dConfig((2, 3), (2, 2)).init()
        self.norm = nn.LayerNormConfig(5).init()
        self.fc2 = nn.LinearConfig(5, 2).init()


class Rule(NamedTuple):
    """An optimizer for all parameters, or for a group with a clipping of its own."""

    config: Any
    group: ParamGroup | None = None
    clipping: Any = None

    def told(self) -> dict[str, Any]:
        return {"type": type(self.config).__name__} | self._asdict()


def optimizer(rules: list[Rule]) -> ModuleOptimizer:
    first, *groups = rules
    optim: ModuleOptimizer = first.config.init()
    for rule in groups:
        assert rule.group is not None
        optim.with_group(rule.group, rule.config.build(), rule.clipping)
    return optim


def gradients(step: int, matrices: bool) -> dict[str, Array]:
    random = np.random.default_rng(step)
    found = {
        path: random.normal(0, 0.5, leaf.val().shape).astype(np.float32)
        for path, leaf in Net().named_params()
    }
    # One step without a gradient of a parameter, as of a branch that was not taken.
    if step == 3:
        del found["fc2.weight"]
    return {path: grad for path, grad in found.items() if grad.ndim == 2 or not matrices}


def assert_same(model: Net, expected: dict[str, list[float]]) -> None:
    found = {path: leaf.val().numpy().ravel() for path, leaf in model.named_params()}
    assert found.keys() == expected.keys()
    for path, values in expected.items():
        wanted = np.array(values)
        off = np.abs(found[path] - wanted).max()
        assert off <= 1e-6 * max(1.0, np.abs(wanted).max()), path


def check(folder: Path, rules: list[Rule], rates: ModuleLrSchedulerConfig, *, matrices: bool = False) -> None:
    """burnpy, then Burn, then burnpy again, beside burnpy alone."""
    bp.manual_seed(4)
    model, optim, schedule = Net(), optimizer(rules), rates.init()
    for step in BEFORE:
        model = optim.step(schedule.step(), model, given(model, gradients(step, matrices)))
    paths = {name: folder / f"{name}.bpk" for name in ("record", "optim", "saved", "saved_optim")}
    model.into_record().save(paths["record"])
    optim.to_record().save(paths["optim"])

    next_gradients = [gradients(step, matrices) for step in NEXT]
    answer = ask(
        "optimizer",
        folder,
        rules=[rule.told() for rule in rules],
        rates=rates,
        gradients=next_gradients,
        **paths,
    )

    for arrays, after in zip(next_gradients, answer, strict=True):
        model = optim.step(schedule.step(), model, given(model, arrays))
        assert_same(model, after)

    back = Net().load_record(bp.ModuleRecord.load(paths["saved"]))
    resumed = optimizer(rules).load(paths["saved_optim"], strict=True)
    for step in AFTER:
        rate, arrays = schedule.step(), gradients(step, matrices)
        back = resumed.step(rate, back, given(back, arrays))
        model = optim.step(rate, model, given(model, arrays))
    assert_same(back, {path: leaf.val().numpy().ravel().tolist() for path, leaf in model.named_params()})


@pytest.mark.parametrize("name", RULES)
def test_burn_goes_on_with_a_rule(name: str, tmp_path: Path) -> None:
    check(tmp_path, [Rule(RULES[name])], ModuleLrSchedulerConfig(0.01), matrices=name in MUON)


FC1, WEIGHTS = ParamGroup.from_predicate("fc1"), ParamGroup.from_regex(r"fc\d\.weight$")
GROUPS = {
    "two rules": (
        [
            Rule(AdamWConfig(weight_decay=0.05)),
            Rule(SgdConfig(), FC1, GradientClippingConfig.Value(0.3)),
        ],
        ModuleLrSchedulerConfig(0.01).with_group(FC1, 0.05),
    ),
    "muon for matrices": (
        [Rule(AdamWConfig()), Rule(MuonConfig(epsilon=1e-3), WEIGHTS)],
        ModuleLrSchedulerConfig(0.01).with_group(WEIGHTS, 0.02),
    ),
    "groups that overlap": (
        [
            Rule(AdamConfig()),
            Rule(SgdConfig(), ParamGroup.from_predicate("fc2")),
            Rule(LionConfig(), ParamGroup.from_path("fc2.weight"), GradientClippingConfig.Norm(0.5)),
        ],
        ModuleLrSchedulerConfig(0.01).with_group(ParamGroup.from_predicate("fc2"), 0.05),
    ),
    "one rule, two rates": (
        [Rule(AdamConfig(amsgrad=True))],
        ModuleLrSchedulerConfig(0.01).with_group(ParamGroup.from_any_predicates(["norm", "bias"]), 0.001),
    ),
}


@pytest.mark.parametrize("name", GROUPS)
def test_burn_goes_on_with_groups(name: str, tmp_path: Path) -> None:
    rules, rates = GROUPS[name]
    check(tmp_path, rules, rates)
