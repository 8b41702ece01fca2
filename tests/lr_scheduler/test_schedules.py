"""The rates of each schedule, and what their configurations refuse."""

import itertools
import math
from typing import Any

import pytest

from burnpy.errors import ConfigError
from burnpy.lr_scheduler import (
    ComposedLrScheduler,
    ComposedLrSchedulerConfig,
    ConstantLr,
    CosineAnnealingLrSchedulerConfig,
    ExponentialLrSchedulerConfig,
    LinearLrSchedulerConfig,
    LrScheduler,
    LrSchedulerConfig,
    NoamLrSchedulerConfig,
    ScheduleConfig,
    SchedulerReduction,
    SequentialLrScheduler,
    SequentialLrSchedulerConfig,
    StepLrSchedulerConfig,
)

Linear, Cosine, Exponential = (
    LinearLrSchedulerConfig,
    CosineAnnealingLrSchedulerConfig,
    ExponentialLrSchedulerConfig,
)
Noam, Step = NoamLrSchedulerConfig, StepLrSchedulerConfig
Sequential, Composed = SequentialLrSchedulerConfig, ComposedLrSchedulerConfig

TURNS = Sequential([Linear(0.1, 0.3, 2), Exponential(0.5, 0.5), Cosine(0.8, 2)], [2, 5])
PAIR = (Cosine(1.0, 4), Linear(0.5, 1.0, 2))
SUMS = [1.5, 1.6035533905932737, 1.5, 1.1464466094067263, 1.0]


def rates(scheduler: LrScheduler, count: int) -> list[float]:
    return [scheduler.step() for _ in range(count)]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (Linear(0.9, 0.5, 4), [0.9, 0.8, 0.7, 0.6, 0.5, 0.5]),
        (Linear(0.01, 0.04, 3), [0.01, 0.02, 0.03, 0.04, 0.04]),
        (Linear(0.3, 0.3, 2), [0.3] * 4),
        (Linear(1.0, 1.0, 3), [1.0] * 4),
        (Cosine(0.5, 2, min_lr=0.1), [0.5, 0.3, 0.1, 0.3, 0.5]),
        (Exponential(0.8, 0.1), [0.8, 0.08, 0.008, 0.0008, 0.00008]),
        (Step(0.5, 3, gamma=0.1), [0.5] * 3 + [0.05] * 3 + [0.005] * 3),
        (Step(0.5, 3), [0.5] * 3 + [0.05] * 3 + [0.005] * 3),
        (TURNS, [0.1, 0.2, 0.5, 0.25, 0.125, 0.8, 0.4, 0.0]),
        (
            Composed(schedulers=PAIR),
            [0.5, 0.6401650429449552, 0.5, 0.14644660940672627, 0.0],
        ),
        (Composed(schedulers=PAIR, reduction=SchedulerReduction.Sum), SUMS),
        (Composed(schedulers=PAIR, reduction=SchedulerReduction.Avg), [rate / 2 for rate in SUMS]),
        (Composed(), [1.0, 1.0]),
        (Composed(reduction=SchedulerReduction.Sum), [0.0, 0.0]),
        (Composed(reduction=SchedulerReduction.Avg), [0.0, 0.0]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, ScheduleConfig) else "",
)
def test_a_schedule_gives_its_rates_from_the_first_on(config: ScheduleConfig, expected: list[float]) -> None:
    assert rates(config.build(), len(expected)) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("initial", "size", "gamma", "expected"),
    [(0.1, 2, 2.0, [0.1, 0.1, 0.2, 0.2, 0.4, 0.4]), (3.1, 1, 1.0, [3.1] * 3), (0.5, 1, 0.0, [0.5, 0.0])],
)
def test_an_odd_gamma_is_taken_with_a_warning(
    initial: float, size: int, gamma: float, expected: list[float]
) -> None:
    with pytest.warns(UserWarning, match=rf"gamma should lie in \(0, 1\), got {gamma}"):
        scheduler = Step(initial, size, gamma=gamma).build()
    assert rates(scheduler, len(expected)) == pytest.approx(expected, abs=1e-10)


def test_a_step_schedule_that_does_not_start_above_zero_is_taken_with_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"initial_lr should be positive, got -0\.1"):
        assert Step(-0.1, 2).build().step() == -0.1


