import sys
from pathlib import Path

import numpy as np
import pytest

import burnpy
from burnpy.cli.progress import ProgressBar
from burnpy.numpy import load_file, save_file
from tests.cli.conftest import Run


def test_a_file_is_converted_and_a_table_says_how(run: Run, model: Path) -> None:
    target = model.with_name("out.safetensors")
    outcome = run("convert", model, target, "--map", "^encoder=body", "--dtype", "bf16", "--drop", "mask")
    assert outcome.status == 0
    lines = outcome.out.splitlines()
    assert lines[0] == f"{model} (burnpack) -> {target} (safetensors)"
    assert lines[1].startswith("written: 2 tensors, 30 bytes, 2 metadata, 3 scalars")
    row = next(line for line in lines if line.startswith("body.weight")).split()
    assert row[1:5] == ["bf16", "3x4", "24", "was"] and "encoder.weight;" in row
    assert "dropped (1):" in lines
    with burnpy.open(target) as checkpoint:
        assert set(checkpoint) == {"body.weight", "body.bias"}


def test_a_conversion_there_and_back_is_no_difference(run: Run, model: Path) -> None:
    for middle in ("m.safetensors", "m.npz"):
        between, back = model.with_name(middle), model.with_name("back.bpk")
        assert run("convert", "-q", model, between).out == ""
        assert run("diff", model, between).status == 0
        assert run("convert", "-q", between, back).status == 0
        assert back.read_bytes() == model.read_bytes()


def test_a_dry_run_prints_the_whole_plan_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    save_file({f"w{i}": np.ones(2) for i in range(30)}, tmp_path / "many.bpk")
    target = tmp_path / "out.npz"
    outcome = run("convert", tmp_path / "many.bpk", target, "--dry-run")
    assert outcome.status == 0 and not target.exists()
    assert "would be written: 30 tensors" in outcome.out and "w29" in outcome.out
    assert "... and 10 more" in run("convert", tmp_path / "many.bpk", target).out


def test_what_is_not_there_is_told_once(run: Run, tmp_path: Path) -> None:
    outcome = run("convert", tmp_path / "no.pt", tmp_path / "a.bpk")
    assert outcome.status == 2 and outcome.err == f"burnpy: {tmp_path / 'no.pt'}: No such file or directory\n"


def test_several_files_are_written_with_an_index(run: Run, model: Path) -> None:
    assert run("convert", model, model.with_name("s.safetensors"), "--shard", "30B").status == 2
    assert run("convert", model, model.with_name("s.safetensors"), "--shard", "0.05KB").status == 0
    index = model.with_name("s.safetensors.index.json")
    assert run("inspect", index).out.startswith(f"{index}: safetensors index, 3 tensors")
    assert run("verify", index).status == 0
    assert run("diff", model, index).status == 0


def test_the_adapter_and_the_key_are_passed_on(run: Run, tmp_path: Path) -> None:
    np.savez(
        tmp_path / "a.npz",
        **{"net.fc.weight": np.ones((2, 3)), "net.fc.bias": np.ones(2), "other": np.ones(1)},
    )
    outcome = run(
        "convert", tmp_path / "a.npz", tmp_path / "a.bpk", "--adapter", "pytorch", "--top-level-key", "net"
    )
    assert "transposed (Linear: weight of 2 axes with a bias)" in outcome.out
    assert "top-level key: net" in outcome.out and "outside of the top-level key (1):" in outcome.out
    assert load_file(tmp_path / "a.bpk")["fc.weight"].shape == (3, 2)


