import json
from pathlib import Path

from tests.cli.conftest import Run

ROWS = [
    "memcpy", "open and list", "load, views", "load, touch every page", "load, private copy", "save", "save, synced",
]  # fmt: skip


def test_a_file_is_measured_where_it_is_and_left_alone(run: Run, model: Path) -> None:
    before = model.read_bytes()
    outcome = run("bench", "--repeat", "1", model)
    assert outcome.status == 0
    assert [line for line in ROWS if line not in outcome.out] == []
    assert model.read_bytes() == before
    assert list(model.parent.iterdir()) == [model]


def test_in_a_folder_a_file_is_made_and_removed_again(run: Run, tmp_path: Path) -> None:
    told = json.loads(run("bench", "--json", "--mb", "1", "--repeat", "1", tmp_path).out)
    assert told["bytes"] == 1_000_000
    assert [row["what"] for row in told["rows"]] == ROWS
    assert told["rows"][0]["of_memcpy"] == 1
    assert all(row["seconds"] > 0 for row in told["rows"])
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_data_has_nothing_to_measure(run: Run, tmp_path: Path) -> None:
    from burnpy.numpy import save_file

    save_file({}, tmp_path / "empty.bpk")
    outcome = run("bench", tmp_path / "empty.bpk")
    assert outcome.status == 2 and "nothing to measure" in outcome.err
