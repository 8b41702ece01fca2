from pathlib import Path

import numpy as np

from burnpy.numpy import save_file
from tests.cli.conftest import Run


def _patched(path: Path, changes: dict[int, int]) -> Path:
    data = bytearray(path.read_bytes())
    for offset, byte in changes.items():
        data[offset] = byte
    out = path.with_name("patched.bpk")
    out.write_bytes(data)
    return out


def test_a_file_that_burnpy_wrote_is_ok(run: Run, model: Path) -> None:
    outcome = run("verify", model)
    assert (outcome.status, outcome.out) == (0, f"{model}: ok\n")
    assert run("verify", "--quiet", model).out == ""


def test_every_reason_is_told(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "flags.bpk"
    save_file({"a": np.ones(3, bool), "b": np.zeros(2, np.uint32)}, path)
    size = path.stat().st_size
    start = size - 8 - 256
    wrong = _patched(path, {4: 0, start - 1: 9, start + 1: 7, start + 3: 1})
    outcome = run("verify", wrong)
    assert outcome.status == 1
    reasons = outcome.out.splitlines()
    assert all(reason.startswith(f"{wrong}: ") for reason in reasons)
    for words in (
        "version",
        f"padding byte {start - 1}",
        f"padding byte {start + 3}",
        'tensor "a": element 1',
    ):
        assert any(words in reason for reason in reasons), words
    assert len(reasons) == 4


def test_one_wrong_file_among_many_gives_status_1_and_all_are_told(run: Run, model: Path) -> None:
    cut = model.with_name("cut.bpk")
    cut.write_bytes(model.read_bytes()[:-1])
    outcome = run("verify", model, cut)
    assert outcome.status == 1
    assert outcome.out.splitlines()[0] == f"{model}: ok"
    assert "cut off" in outcome.out.splitlines()[1]


def test_a_damaged_file_of_another_format_is_not_valid_and_said_to_be_what_it_is(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "model.pt").write_bytes(b"PK\x03\x04 and so on, for more than ten bytes")
    outcome = run("verify", tmp_path / "model.pt")
    assert outcome.status == 1
    assert "truncated: the archive has no end" in outcome.out


def test_a_file_that_is_not_there_is_an_error_not_an_invalid_file(run: Run, tmp_path: Path) -> None:
    outcome = run("verify", tmp_path / "none.bpk")
    assert (outcome.status, outcome.out) == (2, "")
