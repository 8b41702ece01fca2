"""Rates for groups of parameters."""

import math
from typing import Any

import pytest

from burnpy.errors import ConfigError
from burnpy.lr_scheduler import (
    ConstantLr,
    LinearLrSchedulerConfig,
    LrSchedulerConfig,
    ModuleLearningRate,
    ModuleLrScheduler,
    ModuleLrSchedulerConfig,
    StepLrSchedulerConfig,
)
from burnpy.module import ParamGroup, ParamId

SOME = ParamId(1)


def test_a_constant_rate_is_that_of_every_step_and_parameter() -> None:
    scheduler = ModuleLrScheduler(0.01)
    assert [scheduler.step().base() for _ in range(3)] == [0.01] * 3
    assert scheduler.step().lr_from_param(SOME) == 0.01


def test_a_configuration_makes_a_schedule_for_all_parameters() -> None:
    scheduler = LinearLrSchedulerConfig(0.9, 0.5, 4).init()
    found = [scheduler.step().base() for _ in range(6)]
    assert found == pytest.approx([0.9, 0.8, 0.7, 0.6, 0.5, 0.5], abs=1e-10)


def test_a_group_by_id_has_its_own_rate() -> None:
    rates = ModuleLrScheduler(0.001).with_group(ParamGroup.from_ids([ParamId(7)]), 0.1).step()
    assert rates.lr_from_param(ParamId(7)) == 0.1
    assert rates.lr_from_param(SOME, "a.weight") == rates.base() == 0.001


def test_a_group_by_path_has_its_own_rate() -> None:
    rates = ModuleLrScheduler(0.001).with_group(ParamGroup.from_predicate("backbone"), 0.1).step()
    assert rates.lr_from_param(SOME, "model.backbone.layer.weight") == 0.1
    assert rates.lr_from_param(SOME, "model.head.layer.weight") == 0.001
    assert rates.lr_from_param(SOME) == 0.001


def test_the_last_group_that_matches_counts() -> None:
    scheduler = ModuleLrScheduler(0.1).with_group(ParamGroup.from_predicate("a"), 0.2)
    rates = scheduler.with_group(ParamGroup.from_path("a.b"), 0.3).step()
    assert [rates.lr_from_param(SOME, path) for path in ("a.b", "a.c", "x")] == [0.3, 0.2, 0.1]


def test_all_schedules_step_together() -> None:
    ends = [(0.001, 0.0001), (0.1, 0.01), (0.5, 0.05)]
    base, *others = (LinearLrSchedulerConfig(first, last, 4) for first, last in ends)
    config = ModuleLrSchedulerConfig(base)
    for path, schedule in zip("xy", others, strict=True):
        config = config.with_group(ParamGroup.from_path(path), schedule)
    scheduler = config.init()

    def step() -> list[float]:
        rates = scheduler.step()
        return [rates.lr_from_param(SOME, path) for path in (None, "x", "y")]

    assert step() == pytest.approx([first for first, _ in ends])
    assert all(last < rate < first for rate, (first, last) in zip(step(), ends, strict=True))


def test_a_group_takes_numbers_schedules_and_configurations() -> None:
    for schedule in (0.5, ConstantLr(0.5), StepLrSchedulerConfig(0.5, 3), LrSchedulerConfig.of(0.5)):
        scheduler = ModuleLrScheduler(0.1).with_group(ParamGroup.all(), schedule)
        assert scheduler.step().lr_from_param(SOME) == 0.5


def test_what_stands_for_a_scheduler_is_made_one() -> None:
    scheduler = ModuleLrScheduler(0.1)
    assert ModuleLrScheduler.of(scheduler) is scheduler
    assert ModuleLrScheduler.of(0.2).step() == ModuleLearningRate(0.2)
    assert ModuleLrScheduler.of(ConstantLr(0.3)).step().base() == 0.3


@pytest.mark.parametrize("schedule", ["0.1", None, ModuleLrScheduler(0.1)])
def test_what_is_no_schedule_is_refused(schedule: Any) -> None:
    with pytest.raises(TypeError, match="must be a"):
        ModuleLrScheduler(0.1).with_group(ParamGroup.all(), schedule)
    with pytest.raises(TypeError, match="must be a"):
        ModuleLrScheduler(schedule)


def test_what_is_no_group_is_refused() -> None:
    with pytest.raises(TypeError, match="group must be a ParamGroup, got 'head'"):
        ModuleLrScheduler(0.1).with_group("head", 0.1)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="group must be a ParamGroup, got 'head'"):
        ModuleLrSchedulerConfig(0.1).with_group("head", 0.1)  # type: ignore[arg-type]


def test_learning_rates_must_be_given_and_finite() -> None:
    with pytest.raises(ValueError, match="at least one rate, got an empty list"):
        ModuleLearningRate([])
    with pytest.raises(ValueError, match="lr must be finite, got inf"):
        ModuleLearningRate(math.inf)
    with pytest.raises(TypeError, match="lr must be a number or a scheduler, got 'x'"):
        ModuleLearningRate("x")  # type: ignore[arg-type]


def test_a_parameter_that_no_group_matches_has_no_rate() -> None:
    rates = ModuleLearningRate([(ParamGroup.from_path("a"), 0.1)])
    with pytest.raises(ValueError, match=r"no group has parameter .*, path 'b'"):
        rates.lr_from_param(SOME, "b")
