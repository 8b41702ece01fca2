"""The examples of training run as they are, and learn what they should."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from burnpy.data import FashionMnistDataset
from tests.paths import ROOT


def run(script: str, *arguments: str, folder: Path) -> str:
    """What an example prints, run in a folder of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "examples" / script, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def accuracies(output: str) -> list[float]:
    """Those of the validations, by epoch."""
    return [float(text) for text in re.findall(r"Validating, .*Accuracy: epoch ([\d.]+) %", output)]


def test_the_guide_learns_the_digits_and_resumes_what_was_finished(tmp_path: Path) -> None:
    first = run("guide/main.py", "--data", "digits", "--epochs", "5", folder=tmp_path)
    assert accuracies(first)[-1] > 85 and "% right" in first
    more = run("guide/main.py", "--data", "digits", "--epochs", "6", "--resume", folder=tmp_path)
    assert len(accuracies(more)) == 1 and accuracies(more)[0] > 85
    assert {"config.json", "model.bpk", "checkpoint"} <= {
        path.name for path in (tmp_path / "runs/guide").iterdir()
    }


def test_the_demo_shows_a_killed_training_that_ends_as_the_undisturbed_one(tmp_path: Path) -> None:
    output = run("guide/demo.py", folder=tmp_path)
    assert "left behind:" in output and "the same to the last bit" in output
    assert "nothing was copied" in output or sys.platform != "linux"
    assert int(re.search(r"(\d+)% right", output)[1]) >= 80  # type: ignore[index]


def test_the_regression_comes_close_to_the_noise(tmp_path: Path) -> None:
    output = run("regression/main.py", folder=tmp_path)
    error, constant = re.search(r"error ([\d.]+): .* a constant has ([\d.]+)", output).groups()  # type: ignore[union-attr]
    assert float(error) < 2 < float(constant)


def test_the_regression_draws_its_predictions(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run("regression/main.py", "--items", "256", "--epochs", "1", "--plot", "out.png", folder=tmp_path)
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


def test_the_text_classifier_tells_a_turned_sentence(tmp_path: Path) -> None:
    output = run("text_classification/main.py", folder=tmp_path)
    assert accuracies(output)[-1] > 95
    assert re.search(r"^ +pleased +the soup was not bad$", output, re.MULTILINE)


def test_the_custom_strategy_goes_on_with_its_average(tmp_path: Path) -> None:
    through = run("custom_strategy/main.py", "--epochs", "4", "--folder", "through", folder=tmp_path)
    run("custom_strategy/main.py", "--epochs", "2", "--folder", "halves", folder=tmp_path)
    halves = run(
        "custom_strategy/main.py", "--epochs", "4", "--folder", "halves", "--resume", folder=tmp_path
    )
    assert accuracies(halves) == accuracies(through)[2:] and accuracies(through)[-1] > 85
    for name in "through", "halves":
        assert (tmp_path / name / "average-4.bpk").exists()


@pytest.mark.slow
@pytest.mark.skipif(
    os.environ.get("BURNPY_TEST_PROFILE") != "thorough", reason="minutes: for BURNPY_TEST_PROFILE=thorough"
)
def test_the_guide_reaches_90_percent_on_fashion_mnist_in_three_epochs(tmp_path: Path) -> None:
    if not FashionMnistDataset.folder("train").exists():
        pytest.skip("dataset-fashion-mnist is not installed")
    assert max(accuracies(run("guide/main.py", folder=tmp_path))) >= 90
