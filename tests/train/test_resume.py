"""A run that was stopped, killed or extended ends as one that was not."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from burnpy.errors import RecordError, TrainingError
from burnpy.train import SupervisedTraining
from burnpy.train.checkpoint import CheckpointerError, FileCheckpointer, LearningCheckpointer
from burnpy.train.metric import LossMetric
from tests.paths import ROOT
from tests.train import run
from tests.train.toy import batches, learner, training

EPOCHS = 3
# 4 batches of training and 2 of validation an epoch.
BATCHES = EPOCHS * 6


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing happened to."""
    folder = tmp_path_factory.mktemp("whole")
    run.run(folder, EPOCHS, every=None, slow=0.0, stop_at=None)
    return folder


def assert_same(folder: Path, whole: Path) -> None:
    assert json.loads((folder / "outcome.json").read_text()) == json.loads(
        (whole / "outcome.json").read_text()
    )
    assert logs(folder) == logs(whole)


def logs(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): p.read_text()
        for s in ("train", "valid")
        for p in folder.glob(f"{s}/*/*")
    }


@pytest.mark.parametrize("stop_at", range(1, BATCHES + 1))
def test_a_stop_after_any_batch_changes_nothing(tmp_path: Path, whole: Path, stop_at: int) -> None:
    run.run(tmp_path, EPOCHS, every=None, slow=0.0, stop_at=stop_at)
    run.run(tmp_path, EPOCHS, every=None, slow=0.0, stop_at=None)
    assert_same(tmp_path, whole)


@pytest.mark.parametrize("first", [1, 2])
def test_an_extended_run_is_one_run(tmp_path: Path, whole: Path, first: int) -> None:
    run.run(tmp_path, first, every=None, slow=0.0, stop_at=None)
    run.run(tmp_path, EPOCHS, every=None, slow=0.0, stop_at=None)
    assert_same(tmp_path, whole)


def test_two_stops_and_an_extension_change_nothing(tmp_path: Path, whole: Path) -> None:
    run.run(tmp_path, 2, every=None, slow=0.0, stop_at=3)
    run.run(tmp_path, 2, every=None, slow=0.0, stop_at=4)
    run.run(tmp_path, 2, every=None, slow=0.0, stop_at=None)
    run.run(tmp_path, EPOCHS, every=None, slow=0.0, stop_at=None)
    assert_same(tmp_path, whole)


def test_a_finished_run_that_is_resumed_trains_no_more(tmp_path: Path, whole: Path) -> None:
    run.run(tmp_path, EPOCHS, every=None, slow=0.0, stop_at=None)
    before = (tmp_path / "checkpoint" / f"model-{EPOCHS}.bpk").stat().st_mtime_ns
    run.run(tmp_path, EPOCHS, every=None, slow=0.0, stop_at=None)
    assert_same(tmp_path, whole)
    assert (tmp_path / "checkpoint" / f"model-{EPOCHS}.bpk").stat().st_mtime_ns == before


