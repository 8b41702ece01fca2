"""A trainer file that is not what was written: its set is none."""

from pathlib import Path

import pytest

from burnpy.errors import BurnpyError, RecordValidationError, TrainingError
from burnpy.record.state import StateSink
from burnpy.train.checkpoint import CheckpointerError, TrainerRecord
from tests.train.toy import learner, training

PLAIN = {"epoch": 3, "rates": [0.5, 0.25], "random": [1, 2, 3, 4]}


def test_any_other_character_in_the_text_is_noticed() -> None:
    data = TrainerRecord(PLAIN, StateSink()).into_bytes()
    start = data.index(b'{"version"')
    for place in range(start, data.index(b"4]}") + 3):
        changed = bytearray(data)
        changed[place] = ord("7") if changed[place] != ord("7") else ord("8")
        with pytest.raises(BurnpyError):
            TrainerRecord.from_bytes(bytes(changed))
    assert TrainerRecord.from_bytes(data).plain == PLAIN


def test_a_text_without_its_hash_is_refused() -> None:
    data = TrainerRecord(PLAIN, StateSink()).into_bytes()
    with pytest.raises(RecordValidationError, match="damaged: its text is not that of its hash"):
        TrainerRecord.from_bytes(data.replace(b"trainer.sha256", b"trainer.sha255"))


def test_the_set_before_is_resumed_from(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    training(tmp_path, epochs=2).launch(learner())
    path = tmp_path / "checkpoint" / "trainer-2.bpk"
    data = bytearray(path.read_bytes())
    start = data.index(b'"random": [') + len(b'"random": [')
    data[start] = ord("7") if data[start] != ord("7") else ord("8")
    path.write_bytes(data)
    with caplog.at_level("INFO", logger="burnpy.train"):
        training(tmp_path, epochs=2, resume="latest").launch(learner())
    assert "resuming from the checkpoint of epoch 1" in caplog.text


# ---- none is left


def test_damage_to_all_sets_is_an_error_that_tells_of_each_and_changes_nothing(tmp_path: Path) -> None:
    training(tmp_path, epochs=3).launch(learner())
    folder = tmp_path / "checkpoint"
    (folder / "trainer-2.bpk").write_bytes(b"nothing")
    size = (folder / "optim-3.bpk").stat().st_size
    (folder / "optim-3.bpk").write_bytes(bytes(5))
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    expected = [
        f"none of the {len(kept) // 4} checkpoints in {folder} is complete, so there is nothing to go on from; "
        f"to start anew, take resume away or choose another folder",
        f"  epoch 3: optim-3.bpk has 5 bytes, not {size}",
    ]
    if "trainer-1.bpk" in kept:
        (folder / "scheduler-1.bpk").unlink()
        del kept["scheduler-1.bpk"]
        expected.insert(1, "  epoch 1: scheduler-1.bpk is missing")
    for where in ("latest", "best"):
        with pytest.raises(TrainingError) as caught:
            training(tmp_path, epochs=4, resume=where).launch(learner())
        told = str(caught.value).splitlines()
        assert [line for line in told if "epoch 2" not in line] == expected
        assert any(line.startswith("  epoch 2: ") and "trainer-2.bpk" in line for line in told)
        assert caught.value.kind == "checkpoint"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == kept


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["model-1", "model-2"], ["epoch 1: optim-1.bpk, scheduler-1.bpk missing", "epoch 2: optim-2.bpk, "]),
        (
            ["model-4", "step-9/model"],
            ["epoch 4: optim-4.bpk, scheduler-4.bpk missing", "step 9: optim.bpk, "],
        ),
    ],
)
def test_files_of_several_sets_none_of_them_whole_are_an_error(
    names: list[str], told: list[str], tmp_path: Path
) -> None:
    for name in names:
        path = tmp_path / "checkpoint" / f"{name}.bpk"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    with pytest.raises(TrainingError, match="none of the 2 checkpoints") as caught:
        training(tmp_path, epochs=1, resume="latest").launch(learner())
    lines = str(caught.value).splitlines()[1:]
    assert all(line.strip().startswith(start) for line, start in zip(lines, told, strict=True))


@pytest.mark.parametrize("names", [["model-1"], ["model-1", "optim-1"], ["step-2/model"]])
def test_a_first_set_that_a_killed_run_left_half_written_starts_anew_and_is_told(
    names: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in names:
        path = tmp_path / "checkpoint" / f"{name}.bpk"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    assert training(tmp_path, epochs=1, resume="latest").launch(learner()).error is None
    assert "passed over an incomplete checkpoint" in caplog.text
    assert "no complete checkpoint: training from the beginning" in caplog.text


def test_an_epoch_that_is_not_complete_is_refused_with_what_is_wrong(tmp_path: Path) -> None:
    training(tmp_path, epochs=2).launch(learner())
    (tmp_path / "checkpoint" / "model-2.bpk").unlink()
    with pytest.raises(CheckpointerError, match=r"of epoch 2; complete: 1; model-2\.bpk is missing"):
        training(tmp_path, epochs=3, resume=2).launch(learner())
