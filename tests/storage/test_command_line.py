"""The command line with URLs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnpy
from burnpy.numpy import load_file, save_file
from burnpy.storage import Location, at
from tests.cli.conftest import Run, run
from tests.storage.conftest import Bucket
from tests.storage.servers import Server
from tests.train.toy import learner, training

__all__ = ["run"]

TENSORS = {"w": np.arange(12, dtype=np.float32).reshape(3, 4), "b": np.zeros(3, np.float32)}


@pytest.fixture
def folder(tmp_path: Path) -> Location:
    pytest.importorskip("fsspec")
    return at(f"memory://{tmp_path.name}/cli")


def test_a_file_is_inspected_as_one_here(run: Run, folder: Location, tmp_path: Path) -> None:
    for name in ("a.bpk", "a.safetensors", "a.npz"):
        save_file(TENSORS, tmp_path / "a.bpk", {"by": "me"})
        burnpy.convert(tmp_path / "a.bpk", tmp_path / name)
        burnpy.convert(tmp_path / "a.bpk", folder.child(name))
        here, there = (run("inspect", "--json", place) for place in (tmp_path / name, folder.child(name)))
        told: tuple[Any, Any] = (json.loads(here.out), json.loads(there.out))
        assert told[1].pop("file") == str(folder.child(name)) and told[0].pop("file")
        assert told[0] == told[1]
        assert str(folder.child(name)) in run("inspect", folder.child(name)).out


def test_a_header_is_all_that_is_asked_for(run: Run, http: Server, tmp_path: Path) -> None:
    save_file({"w": np.zeros(1_000_000)}, tmp_path / "a.bpk")
    burnpy.convert(tmp_path / "a.bpk", tmp_path / "a.safetensors")
    for name in ("a.bpk", "a.safetensors"):
        http.objects[f"/{name}"] = tmp_path / name
        assert "1,000,000" in run("inspect", f"{http.url}/{name}").out
    assert len(http.asked) <= 4 and http.sent <= 4 * 64 << 10


def test_files_are_verified(run: Run, folder: Location) -> None:
    save_file(TENSORS, folder.child("a.bpk"))
    burnpy.convert(folder.child("a.bpk"), folder.child("a.safetensors"))
    good = run("verify", folder.child("a.bpk"), folder.child("a.safetensors"))
    assert good.status == 0 and good.out.splitlines() == [
        f"{folder}/a.bpk: ok",
        f"{folder}/a.safetensors: ok",
    ]
    for name in ("a.bpk", "a.safetensors"):
        data = bytes(folder.child(name).read())[:-4]
        with folder.child(name).create() as upload:
            upload.write(data)
            upload.commit()
        bad = run("verify", folder.child(name))
        assert bad.status == 1 and bad.out.startswith(f"{folder}/{name}: ")
        assert bad.out.count(str(folder)) == 1, bad.out


def test_two_files_are_compared(run: Run, folder: Location, tmp_path: Path) -> None:
    save_file(TENSORS, tmp_path / "a.bpk")
    burnpy.convert(tmp_path / "a.bpk", folder.child("a.safetensors"))
    assert run("diff", "--ignore-ids", tmp_path / "a.bpk", folder.child("a.safetensors")).status == 0
    save_file(TENSORS | {"b": np.ones(3, np.float32)}, folder.child("b.bpk"))
    told = run("diff", folder.child("a.safetensors"), folder.child("b.bpk"))
    assert told.status == 1 and "tensor b: 3 of 3 values differ, by up to 1.0" in told.out


def test_a_checkpoint_is_converted_there_and_back(run: Run, folder: Location, tmp_path: Path) -> None:
    save_file(TENSORS, tmp_path / "a.bpk")
    there = run("convert", tmp_path / "a.bpk", folder.child("a.safetensors"))
    assert there.status == 0 and str(folder.child("a.safetensors")) in there.out
    assert run("convert", folder.child("a.safetensors"), tmp_path / "b.bpk").status == 0
    assert all(np.array_equal(array, TENSORS[name]) for name, array in load_file(tmp_path / "b.bpk").items())
    again = run("convert", "--no-overwrite", tmp_path / "a.bpk", folder.child("a.safetensors"))
    assert again.status == 2 and "something is there already" in again.err


def test_runs_are_compared_as_in_a_folder(run: Run, folder: Location, tmp_path: Path) -> None:
    for name, epochs in (("first", 1), ("more/second", 2)):
        for place in (tmp_path / "here" / name, folder.child(name)):
            training(place, epochs=epochs).launch(learner())
    capture: tuple[Any, Any] = (run("runs", tmp_path / "here"), run("runs", folder))
    assert capture[0].status == capture[1].status == 0
    # What the runs themselves printed comes first.
    tables = [told.out[told.out.index("run ") :] for told in capture]
    assert [line.split() for line in tables[0].splitlines()] == [
        line.split() for line in tables[1].splitlines()
    ]
    told = json.loads(run("runs", "--json", folder.child("more/second")).out)
    assert [each["run"] for each in told] == [str(folder.child("more/second"))]
    assert [each["key"] for each in told[0]["checkpoints"]] == [1, 2] and told[0]["epochs"] == 2


def test_a_page_of_a_run_is_written_here(
    run: Run, folder: Location, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    training(folder.child("first"), epochs=1).launch(learner())
    training(folder.child("first"), epochs=2, resume="latest").launch(learner())
    told = run("report", folder.child("first"))
    assert told.status == 0 and "wrote first.html and 2 pictures in first" in told.out
    text = (tmp_path / "first.html").read_text()
    assert "(UTC)" in text and "report.html" not in folder.child("first").files()


@pytest.mark.parametrize("command", ["inspect", "verify", "convert", "report", "runs"])
def test_what_is_not_there_is_told_in_a_line(
    run: Run, folder: Location, command: str, tmp_path: Path
) -> None:
    words = [folder.child("none"), tmp_path / "b.bpk"][: 2 if command == "convert" else 1]
    told = run(command, *words)
    assert told.status == 2 and told.err.startswith("burnpy: ") and str(folder.child("none")) in told.err
    assert told.err.count("\n") == 1


COMMANDS = [["inspect"], ["verify"], ["diff", "a.bpk"], ["convert", "a.bpk"], ["report"], ["runs"]]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_a_missing_package_is_told_with_the_extra(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    told = run(*command, "s3://bucket/model.bpk")
    assert told.status == 2 and "needs fsspec: pip install 'burnpy[remote]'" in told.err
    assert told.err.count("\n") == 1


def test_a_scheme_that_nobody_knows_is_told(run: Run) -> None:
    pytest.importorskip("fsspec")
    told = run("inspect", "nowhere://bucket/model.bpk")
    assert told.status == 2 and "nowhere" in told.err and told.err.count("\n") == 1


def test_a_bucket_is_reached_with_the_settings_of_the_environment(
    run: Run, s3: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_file(TENSORS, s3.at("models/a.bpk"))
    settings = {
        "AWS_ENDPOINT_URL": s3.server.url,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
        "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "false",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    told = run("inspect", "--json", f"s3://{s3.name}/models/a.bpk")
    assert told.status == 0 and json.loads(told.out)["total"]["tensors"] == 2, told.err
    assert run("convert", f"s3://{s3.name}/models/a.bpk", f"s3://{s3.name}/models/a.safetensors").status == 0
    assert set(s3.at("models").files()) == {"a.bpk", "a.safetensors"}