def test_what_a_kill_left_of_the_middle_of_an_epoch_goes_also_from_a_finished_run(
    tmp_path: Path, whole: Path, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoints, kept = tmp_path / "checkpoint", tmp_path / "kept"
    run.run(tmp_path, EPOCHS, every=1, slow=0.0, stop_at=BATCHES - 1)
    (step,) = checkpoints.glob("step-*")
    shutil.copytree(step, kept)
    run.run(tmp_path, EPOCHS, every=1, slow=0.0, stop_at=None)
    assert not step.exists()
    # A complete one and half of one, both before the last set; and one of which nothing is known but that it is later.
    for name in (step.name, "step-1", "step-999"):
        shutil.copytree(kept, checkpoints / name)
    for name in ("step-1", "step-999"):
        (checkpoints / name / "trainer.bpk").unlink()
    run.run(tmp_path, EPOCHS, every=1, slow=0.0, stop_at=None)
    assert [path.name for path in checkpoints.glob("step-*")] == ["step-999"]
    assert "passed over an incomplete checkpoint" in caplog.text
    assert_same(tmp_path, whole)


def test_a_set_that_cannot_be_deleted_is_no_reason_to_stop(
    tmp_path: Path, whole: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.run(tmp_path, EPOCHS, every=1, slow=0.0, stop_at=None)
    (tmp_path / "checkpoint" / "step-1").mkdir()

    def refuse(*_: object) -> None:
        raise PermissionError(13, "read-only")

    monkeypatch.setattr(LearningCheckpointer, "_delete", refuse)
    run.run(tmp_path, EPOCHS, every=1, slow=0.0, stop_at=None)
    assert f"checkpoints before epoch {EPOCHS} stay in" in caplog.text
    assert_same(tmp_path, whole)


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.train.run", str(folder), str(EPOCHS), *more]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process


def finished(process: subprocess.Popen[str]) -> str:
    """What it wrote to the error stream, once it is over."""
    _, errors = process.communicate(timeout=120)
    return errors


def test_another_process_goes_on_where_one_stopped(tmp_path: Path, whole: Path) -> None:
    finished(start(tmp_path, "--stop-at", "8"))
    process = start(tmp_path)
    assert finished(process) == ""
    assert_same(tmp_path, whole)


def moments() -> list[float]:
    """20 of them, and 200 in a thorough run."""
    draw = random.Random(11)
    count = 200 if os.environ.get("BURNPY_TEST_PROFILE") == "thorough" else 20
    return [draw.uniform(0.0, 0.45) for _ in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("seconds", moments(), ids=str)
def test_a_run_that_is_killed_at_any_moment_ends_the_same(
    tmp_path: Path, whole: Path, seconds: float
) -> None:
    process = start(tmp_path, "--every", "1", "--slow", "0.02")
    time.sleep(seconds)
    process.kill()
    finished(process)
    run.run(tmp_path, EPOCHS, every=1, slow=0.0, stop_at=None)
    assert_same(tmp_path, whole)
    leftovers = [
        path.name for path in tmp_path.rglob("*") if ".tmp" in path.name or path.name.startswith("step-")
    ]
    assert leftovers == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, None), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_run_after_its_group_and_leaves_a_set(
    tmp_path: Path, whole: Path, number: signal.Signals, code: int | None
) -> None:
    process = start(tmp_path, "--slow", "0.1")
    time.sleep(0.25)
    process.send_signal(number)
    errors = finished(process)
    assert "KeyboardInterrupt" in errors if code is None else errors == ""
    assert process.returncode == (code if code is not None else -signal.SIGINT) or code is None
    assert any((tmp_path / "checkpoint").glob("step-*/trainer.bpk"))
    run.run(tmp_path, EPOCHS, every=None, slow=0.0, stop_at=None)
    assert_same(tmp_path, whole)


def test_a_second_signal_ends_the_run_at_once(tmp_path: Path) -> None:
    process = start(tmp_path, "--slow", "30")
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    finished(process)
    assert process.returncode == 143
    assert time.monotonic() - began < 20


def test_signal_handlers_are_those_of_before(tmp_path: Path) -> None:
    before = (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))
    training(tmp_path, epochs=1).launch(learner())
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_full_disk_leaves_the_sets_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save = FileCheckpointer.save

    def full(self: FileCheckpointer, key: int | str, record: Any) -> None:
        if key == 3 and self.name == "optim":
            raise OSError(28, "No space left on device", str(self.path(key)))
        save(self, key, record)

    monkeypatch.setattr(FileCheckpointer, "save", full)
    with pytest.raises(TrainingError, match="No space left on device") as caught:
        training(tmp_path, epochs=9).launch(learner())
    assert caught.value.kind == "checkpoint"
    assert isinstance(caught.value.__cause__, OSError)
    monkeypatch.undo()
    sets = sorted(path.name for path in (tmp_path / "checkpoint").glob("trainer-*"))
    assert {"trainer-2.bpk"} <= set(sets)
    assert "trainer-3.bpk" not in sets
    assert training(tmp_path, epochs=4, resume="latest").launch(learner()).error is None


# ---- where to go on


def test_an_empty_folder_starts_from_the_beginning_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    training(tmp_path, epochs=1, resume="latest").launch(learner())
    assert "no complete checkpoint: training from the beginning" in caplog.text


def test_an_epoch_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    training(tmp_path, epochs=2).launch(learner())
    with pytest.raises(CheckpointerError, match="no complete checkpoint of epoch 7; complete: 1, 2"):
        training(tmp_path, epochs=9, resume=7).launch(learner())


def test_a_file_of_another_set_is_an_error_that_names_both(tmp_path: Path) -> None:
    training(tmp_path, epochs=2).launch(learner())
    folder = tmp_path / "checkpoint"
    (folder / "model-2.bpk").write_bytes((folder / "model-1.bpk").read_bytes())
    with pytest.raises(CheckpointerError, match=r"model-2\.bpk is not the file that .*trainer-2\.bpk"):
        training(tmp_path, epochs=3, resume="latest").launch(learner())


def test_a_set_without_its_trainer_file_is_passed_over_but_for_burns_way(tmp_path: Path) -> None:
    training(tmp_path, epochs=2).launch(learner())
    (tmp_path / "checkpoint" / "trainer-2.bpk").unlink()
    again = training(tmp_path, epochs=2, resume="latest")
    assert again.launch(learner()).history["train"]["Loss"].keys() == {1, 2}
    (tmp_path / "checkpoint" / "trainer-2.bpk").unlink()
    assert training(tmp_path, epochs=3, checkpoint=2).launch(learner()).error is None


def test_best_is_that_of_the_strategy(tmp_path: Path) -> None:
    result = training(tmp_path, epochs=5).launch(learner())
    losses = result.history["valid"]["Loss"]
    best = min(losses, key=lambda epoch: (losses[epoch], epoch))
    assert (tmp_path / "checkpoint" / f"trainer-{best}.bpk").is_file()
    again = training(tmp_path, epochs=best + 1, resume="best").launch(learner())
    assert again.history["train"]["Loss"][best + 1] > 0
    with pytest.raises(CheckpointerError, match="does not tell which checkpoint is best"):
        training(tmp_path / "empty", epochs=1, resume="best").launch(learner())


def test_beating_the_old_best_after_a_resume_deletes_it_and_nothing_else(tmp_path: Path) -> None:
    class Given(LossMetric):
        values = (5.0, 1.0, 3.0, 4.0, 0.5, 2.0)

        def final_value(self) -> Any:
            from burnpy.train.metric.numeric_entry import NumericEntry

            count.append(1)
            return NumericEntry.Final(self.values[(len(count) - 1) // 2])

    count: list[int] = []
    training(tmp_path, epochs=4, metrics=[Given()]).launch(learner())
    kept = sorted(path.name for path in (tmp_path / "checkpoint").glob("model-*"))
    assert kept == ["model-2.bpk", "model-3.bpk", "model-4.bpk"]
    training(tmp_path, epochs=5, metrics=[Given()], resume="latest").launch(learner())
    kept = sorted(path.name for path in (tmp_path / "checkpoint").glob("model-*"))
    assert kept == ["model-4.bpk", "model-5.bpk"]


def test_a_model_of_another_shape_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
    from burnpy import nn

    training(tmp_path, epochs=1).launch(learner())
    other = learner()
    other.model.fc2 = nn.LinearConfig(8, 5).init()
    before = other.model.fc1.weight.val().tolist()
    with pytest.raises(RecordError, match=r"fc2\.weight"):
        training(tmp_path, epochs=2, resume="latest").launch(other)
    assert other.model.fc1.weight.val().tolist() == before


def test_an_optimizer_record_that_cannot_be_read_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    training(tmp_path, epochs=1).launch(learner())
    (tmp_path / "checkpoint" / "optim-1.bpk").write_bytes(
        (tmp_path / "checkpoint" / "model-1.bpk").read_bytes()[:-9]
    )
    other = learner()
    ids = [leaf.id for _, leaf in other.model.named_params()]
    values = [leaf.val().tolist() for _, leaf in other.model.named_params() if hasattr(leaf, "val")]
    with pytest.raises(RecordError):
        training(tmp_path, epochs=2, checkpoint=1).launch(other)
    assert [leaf.id for _, leaf in other.model.named_params()] == ids
    assert [leaf.val().tolist() for _, leaf in other.model.named_params() if hasattr(leaf, "val")] == values


def test_a_loader_without_a_state_is_read_up_to_its_place(tmp_path: Path) -> None:
    def go(folder: Path, **options: Any) -> Any:
        return SupervisedTraining(
            folder,
            batches(12),
            batches(4),
            num_epochs=2,
            metrics=[LossMetric()],
            default_checkpointers=True,
            **options,
        )

    whole = go(tmp_path / "a").launch(learner())
    part = go(tmp_path / "b")
    of = learner()
    step = of.train_step
    calls: list[int] = []

    def stopping(batch: Any) -> Any:
        calls.append(1)
        if len(calls) == 4:
            part.interrupter().stop()
        return step(batch)

    of.train_step = stopping  # type: ignore[method-assign]
    assert part.launch(of).interrupted
    rest = go(tmp_path / "b", resume="latest").launch(learner())
    assert rest.history == whole.history


def test_early_stopping_that_ended_a_run_keeps_it_ended(tmp_path: Path) -> None:
    from burnpy.train import MetricEarlyStoppingStrategy, StoppingCondition
    from burnpy.train.metric.store import Aggregate, Direction, Split

    def strategy() -> MetricEarlyStoppingStrategy:
        patience = StoppingCondition.NoImprovementSince(n_epochs=1)
        return MetricEarlyStoppingStrategy("Loss", Aggregate.Mean, Direction.Highest, Split.Train, patience)

    first = training(tmp_path, epochs=9, early_stopping=strategy()).launch(learner())
    again = training(tmp_path, epochs=9, early_stopping=strategy(), resume="latest").launch(learner())
    assert again.history == first.history
    assert len(first.history["train"]["Loss"]) < 9
