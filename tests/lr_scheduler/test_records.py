"""Schedules that go on from their records."""

import copy
import math
from typing import Any

import pytest

from burnpy.errors import RecordValidationError, RecordWarning
from burnpy.lr_scheduler import (
    ComposedLrScheduler,
    CosineAnnealingLrSchedulerConfig,
    ExponentialLrSchedulerConfig,
    LinearLrSchedulerConfig,
    LrScheduler,
    ModuleLrScheduler,
    NoamLrSchedulerConfig,
    ScheduleConfig,
    SequentialLrSchedulerConfig,
    StepLrSchedulerConfig,
)
from burnpy.module import ParamGroup, ParamId
from burnpy.pack import Scalar
from burnpy.record import LrSchedulerRecord, OptimizerRecord
from burnpy.record.state import RecordState, UInt

TURNS = SequentialLrSchedulerConfig(
    [
        LinearLrSchedulerConfig(0.1, 0.3, 2),
        ExponentialLrSchedulerConfig(0.5, 0.5),
        CosineAnnealingLrSchedulerConfig(0.8, 2),
    ],
    [2, 5],
)
UNSTARTED_COSINE = 18446744073709551615


class CountdownState(RecordState):
    calls: UInt


class Countdown(LrScheduler):
    state: CountdownState

    def __init__(self) -> None:
        self.state = CountdownState(calls=0)

    def step(self) -> float:
        self.state = CountdownState(calls=self.state.calls + 1)
        return 1.0 / self.state.calls


def record_of(**scalars: Scalar) -> LrSchedulerRecord:
    record = LrSchedulerRecord()
    for key, value in scalars.items():
        record = record.with_scalar(key, value)
    return record


def listed(record: LrSchedulerRecord) -> dict[str, tuple[str, Any]]:
    return {key: (scalar.kind, scalar.value) for key, scalar in record.scalars().items()}


@pytest.mark.parametrize(
    ("config", "calls"),
    [
        (LinearLrSchedulerConfig(1.0, 0.01, 6), 4),
        (CosineAnnealingLrSchedulerConfig(1.0, 9), 6),
        (ExponentialLrSchedulerConfig(0.083, 0.3), 7),
        (StepLrSchedulerConfig(0.007, 10, gamma=0.03), 15),
        (NoamLrSchedulerConfig(10.0, warmup_steps=3), 5),
        (TURNS, 0),
        (TURNS, 1),
        (TURNS, 4),
        (TURNS, 6),
    ],
)
def test_a_fresh_schedule_goes_on_from_the_record_as_the_first_one_does(
    config: ScheduleConfig, calls: int
) -> None:
    first, fresh = config.build(), config.build()
    for _ in range(calls):
        first.step()
    data = first.to_record().into_bytes()
    assert fresh.load_record(LrSchedulerRecord.from_bytes(data), strict=True) is fresh
    assert [fresh.step() for _ in range(12)] == [first.step() for _ in range(12)]


def test_records_have_the_keys_and_kinds_that_burn_gives_them() -> None:
    scheduler = ComposedLrScheduler(
        [
            LinearLrSchedulerConfig(1.0, 0.5, 3).build(),
            CosineAnnealingLrSchedulerConfig(1.0, 9).build(),
            ExponentialLrSchedulerConfig(0.5, 0.25).build(),
            NoamLrSchedulerConfig(1.0).build(),
            StepLrSchedulerConfig(0.5, 2).build(),
            TURNS.build(),
            0.5,
        ]
    )
    assert listed(ModuleLrScheduler(scheduler).to_record()) == {
        "0.0.remaining_iters": ("UInt", 4),
        "0.1.current_iter": ("UInt", UNSTARTED_COSINE),
        "0.2.previous_lr": ("Float", 2.0),
        "0.3.step": ("Float", 0.0),
        "0.4.iter_idx": ("Int", -1),
        "0.5.step": ("UInt", 0),
        "0.5.0.remaining_iters": ("UInt", 3),
        "0.5.1.previous_lr": ("Float", 1.0),
        "0.5.2.current_iter": ("UInt", UNSTARTED_COSINE),
    }


def test_a_schedule_of_ones_own_is_kept_by_its_state() -> None:
    first = ModuleLrScheduler(Countdown())
    first.step()
    assert listed(first.to_record()) == {"0.calls": ("UInt", 1)}
    fresh = ModuleLrScheduler(Countdown()).load_record(first.to_record(), strict=True)
    assert fresh.step().base() == 0.5


def test_module_schedules_with_groups_go_on_exactly() -> None:
    def made() -> ModuleLrScheduler:
        scheduler = LinearLrSchedulerConfig(0.01, 0.001, 9).init()
        group = ParamGroup.from_ids([ParamId(7)])
        return scheduler.with_group(group, LinearLrSchedulerConfig(0.1, 0.01, 9))

    first = made()
    for _ in range(5):
        first.step()
    fresh = made().load_record(first.to_record(), strict=True)
    for _ in range(4):
        assert fresh.step() == first.step()