def test_noam_rises_until_the_warm_up_ends_and_falls_then() -> None:
    found = rates(Noam(10.0, warmup_steps=100).build(), 200)
    assert all(before < after for before, after in itertools.pairwise(found[:100]))
    assert all(before > after for before, after in itertools.pairwise(found[99:]))
    expected = {1: 0.0004419417382415922, 99: 0.04375223208591763, 100: 0.04419417382415922}
    expected |= {101: 0.043974846545643244, 200: 0.03125}
    assert {call: found[call - 1] for call in expected} == pytest.approx(expected, rel=1e-14)


def test_noam_has_the_defaults_of_the_paper() -> None:
    found = rates(Noam(1.0).build(), 8000)
    assert found[:2] == pytest.approx([1.746928107421711e-07, 3.493856214843422e-07], rel=1e-14)
    assert found[3999] == pytest.approx(0.0006987712429686843, rel=1e-14)
    assert found[7999] == pytest.approx(0.0004941058844013093, rel=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Linear(0.0, 0.5, 3), r"initial_lr must lie in \(0, 1\], got 0.0"),
        (lambda: Linear(1.5, 0.5, 3), r"initial_lr must lie in \(0, 1\], got 1.5"),
        (lambda: Linear(0.5, -0.5, 3), r"final_lr must lie in \[0, 1\], got -0.5"),
        (lambda: Linear(0.5, 1.5, 3), r"final_lr must lie in \[0, 1\], got 1.5"),
        (lambda: Linear(0.5, 0.1, 0), "num_iters must be at least 1, got 0"),
        (lambda: Linear(0.5, 0.1, -3), "num_iters must be at least 1, got -3"),
        (lambda: Linear(math.nan, 0.1, 3), "initial_lr .* got nan"),
        (lambda: Cosine(0.0, 3), r"initial_lr must lie in \(0, 1\], got 0.0"),
        (lambda: Cosine(1.5, 3), r"initial_lr must lie in \(0, 1\], got 1.5"),
        (lambda: Cosine(0.5, 3, min_lr=-0.1), r"min_lr must lie in \[0, initial_lr\], got -0.1"),
        (lambda: Cosine(0.5, 3, min_lr=0.6), r"min_lr must lie in \[0, initial_lr\], got 0.6"),
        (lambda: Cosine(0.5, 0), "num_iters must be at least 1, got 0"),
        (lambda: Exponential(0.0, 0.5), r"initial_lr must lie in \(0, 1\], got 0.0"),
        (lambda: Exponential(1.5, 0.5), r"initial_lr must lie in \(0, 1\], got 1.5"),
        (lambda: Exponential(0.5, 0.0), r"gamma must lie in \(0, 1\], got 0.0"),
        (lambda: Exponential(0.5, 1.5), r"gamma must lie in \(0, 1\], got 1.5"),
        (lambda: Noam(1.0, warmup_steps=0), "warmup_steps must be at least 1, got 0"),
        (lambda: Noam(1.0, model_size=0), "model_size must be at least 1, got 0"),
        (lambda: Noam(math.inf), "factor must be finite, got inf"),
        (lambda: Step(0.5, 0), "step_size must be at least 1, got 0"),
        (lambda: Step(0.5, 2, gamma=math.nan), "gamma must be finite, got nan"),
        (lambda: Step("0.5", 2), "initial_lr must be a number"),  # type: ignore[arg-type]
        (lambda: Step(0.5, 2.5), "step_size must be an integer, got 2.5"),  # type: ignore[arg-type]
        (lambda: Sequential([], []), "schedulers must not be empty"),
        (lambda: Sequential([0.1, 0.2, 0.3], [2]), "one less than the 3 schedulers, got 1"),
        (lambda: Sequential([0.1, 0.2, 0.3], [0, 2]), r"must rise from above 0, got \[0, 2\]"),
        (lambda: Sequential([0.1, 0.2, 0.3], [2, 2]), r"must rise from above 0, got \[2, 2\]"),
        (lambda: Sequential([0.1, 0.2, 0.3], [3, 2]), r"must rise from above 0, got \[3, 2\]"),
        (lambda: SequentialLrScheduler([0.1, 0.2], [0]), r"must rise from above 0, got \[0\]"),
        (lambda: Composed(schedulers=["cosine"]), "a number or the configuration of a scheduler, got 'cosine'"),  # type: ignore[list-item]
        (lambda: Composed().constant(math.nan), "value must be finite, got nan"),
        (lambda: LrSchedulerConfig.of(True), "a number or the configuration of a scheduler, got True"),
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_be_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize("make", [lambda: Noam(1.0, model_size=1), lambda: Step(0.5, 1), lambda: Noam(0.0)])
def test_the_edge_of_a_range_is_taken(make: Any) -> None:
    assert math.isfinite(make().build().step())


