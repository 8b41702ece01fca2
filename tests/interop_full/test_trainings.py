"""Burn's own loop goes on in a folder that burnpy's left, and burnpy's in a folder of Burn's, to the same end."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnpy as bp
from burnpy import lr_scheduler
from burnpy.lr_scheduler import ModuleLrSchedulerConfig
from tests.interop_full.program import ask
from tests.train.burn_runs import (
    PARTS,
    SIZES,
    TRAININGS,
    Row,
    learner_of,
    model_of,
    parameters,
    rows,
    training_of,
)

pytestmark = [pytest.mark.interop, pytest.mark.golden]

EPOCHS, STOP = 5, 2
MODELS = {"regression": "Regression", "classification": "LayerNorm", "classification_batchnorm": "BatchNorm"}
SHARED = ("Loss.log", "Accuracy.log", "Learning_Rate.log")
"""The metrics that Burn's program has, too."""


def burn(kind: str, folder: Path, work: Path, **choices: Any) -> dict[str, list[float]]:
    """The final parameters of a training by Burn."""
    told = TRAININGS[kind]
    outputs = SIZES["d_out" if kind == "regression" else "classes"]
    found: dict[str, list[float]] = ask(
        "training", work, folder=folder, model=MODELS[kind], sizes=[SIZES["d_in"], SIZES["hidden"], outputs],
        train=_data(rows("train"), told["batch_size"]), valid=_data(rows("valid"), told["valid_batch_size"]),
        rules=[told["optimizer"]], rates=_rates(told["scheduler"]), accumulation=told.get("grads_accumulation"),
        **{"record": None, "checkpoint": None} | choices,
    )  # fmt: skip
    return found


def _data(some: list[Row], batch_size: int) -> dict[str, Any]:
    x, y, classes = (np.array([row[i] for row in some]) for i in range(3))
    return {"x": x, "y": y, "class": classes, "batch_size": batch_size}


def _rates(told: dict[str, Any]) -> ModuleLrSchedulerConfig:
    config = getattr(lr_scheduler, told["type"]).load_binary(json.dumps(told["config"]).encode())
    return config if isinstance(config, ModuleLrSchedulerConfig) else ModuleLrSchedulerConfig(config)


def assert_same_parameters(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for path, values in expected.items():
        assert found[path] == pytest.approx(values, rel=1e-5, abs=1e-5), path


def assert_same_losses(folder: Path, other: Path, *, but: str | None = None) -> None:
    """Every line of the epochs after the stop: the value of each batch and of the epoch."""
    found, expected = lines(folder), lines(other)
    if but:
        del found[but], expected[but]
    assert found.keys() == expected.keys() and found
    for name, told in expected.items():
        assert [rest for _, rest in found[name]] == [rest for _, rest in told], name
        values = [value for value, _ in told]
        assert [value for value, _ in found[name]] == pytest.approx(values, rel=1e-5, abs=1e-5), name


def lines(folder: Path) -> dict[str, list[tuple[float, str]]]:
    found = {}
    for path in folder.glob("*/epoch-*/*.log"):
        if path.name in SHARED and int(path.parent.name.removeprefix("epoch-")) > STOP:
            parts = [line.partition(",") for line in path.read_text().splitlines()]
            found[path.relative_to(folder).as_posix()] = [(float(value), rest) for value, _, rest in parts]
    return found


@pytest.mark.parametrize("kind", MODELS)
def test_burn_goes_on_in_a_folder_of_burnpy(kind: str, tmp_path: Path) -> None:
    ours, burns = tmp_path / "ours", tmp_path / "burns"
    training_of(kind, ours, num_epochs=STOP).launch(learner_of(kind))
    shutil.copytree(ours, burns)

    found = burn(kind, burns, tmp_path, epochs=EPOCHS, checkpoint=STOP)

    result = training_of(kind, ours, num_epochs=EPOCHS, resume="latest").launch(learner_of(kind, fresh=True))
    assert_same_parameters(parameters(result.model), found)
    # A resumed run of Burn tells the rate 0 until its first step, the second batch of an accumulation of two. burnpy's
    # has the rate of the step before in its trainer file.
    accumulates = "grads_accumulation" in TRAININGS[kind]
    assert_same_losses(ours, burns, but=f"train/epoch-{STOP + 1}/Learning_Rate.log" if accumulates else None)
    assert_same_states(ours, burns)


def assert_same_states(folder: Path, other: Path) -> None:
    """The last states of optimizer and scheduler, as both wrote them."""
    for part in ("optim", "scheduler"):
        path = Path("checkpoint") / f"{part}-{EPOCHS}.bpk"
        with bp.open(folder / path) as found, bp.open(other / path) as expected:
            assert found.scalars() == expected.scalars()
            assert set(found.keys()) == set(expected.keys())
            for name, values in expected.items():
                np.testing.assert_allclose(np.array(found[name]), np.array(values), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("how", [{"resume": "latest"}, {"checkpoint": STOP}], ids=lambda how: next(iter(how)))
@pytest.mark.parametrize("kind", MODELS)
def test_burnpy_goes_on_in_a_folder_of_burn(kind: str, how: dict[str, Any], tmp_path: Path) -> None:
    ours, burns, start = tmp_path / "ours", tmp_path / "burns", tmp_path / "start.bpk"
    model_of(kind, fresh=False).into_record().save(start)
    burn(kind, ours, tmp_path, epochs=STOP, record=start)
    sets = {f"{part}-{epoch}.bpk" for part in PARTS for epoch in range(1, STOP + 1)}
    assert {path.name for path in (ours / "checkpoint").iterdir()} == sets
    shutil.copytree(ours, burns)

    result = training_of(kind, ours, num_epochs=EPOCHS, **how).launch(learner_of(kind, fresh=True))

    # Beside Burn's resumed run, not its whole one: what Burn saves of batch norm lags one update.
    found = burn(kind, burns, tmp_path, epochs=EPOCHS, checkpoint=STOP)
    assert_same_parameters(parameters(result.model), found)
    assert_same_losses(ours, burns)
    assert_same_states(ours, burns)


def test_two_epochs_of_both_from_the_same_start_are_the_same(tmp_path: Path) -> None:
    kind = "regression"
    start = tmp_path / "start.bpk"
    model_of(kind, fresh=False).into_record().save(start)

    found = burn(kind, tmp_path / "burns", tmp_path, epochs=EPOCHS, record=start)

    result = training_of(kind, tmp_path / "ours").launch(learner_of(kind))
    assert_same_parameters(parameters(result.model), found)
    assert_same_losses(tmp_path / "ours", tmp_path / "burns")
