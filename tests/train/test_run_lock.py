"""One run at a time in a folder, and none that a dead one keeps others out of."""

import errno
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from burnpy.errors import TrainingError
from burnpy.train import EvaluatorBuilder, ExecutionStrategy, SupervisedTraining, run_lock
from burnpy.train.logger import InMemoryMetricLogger
from burnpy.train.metric import LossMetric
from burnpy.train.run_lock import RunLock
from tests.paths import ROOT
from tests.train.toy import Toy, batches, learner, training

# A run that says when it is in its first step, and stays there until something is written to it.
RUN = """
import os, pathlib, sys
from burnpy.train.renderer import QuietMetricsRenderer
from tests.train.toy import Toy, learner, training

class Waiting(Toy):
    def train_step(self, batch):
        if {fork} and os.fork() == 0:
            os.write(1, b"child\\n")
            os.read(0, 1)
            os._exit(0)
        os.write(1, b"step\\n")
        os.read(0, 1)
        return super().train_step(batch)

of = learner()
of.model.__class__ = Waiting
training(pathlib.Path(sys.argv[1]), epochs=1, renderer=QuietMetricsRenderer()).launch(of)
"""
posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@contextmanager
def running(folder: Path, *, fork: bool = False) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", RUN.format(fork=fork), str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdin is not None
    try:
        told = {process.stdout.readline() for _ in range(1 + fork)}
        assert told == ({"step\n", "child\n"} if fork else {"step\n"})
        yield process
    finally:
        process.kill()
        process.stdin.close()
        process.stdout.read()
        process.stdout.close()
        process.wait()


def test_a_second_run_is_refused_with_what_the_first_one_is_and_changes_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        with pytest.raises(TrainingError) as caught:
            training(tmp_path, epochs=1).launch(learner())
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
        since = json.loads((tmp_path / "run.lock").read_text())["since"]
        assert str(caught.value) == (
            f"another run is at work in {tmp_path}: process {process.pid} on {socket.gethostname()}, since {since}; "
            f"wait for it, stop it, or give this run a folder of its own"
        )
        assert caught.value.kind == "directory" and caught.value.result is None


def test_a_run_that_was_killed_keeps_nobody_out(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        process.kill()
        process.wait()
        assert (tmp_path / "run.lock").exists()
        assert training(tmp_path, epochs=1).launch(learner()).error is None
        assert not (tmp_path / "run.lock").exists()


@posix
def test_a_forked_child_that_outlives_a_killed_run_keeps_nobody_out(tmp_path: Path) -> None:
    with running(tmp_path, fork=True) as process:
        process.kill()
        process.wait()
        assert training(tmp_path, epochs=1).launch(learner()).error is None


@posix
def test_a_forked_child_that_ends_takes_the_lock_from_nobody(tmp_path: Path) -> None:
    code = f"""
import os
from pathlib import Path
from burnpy.train.run_lock import RunLock
with RunLock(Path({str(tmp_path)!r})) as lock:
    child = os.fork()
    if child == 0:
        lock.__exit__()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    try:
        RunLock(Path({str(tmp_path)!r})).__enter__()
    except Exception as error:
        print(error)
"""
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "another run is at work" in told.stdout


def test_two_launches_of_one_process_are_kept_apart_too(tmp_path: Path) -> None:
    refused: list[Exception] = []

    class Nested(Toy):
        def train_step(self, batch: Any) -> Any:
            if not refused:
                worker = threading.Thread(target=launch)
                worker.start()
                worker.join()
            return super().train_step(batch)

    def launch() -> None:
        try:
            training(tmp_path, epochs=1).launch(learner())
        except TrainingError as error:
            refused.append(error)

    of = learner()
    of.model.__class__ = Nested
    assert training(tmp_path, epochs=1).launch(of).error is None
    assert f"process {os.getpid()} on" in str(refused[0])


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b'{"process": 1}', b"\xff"])
def test_a_lock_that_does_not_tell_whose_it_is_still_holds(content: bytes, tmp_path: Path) -> None:
    with RunLock(tmp_path):
        (tmp_path / "run.lock").write_bytes(content)
        with pytest.raises(TrainingError, match=r"run\.lock does not tell whose"):
            RunLock(tmp_path).__enter__()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_a_warning(
    code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(run_lock, "_lock", refuse)
    assert training(tmp_path, epochs=1).launch(learner()).error is None
    assert "run.lock cannot be locked, so a second run in it goes unnoticed" in caplog.text
    assert os.strerror(code) in caplog.text


def test_a_lock_that_was_removed_at_the_last_moment_is_taken_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, times = run_lock._lock, []

    def removed_once(file: int) -> None:
        real(file)
        if not times:
            times.append(1)
            (tmp_path / "run.lock").unlink()

    monkeypatch.setattr(run_lock, "_lock", removed_once)
    with RunLock(tmp_path), pytest.raises(TrainingError, match="another run"):
        RunLock(tmp_path).__enter__()


def test_ranks_of_one_run_lock_once_and_all_are_told_of_another(tmp_path: Path) -> None:
    strategy = ExecutionStrategy.multi(2, num_shards=2)
    go = training(tmp_path, epochs=1, training_strategy=strategy)
    with RunLock(tmp_path), pytest.raises(TrainingError, match="another run is at work"):
        go.launch(learner())
    assert go.launch(learner()).error is None


def test_readers_evaluators_and_runs_that_write_nothing_need_no_lock(tmp_path: Path) -> None:
    training(tmp_path, epochs=1).launch(learner())
    with RunLock(tmp_path):
        evaluator = EvaluatorBuilder(tmp_path).metrics(LossMetric()).build(Toy().valid())
        assert evaluator.eval("test", batches(4)).error is None
        quiet = SupervisedTraining(
            tmp_path,
            batches(4),
            batches(4),
            metrics=[LossMetric()],
            metric_loggers=[InMemoryMetricLogger()],
            application_logger=None,
        )
        assert quiet.launch(learner()).error is None