def test_what_cannot_be_held_is_listed_unless_the_loss_is_allowed(run: Run, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", c=np.ones(2, np.complex64), w=np.ones(2))
    outcome = run("convert", tmp_path / "a.npz", tmp_path / "a.bpk")
    assert outcome.status == 2
    assert "  tensor 'c': burnpack has no dtype for c64" in outcome.err.splitlines()
    assert outcome.err.splitlines()[-1].startswith("burnpy: ") and "allow the loss" in outcome.err
    assert not (tmp_path / "a.bpk").exists()
    outcome = run("convert", tmp_path / "a.npz", tmp_path / "a.bpk", "--allow-loss")
    assert outcome.status == 0 and "lost (1):" in outcome.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--map", "no-equals"], "must be REGEX=NEW"),
        (["--map", "(=x"], "unclosed"),
        (["--only", "("], "unclosed"),
        (["--dtype", "f7"], "f7"),
        (["--adapter", "keras"], "invalid choice"),
        (["--shard", "much"], "5GB"),
        (["--format", "onnx"], "onnx"),
        (["--no-overwrite"], "overwriting is off"),
        (["--top-level-key", "nope"], "nope"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(run: Run, model: Path, options: list[str], words: str) -> None:
    target = model.with_name("out.bpk")
    target.write_text("old")
    outcome = run("convert", model, target, *options)
    assert outcome.status == 2 and outcome.err.startswith("burnpy: ") and words in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert target.read_text() == "old"


def test_a_pattern_may_have_an_equals_sign(run: Run, tmp_path: Path) -> None:
    save_file({"a=b": np.ones(1)}, tmp_path / "a.bpk")
    run("convert", tmp_path / "a.bpk", tmp_path / "b.bpk", "--map", "^a=b$=c")
    assert list(load_file(tmp_path / "b.bpk")) == ["c"]


def test_names_that_a_terminal_would_obey_are_shown_as_escapes(run: Run, tmp_path: Path) -> None:
    save_file({"w\x1b[31m\n": np.ones(1)}, tmp_path / "a.bpk")
    out = run("convert", tmp_path / "a.bpk", tmp_path / "b.bpk").out
    assert r"w\x1b[31m\n" in out and "\x1b" not in out


# How far it is.


class _Terminal:
    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


def _watched(monkeypatch: pytest.MonkeyPatch, stream: object, seconds: float) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "rich.console", None)  # as if rich was not installed
    now = [0.0]
    monkeypatch.setattr("burnpy.cli.progress.time.monotonic", lambda: now[0])
    with ProgressBar() as progress:
        for step in range(10):
            now[0] += seconds / 10
            progress(f"layer{step}.weight", step * 100, 1000)


def test_long_work_is_told_of_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = _Terminal()
    _watched(monkeypatch, terminal, 60)
    lines = terminal.text.splitlines()
    assert len(lines) == 10 and lines[3] == " 30% of 1.0 kB: layer3.weight"
    monkeypatch.undo()
    _watched(monkeypatch, sys.stderr, 60)
    assert capsys.readouterr().err == ""


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Terminal()
    _watched(monkeypatch, terminal, 0.5)
    assert terminal.text == ""


# The other commands, on files of other formats.


def test_inspect_shows_a_checkpoint_of_another_format(run: Run, tmp_path: Path) -> None:
    import json
    import pickle

    np.savez(tmp_path / "a.npz", w=np.ones((2, 3), np.float32), text=np.array(["a"]))
    outcome = run("inspect", tmp_path / "a.npz")
    assert outcome.out.startswith(f"{tmp_path / 'a.npz'}: npz, 1 tensor, 6 elements, 24 B")
    assert "no data, not built" in outcome.out
    told = json.loads(run("inspect", "--json", tmp_path / "a.npz").out)
    assert told["format"] == "npz" and told["tensors"][0]["shape"] == [2, 3]
    (tmp_path / "a.pkl").write_bytes(pickle.dumps({"epoch": 3, "none": None, "z": 1 + 2j}, protocol=2))
    told = json.loads(run("inspect", "--json", tmp_path / "a.pkl").out)
    assert told["scalars"]["epoch"] == {"kind": "UInt", "value": 3}
    assert told["scalars"]["none"] == {"kind": "NoneType", "value": None}
    assert told["scalars"]["z"] == {"kind": "complex", "value": "(1+2j)"}


def test_diff_compares_across_formats_to_the_bit(run: Run, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", w=np.array([1.0, 2.0]), c=np.array([1 + 2j, 3j]))
    np.savez(tmp_path / "b.npz", w=np.array([1.0, 2.5]), c=np.array([1 + 2j, 3 + 0j]))
    run("convert", "-q", tmp_path / "a.npz", tmp_path / "a.safetensors", "--drop", "^c$")
    assert run("diff", tmp_path / "a.npz", tmp_path / "a.npz").status == 0
    outcome = run("diff", tmp_path / "a.npz", tmp_path / "b.npz")
    assert "1 of 2 values differ, by up to 0.5" in outcome.out
    assert "1 of 2 values differ, by up to 4.24" in outcome.out
    assert run("diff", tmp_path / "a.npz", tmp_path / "a.safetensors").out == "tensor c: only in A\n"


def test_verify_reads_every_tensor_of_other_formats(run: Run, tmp_path: Path) -> None:
    import zipfile

    path = tmp_path / "a.npz"
    np.savez_compressed(path, w=np.arange(1000.0))
    assert run("verify", path).out == f"{path}: ok\n"
    with zipfile.ZipFile(path) as archive:
        at = archive.getinfo("w.npy").header_offset
    data = bytearray(path.read_bytes())
    data[at + 300 : at + 340] = bytes(40)
    path.write_bytes(data)
    outcome = run("verify", path)
    assert outcome.status == 1 and "tensor 'w'" in outcome.out
