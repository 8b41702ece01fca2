"""Schedules against the rates and records of Burn, and against the formulas in double precision."""

import copy
import json
from typing import Any

import pytest

from burnpy import lr_scheduler
from burnpy.config.codec import decode
from burnpy.errors import ConfigError
from burnpy.lr_scheduler import LrSchedulerConfig, ModuleLearningRate, ModuleLrScheduler
from burnpy.module import ParamGroup, ParamId
from burnpy.record import LrSchedulerRecord
from tests.paths import GOLDEN
from tests.tensor.golden_numerics import Case, case_names

FOLDER = GOLDEN / "burn" / "schedulers"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text())
CASES: dict[str, dict[str, Any]] = MANIFEST["cases"]

pytestmark = [pytest.mark.golden, pytest.mark.filterwarnings("ignore:(gamma|initial_lr) should")]


def scheduler_of(kind: str, config: Any) -> ModuleLrScheduler:
    if kind in ("number", "ConstantLr"):
        return ModuleLrScheduler(config)
    if kind == "ModuleLrScheduler":
        scheduler = ModuleLrScheduler(config["base"])
        for each in config["groups"]:
            scheduler.with_group(ParamGroup.from_json_value(each["group"]), each["scheduler"])
        return scheduler
    made: ModuleLrScheduler = getattr(lr_scheduler, kind).load_binary(json.dumps(config).encode()).init()
    return made


def seen(rates: ModuleLearningRate, case: dict[str, Any]) -> list[float]:
    probes = [rates.lr_from_param(ParamId(probe["id"]), probe["path"]) for probe in case["probes"]]
    return [rates.base(), *probes]


def expected_rates(values: list[Any]) -> list[list[float]]:
    return [[v["base"], *v["probes"]] if isinstance(v, dict) else [v] for v in values]


def assert_rates(scheduler: ModuleLrScheduler, expected: list[Any], case: dict[str, Any]) -> None:
    for wanted in expected_rates(expected):
        assert seen(scheduler.step(), case) == pytest.approx(wanted, rel=1e-14, abs=1e-17)


def scalars_of(record: LrSchedulerRecord) -> dict[str, dict[str, Any]]:
    return {key: {scalar.kind: scalar.value} for key, scalar in record.scalars().items()}


def assert_scalars(record: LrSchedulerRecord, file: str) -> None:
    found, wanted = scalars_of(record), MANIFEST["files"][file]["scalars"]
    assert found.keys() == wanted.keys()
    for key, scalar in wanted.items():
        ((kind, value),) = scalar.items()
        assert found[key] == {kind: pytest.approx(value, rel=1e-14) if kind == "Float" else value}, key


@pytest.mark.parametrize("name", CASES)
def test_a_schedule_gives_the_rates_and_the_record_of_burn(name: str) -> None:
    case = CASES[name]
    scheduler = scheduler_of(case["type"], case["config"])
    assert_scalars(scheduler.to_record(), case["fresh_file"])
    assert_rates(scheduler, case["rates"], case)
    assert_scalars(scheduler.to_record(), case["file"])
    assert_rates(scheduler, case["next"], case)


@pytest.mark.parametrize("name", CASES)
def test_a_fresh_schedule_goes_on_from_the_record_of_burn(name: str) -> None:
    case = CASES[name]
    scheduler = scheduler_of(case["type"], case["config"])
    record = LrSchedulerRecord.load(FOLDER / case["file"])
    scheduler.load_record(record, strict=True)
    assert scheduler.to_record().into_bytes() == (FOLDER / case["file"]).read_bytes()
    assert_rates(scheduler, case["next"], case)


@pytest.mark.parametrize("case", MANIFEST["foreign_records"], ids=lambda case: case["file"])
@pytest.mark.filterwarnings("ignore:parts of the learning-rate scheduler's record were not used")
def test_a_record_that_does_not_fit_is_used_as_far_as_burn_uses_it(case: dict[str, Any]) -> None:
    scheduler = scheduler_of(case["type"], case["config"])
    scheduler.load_record(LrSchedulerRecord.load(FOLDER / case["file"]))
    assert_rates(scheduler, case["next"], {"probes": []})


def test_the_last_call_of_a_step_schedule_is_where_burn_has_it() -> None:
    case = MANIFEST["step_near_limit"]
    scheduler = scheduler_of(case["type"], case["config"])
    scheduler.load_record(LrSchedulerRecord.load(FOLDER / case["file"]), strict=True)
    assert scheduler.step().base() == case["next"]
    assert case["step_after_that_panics"]
    with pytest.raises(OverflowError):
        scheduler.step()


@pytest.mark.parametrize(
    "case", MANIFEST["accepted"], ids=[f"{i}-{case['type']}" for i, case in enumerate(MANIFEST["accepted"])]
)
def test_a_configuration_is_taken_or_refused_as_burn_does(case: dict[str, Any]) -> None:
    def made() -> ModuleLrScheduler:
        return scheduler_of(case["type"], copy.deepcopy(case["config"]))

    if case["accepted"]:
        made().step()
    else:
        with pytest.raises(ConfigError):
            made()


@pytest.mark.parametrize("name", case_names("schedulers"))
def test_a_schedule_gives_the_values_of_its_formula(name: str) -> None:
    case = Case.load("schedulers", name, "float64")
    config = decode(case.config, LrSchedulerConfig)
    wanted = case.arrays["out.values"].tolist()
    scheduler = config.build()
    assert [scheduler.step() for _ in wanted] == pytest.approx(
        wanted, rel=case.tolerance["rel"], abs=case.tolerance["abs"]
    )
