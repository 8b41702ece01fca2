"""The folders of examples run as their pages say, and find what they should."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from burnpy import safe_open
from burnpy.data import FashionMnistDataset
from tests.paths import ROOT

EXAMPLES = ROOT / "examples"


def run(script: str, *arguments: str, cwd: Path) -> str:
    """What an example prints, run in a folder of its own."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, EXAMPLES / script, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_folder_of_examples_has_a_page_that_says_how_to_run_it() -> None:
    for folder in (path for path in EXAMPLES.iterdir() if path.is_dir()):
        scripts = re.findall(r"^python (examples/\S+\.py)", (folder / "README.md").read_text(), re.MULTILINE)
        assert f"examples/{folder.name}/main.py" in scripts
        assert all((ROOT / script).is_file() for script in scripts)


@pytest.mark.parametrize("kind", ["digits", pytest.param("fashion", marks=pytest.mark.slow)])
def test_the_custom_training_loop_learns(kind: str, tmp_path: Path) -> None:
    if kind == "fashion" and not FashionMnistDataset.folder("train").exists():
        pytest.skip("dataset-fashion-mnist is not installed")
    epochs = re.findall(
        r"loss ([\d.]+), accuracy ([\d.]+)", run("custom_training_loop/main.py", kind, cwd=tmp_path)
    )
    losses, accuracies = ([float(value) for value in column] for column in zip(*epochs, strict=True))
    assert losses[-1] < 0.7 * losses[0]
    assert accuracies[-1] > 85


def test_imported_weights_give_the_answers_of_pytorch(tmp_path: Path) -> None:
    output = run("import_weights/main.py", cwd=tmp_path)
    assert float(re.search(r"from PyTorch: (\S+)", output)[1]) < 1e-4  # type: ignore[index]
    found, true = re.findall(r"classes \w+: +\[(.*)\]", output)
    assert sum(a == b for a, b in zip(found.split(", "), true.split(", "), strict=True)) >= 10
    with safe_open(tmp_path / "fashion.bpk") as model:
        assert model.info("fc.weight").shape == (12 * 7 * 7, 10)


def test_the_embedded_model_knows_the_sine(tmp_path: Path) -> None:
    rows = re.findall(r": +(\S+), true +(\S+)", run("embedded_model/main.py", cwd=tmp_path))
    assert len(rows) == 6
    assert all(abs(float(found) - float(true)) < 2e-3 for found, true in rows)


def test_the_embedded_model_is_read_out_of_a_zip_file_too(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "sines.zip", "w") as archive:
        for path in sorted((EXAMPLES / "embedded_model" / "sines").glob("*.*")):
            archive.write(path, f"sines/{path.name}")
    code = "import sys; sys.path.insert(0, 'sines.zip'); import sines; print(sines.__file__, sines.sine(0.5))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    place, value = done.stdout.split()
    assert "sines.zip" in place and abs(float(value) - 0.4794) < 2e-3


def test_a_training_goes_on_from_a_checkpoint_in_a_store(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    output = run("remote_checkpoint/main.py", cwd=tmp_path)
    assert "epoch 3 has ['weight', 'bias']" in output and output.endswith("without the stop: True\n")
