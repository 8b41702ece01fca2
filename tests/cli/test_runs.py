"""Runs beside each other."""

import json
from pathlib import Path

import pytest

from burnpy.train import metric as metrics
from burnpy.train.metric import Numeric
from burnpy.train.report import Curve, RunFolder, lower_is_better
from tests.cli.conftest import Run
from tests.cli.runs import burns_run, csv_run, json_run, small_run


def test_the_best_value_of_each_metric_is_shown_with_its_epoch(run: Run, tmp_path: Path) -> None:
    small_run(tmp_path / "a", train=[3.0, 2.0], valid=[1.5, 1.75])
    small_run(tmp_path / "deep" / "b", train=[4.0, 2.5, 3.0])
    outcome = run("runs", tmp_path)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        "run     epochs  sets    Loss",
        "a            2     0  1.5 @1",
        "deep/b       3     0  2.5 @2",
    ]


def test_burns_runs_are_compared(run: Run, tmp_path: Path) -> None:
    burns_run(tmp_path / "cls")
    burns_run(tmp_path / "reg", "regression")
    outcome = run("runs", tmp_path, "--metric", "Accuracy", "--metric", "Loss", "--sort", "Loss")
    assert outcome.out.splitlines() == [
        "run  epochs  sets   Accuracy        Loss",
        "reg       5     5          -  0.26023 @5",
        "cls       5     5  85.714 @4  0.47985 @5",
    ]


def test_a_run_by_itself_is_a_table_of_one(run: Run, tmp_path: Path) -> None:
    small_run(tmp_path / "alone", train=[1.0])
    assert run("runs", tmp_path / "alone").out.splitlines()[1].split() == ["alone", "1", "0", "1", "@1"]


def test_json_has_every_epoch(run: Run, tmp_path: Path) -> None:
    csv_run(tmp_path / "a")
    json_run(tmp_path / "b")
    first, second = json.loads(run("runs", tmp_path, "--json").out)
    assert first["run"] == str(tmp_path / "a")
    assert first["tests"] == {"first": {"Loss": 0.25}}
    assert first["metrics"]["valid"]["Loss"] == {"best": None, "epochs": {"1": "NaN"}}
    assert second["metrics"]["train"]["Loss"]["epochs"] == {"1": 2.5, "2": 1.0}


def test_json_has_the_checkpoints(run: Run, tmp_path: Path) -> None:
    burns_run(tmp_path / "a", "regression_default_strategy")
    (told,) = json.loads(run("runs", tmp_path, "--json").out)
    assert [(each["key"], each["complete"]) for each in told["checkpoints"]] == [
        (2, True),
        (7, True),
        (8, True),
    ]


def test_an_epoch_that_began_anew_replaces_the_old_one(tmp_path: Path) -> None:
    (curve,) = RunFolder(json_run(tmp_path / "run")).curves
    assert curve.batches == {1: [3.0, 2.0], 2: [1.0]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--metric", "Lost"], "no run has a metric 'Lost'; there are Loss"),
        (["--sort", "Lost"], "no run has a metric 'Lost'"),
    ],
)
def test_a_metric_that_no_run_has_is_an_error(
    run: Run, tmp_path: Path, arguments: list[str], words: str
) -> None:
    small_run(tmp_path / "a", train=[1.0])
    outcome = run("runs", tmp_path, *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert words in outcome.err


def test_a_folder_without_runs_is_an_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty" / "inner").mkdir(parents=True)
    assert "no run is in it" in run("runs", tmp_path).err
    assert run("runs", tmp_path / "none").status == 2


def test_the_direction_of_every_metric_of_the_package_is_known() -> None:
    found = 0
    for name in metrics.__all__:
        kind = getattr(metrics, name)
        if not (isinstance(kind, type) and issubclass(kind, Numeric) and hasattr(kind, "attributes")):
            continue
        try:
            made = kind()
        except (TypeError, ImportError):
            # One that must be configured: those are scores, and better when higher.
            continue
        attributes = made.attributes()
        if hasattr(attributes, "higher_is_better"):
            found += 1
            assert lower_is_better(made.name()) is not attributes.higher_is_better, made.name()
    assert found > 8


def test_values_that_are_no_numbers_are_never_best() -> None:
    curve = Curve("Loss", "valid", {1: float("nan"), 2: 3.0, 3: 3.0})
    assert curve.best == curve.highest == (2, 3.0)
    assert Curve("Loss", "valid", {1: float("nan")}).best is None