@pytest.mark.parametrize(
    ("config", "key", "value"),
    [
        (LinearLrSchedulerConfig(1.0, 0.2, 4), "remaining_iters", Scalar.float_(2.0)),
        (LinearLrSchedulerConfig(1.0, 0.2, 4), "remaining_iters", Scalar.int_(-2)),
        (NoamLrSchedulerConfig(1.0), "step", Scalar.float_(-1.0)),
        (NoamLrSchedulerConfig(1.0), "step", Scalar.float_(math.nan)),
        (StepLrSchedulerConfig(0.5, 2), "iter_idx", Scalar.int_(-2)),
        (StepLrSchedulerConfig(0.5, 2), "iter_idx", Scalar.int_(2**31)),
    ],
)
def test_a_scalar_that_cannot_be_used_leaves_the_schedule_as_it_is(
    config: ScheduleConfig, key: str, value: Scalar
) -> None:
    scheduler = config.build()
    with pytest.warns(RecordWarning, match=f"{key} is .*, which cannot be used"):
        scheduler.load_record(record_of(**{key: value}))
    with pytest.raises(RecordValidationError, match=f"{key} is .*, which cannot be used"):
        scheduler.load_record(record_of(**{key: value}), strict=True)
    assert scheduler.step() == config.build().step()


def test_what_is_missing_and_what_is_unknown_is_named() -> None:
    scheduler = LinearLrSchedulerConfig(1.0, 0.2, 4).init()
    with pytest.warns(RecordWarning, match=r"unknown: remaining_iters; missing: 0\.remaining_iters"):
        scheduler.load_record(record_of(remaining_iters=Scalar.uint(2)))


def test_a_strict_load_that_fails_changes_nothing() -> None:
    scheduler = LinearLrSchedulerConfig(1.0, 0.2, 4).init()
    before = copy.deepcopy(scheduler)
    record = LrSchedulerRecord().with_scalar("0.remaining_iters", Scalar.uint(2)).with_scalar("1.x", True)
    with pytest.raises(RecordValidationError, match=r"unknown: 1\.x"):
        scheduler.load_record(record, strict=True)
    assert scheduler.step() == before.step()


def test_a_group_that_the_record_does_not_have_starts_fresh() -> None:
    scheduler = LinearLrSchedulerConfig(1.0, 0.2, 4).init()
    scheduler.with_group(ParamGroup.all(), ExponentialLrSchedulerConfig(1.0, 0.5))
    with pytest.warns(RecordWarning, match=r"missing: 1\.previous_lr"):
        scheduler.load_record(LrSchedulerRecord().with_scalar("0.remaining_iters", Scalar.uint(1)))
    rates = scheduler.step()
    assert (rates.base(), rates.lr_from_param(ParamId(1))) == (0.2, 1.0)


def test_the_tenth_schedule_is_not_taken_for_the_first() -> None:
    scheduler = ComposedLrScheduler([0.1, *(Countdown() for _ in range(10))])
    record = scheduler.to_record().with_scalar("10.calls", Scalar.uint(9))
    scheduler.load_record(record, strict=True)
    calls = [each.state.calls for each in scheduler.schedulers if isinstance(each, Countdown)]
    assert calls == [0] * 9 + [9]


def test_constant_rates_have_an_empty_record() -> None:
    scheduler = ModuleLrScheduler(0.1).with_group(ParamGroup.all(), 0.5)
    assert scheduler.to_record().is_empty()
    assert (
        scheduler.load_record(LrSchedulerRecord.from_bytes(scheduler.to_record().into_bytes())) is scheduler
    )


def test_a_step_schedule_ends_after_two_to_the_31_calls() -> None:
    scheduler = StepLrSchedulerConfig(0.1, 1000).build()
    scheduler.load_record(record_of(iter_idx=Scalar.int_(2147483646)), strict=True)
    assert scheduler.step() == 0.0
    with pytest.raises(OverflowError, match="ends after 2147483648 calls"):
        scheduler.step()


def test_a_sequence_ends_after_two_to_the_64_calls_less_one() -> None:
    scheduler = SequentialLrSchedulerConfig([0.5], []).build()
    scheduler.load_record(record_of(step=Scalar.uint(2**64 - 2)), strict=True)
    assert scheduler.step() == 0.5
    with pytest.raises(OverflowError, match="ends after 18446744073709551615 calls"):
        scheduler.step()


def test_a_record_of_another_kind_is_refused() -> None:
    schedule = LinearLrSchedulerConfig(0.1, 0.01, 3)
    for scheduler in (schedule.init(), schedule.build()):
        with pytest.raises(TypeError, match="record must be a LrSchedulerRecord, got OptimizerRecord"):
            scheduler.load_record(OptimizerRecord())  # type: ignore[arg-type]