@pytest.mark.parametrize("lr", ["0.1", None, True, [0.1]])
def test_a_constant_rate_is_a_number(lr: Any) -> None:
    with pytest.raises(TypeError, match="lr must be a number or a scheduler, got"):
        ConstantLr(lr)
    with pytest.raises(TypeError, match="lr must be a number or a scheduler, got"):
        ComposedLrScheduler().with_custom_scheduler(lr)


def test_a_constant_rate_is_finite() -> None:
    with pytest.raises(ValueError, match="lr must be finite, got nan"):
        ConstantLr(math.nan)


def test_a_step_schedule_says_when_its_rate_is_too_large() -> None:
    with pytest.warns(UserWarning, match="gamma"):
        scheduler = Step(0.5, 1, gamma=1e200).build()
    rates(scheduler, 2)
    with pytest.raises(OverflowError, match=r"gamma 1e\+200 to the power of 2 is too large"):
        scheduler.step()


def test_peeking_changes_nothing() -> None:
    scheduler = TURNS.build()
    seen = [(scheduler.peek(), scheduler.step()) for _ in range(8)]
    assert all(peeked == stepped for peeked, stepped in seen)


def test_the_choice_among_schedules_takes_numbers_configurations_and_itself() -> None:
    configs = [
        Linear(0.5, 0.1, 2),
        Cosine(0.5, 2),
        Exponential(0.5, 0.5),
        Noam(1.0),
        Step(0.5, 2),
        Composed(),
        TURNS,
    ]
    names = ["Linear", "Cosine", "Exponential", "Noam", "Step", "Composed", "Sequential"]
    variants = [LrSchedulerConfig.of(config) for config in configs]
    assert [type(variant).__name__ for variant in variants] == names
    assert [variant.value for variant in variants] == configs
    assert all(LrSchedulerConfig.of(variant) is variant for variant in variants)
    assert set(LrSchedulerConfig.variants()) == {"Constant", *names}
    assert LrSchedulerConfig.of(1).build().step() == 1.0


def test_a_composition_grows_by_methods_named_after_the_schedules() -> None:
    config = (
        Composed(reduction=SchedulerReduction.Sum)
        .constant(0.3)
        .linear(Linear(0.5, 0.1, 2))
        .cosine(Cosine(0.5, 2))
        .exponential(Exponential(0.5, 0.5))
        .noam(Noam(1.0))
        .step(Step(0.5, 2))
        .composed(Composed())
        .sequential(TURNS)
    )
    assert [type(each).__name__ for each in config.schedulers] == list(
        ["Constant", "Linear", "Cosine", "Exponential", "Noam", "Step", "Composed", "Sequential"]
    )
    alone = [each.build().step() for each in config.schedulers]
    assert config.build().step() == pytest.approx(sum(alone), rel=1e-15)
    assert config.with_reduction(SchedulerReduction.Prod).schedulers == config.schedulers
    assert config.with_schedulers([0.5]).build().step() == 0.5


class Halving(LrScheduler):
    def __init__(self) -> None:
        self.rate = 2.0

    def step(self) -> float:
        self.rate /= 2
        return self.rate


def test_a_schedule_of_ones_own_is_composed_with_others() -> None:
    scheduler = ComposedLrScheduler(reduction=SchedulerReduction.Sum).with_custom_scheduler(Halving())
    scheduler.with_custom_scheduler(0.5)
    assert rates(scheduler, 3) == [1.5, 1.0, 0.75]
