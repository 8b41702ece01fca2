import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import burnpy
from burnpy.numpy import save_file
from tests.cli.conftest import Run
from tests.paths import ROOT

PROGRAM = [sys.executable, "-m", "burnpy"]
COMMANDS = ["inspect", "verify", "diff", "meta", "bench"]


def _run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]


def test_the_module_is_the_program_that_the_package_installs(model: Path) -> None:
    assert _run("inspect", model).returncode == 0
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"burnpy": "burnpy.cli:main"}


def test_the_version_is_the_packages(run: Run) -> None:
    outcome = run("--version")
    assert (outcome.status, outcome.out) == (0, f"burnpy {burnpy.__version__}\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(run: Run, command: str) -> None:
    assert f"  {command} " in run("--help").out
    assert run(command, "--help").status == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("inspect", "none.bpk"), "none.bpk: No such file or directory"),
        (("inspect", "."), ".: is a directory"),
        (("verify", "none.bpk"), "none.bpk: No such file or directory"),
        (("diff", "none.bpk", "none.bpk"), "none.bpk: No such file or directory"),
        (("meta", "get", "none.bpk"), "none.bpk: No such file or directory"),
        (("meta", "set", "none.bpk", "a=b"), "none.bpk: No such file or directory"),
        (("bench", "none.bpk"), "none.bpk: No such file or directory"),
        (("inspect", "text.bpk"), "text.bpk: not a burnpack file"),
        (("inspect", "--limit", "-1", "text.bpk"), "must be at least 0"),
        (("inspect",), "FILE"),
        (("nonsense",), "nonsense"),
        ((), "COMMAND"),
    ],
)
def test_an_error_is_one_line_and_status_2(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.bpk").write_text("this is a text, not a model")
    outcome = run(*arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("burnpy: ") and words.lower() in outcome.err.lower()
    assert outcome.err.count("\n") == 1 and outcome.err.endswith("\n")


def test_a_path_with_control_characters_stays_one_line(run: Run, tmp_path: Path) -> None:
    outcome = run("inspect", tmp_path / "a\nb\x1b.bpk")
    assert outcome.err.count("\n") == 1 and "\x1b" not in outcome.err


def test_the_extension_may_be_left_out(run: Run, model: Path) -> None:
    assert run("inspect", model.with_suffix("")).status == 0


def test_the_index_of_a_set_is_one_file_to_every_command_that_reads(run: Run, tmp_path: Path) -> None:
    tensors = {f"layer.{index}": np.full(4, index, np.float32) for index in range(3)}
    index = burnpy.save_sharded(tensors, tmp_path / "set", 16, metadata={"k": "v"}, scalars={"step": 3})
    save_file(tensors, tmp_path / "one.bpk", {"k": "v"}, scalars={"step": 3})
    assert "3 tensors, 12 elements" in run("inspect", index).out
    assert len(json.loads(run("inspect", "--json", index).out)["tensors"]) == 3
    assert run("diff", index, tmp_path / "one.bpk").status == 0
    assert run("meta", "get", index).out == "k=v\nstep=3\n"
    assert run("verify", index).out == f"{index}: ok\n"
    shard = tmp_path / "set" / "model-00002-of-00003.bpk"
    shard.write_bytes(shard.read_bytes() + b"\0")
    assert run("verify", index).out.startswith(f"{index}: {shard}: ")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise there")
def test_a_reader_that_goes_away_is_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "many.bpk"
    save_file({f"tensor.{index}": np.zeros(1) for index in range(20_000)}, path)
    child = subprocess.Popen(
        [*PROGRAM, "inspect", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stderr is not None
    child.stdout.readline()
    child.stdout.close()
    assert child.stderr.read() == ""
    assert child.wait() == 141
    child.stderr.close()


def test_a_name_that_the_encoding_lacks_is_escaped(tmp_path: Path) -> None:
    save_file({"日本": np.zeros(1)}, tmp_path / "model.bpk")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert r"\u65e5\u672c" in _run("inspect", tmp_path / "model.bpk", env=environment).stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_an_error(model: Path) -> None:
    with open("/dev/full", "w") as full:
        child = subprocess.run(
            [*PROGRAM, "inspect", model], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (child.returncode, child.stderr) == (2, "burnpy: No space left on device\n")


def test_help_loads_what_it_needs_and_no_more() -> None:
    code = (
        "import sys; from burnpy.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy', 'burnpy.pack', 'json', 'tempfile'} & sys.modules.keys()), file=sys.stderr)"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stderr == "[]\n"


def test_inspect_does_not_load_numpy(model: Path) -> None:
    code = (
        "import sys; from burnpy.cli import main\n"
        f"main(['inspect', {str(model)!r}])\nprint('numpy' in sys.modules, file=sys.stderr)"
    )
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert child.stderr == "False\n"
