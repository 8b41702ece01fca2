"""Burn loads a scheduler after steps of burnpy, and gives the same next rates; and the way back."""

from pathlib import Path
from typing import Any

import pytest

from burnpy.lr_scheduler import (
    ComposedLrSchedulerConfig,
    CosineAnnealingLrSchedulerConfig,
    ExponentialLrSchedulerConfig,
    LinearLrSchedulerConfig,
    ModuleLearningRate,
    ModuleLrSchedulerConfig,
    NoamLrSchedulerConfig,
    SchedulerReduction,
    SequentialLrSchedulerConfig,
    StepLrSchedulerConfig,
)
from burnpy.module import ParamGroup, ParamId
from burnpy.record import LrSchedulerRecord
from tests.interop_full.program import ask

pytestmark = pytest.mark.interop

COSINE = CosineAnnealingLrSchedulerConfig(0.5, 9, min_lr=0.01)
LINEAR = LinearLrSchedulerConfig(0.8, 0.1, 6)
STEP = StepLrSchedulerConfig(0.3, 2, gamma=0.7)

SCHEDULES: dict[str, Any] = {
    "constant": 0.25,
    "linear": LINEAR,
    "cosine": COSINE,
    "exponential": ExponentialLrSchedulerConfig(0.9, 0.95),
    "noam": NoamLrSchedulerConfig(0.7, warmup_steps=5, model_size=64),
    "step": STEP,
    "composed": ComposedLrSchedulerConfig(
        schedulers=(COSINE, LINEAR, STEP), reduction=SchedulerReduction.Avg
    ),
    "sequential": SequentialLrSchedulerConfig((LINEAR, COSINE, STEP), (3, 7)),
}
PATHS = ["fc1.weight", "head.bias", None]


def told(rate: ModuleLearningRate) -> dict[str, Any]:
    return {"base": rate.base(), "paths": [rate.lr_from_param(ParamId(1), path) for path in PATHS]}


def check(folder: Path, config: ModuleLrSchedulerConfig, before: int) -> None:
    """burnpy, then Burn, then burnpy again, beside burnpy alone."""
    scheduler = config.init()
    for _ in range(before):
        scheduler.step()
    scheduler.to_record().save(folder / "record.bpk")

    rates = ask(
        "scheduler", folder, config=config, record=folder / "record.bpk", saved=folder / "saved.bpk",
        steps=5, paths=PATHS,
    )  # fmt: skip

    resumed = config.init()
    for rate in rates:
        same(told(scheduler.step()), rate)
    resumed.load_record(LrSchedulerRecord.load(folder / "saved"), strict=True)
    for _ in range(3):
        same(told(resumed.step()), told(scheduler.step()))


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found["base"] == pytest.approx(expected["base"], rel=1e-12, abs=0)
    assert found["paths"] == pytest.approx(expected["paths"], rel=1e-12, abs=0)


@pytest.mark.parametrize("before", [0, 1, 4])
@pytest.mark.parametrize("name", SCHEDULES)
def test_burn_goes_on_with_a_schedule(name: str, before: int, tmp_path: Path) -> None:
    check(tmp_path, ModuleLrSchedulerConfig(SCHEDULES[name]), before)


def test_burn_goes_on_with_schedules_of_groups(tmp_path: Path) -> None:
    config = ModuleLrSchedulerConfig(COSINE)
    config = config.with_group(ParamGroup.from_predicate("fc1"), STEP)
    config = config.with_group(ParamGroup.from_regex("bias$"), SCHEDULES["sequential"])
    check(tmp_path, config, 4)
