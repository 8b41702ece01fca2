"""A training whose artifact folder is elsewhere."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burnpy.errors import StorageError, TrainingError
from burnpy.storage import Location, Transfer, at
from burnpy.train import EvaluatorBuilder, LearningResult
from burnpy.train.checkpoint import (
    CheckpointerError,
    ComposedCheckpointingStrategy,
    KeepLastNCheckpoints,
    LearningCheckpointer,
    complete_sets,
)
from burnpy.train.logger import JsonLinesMetricLogger
from burnpy.train.metric import LossMetric
from burnpy.train.renderer import QuietMetricsRenderer
from burnpy.train.strategy import DataParallelStrategy
from tests.storage.conftest import Bucket
from tests.storage.servers import Asked
from tests.train.run import make_learner, outcome
from tests.train.toy import Toy, batches, learner, training

IMPATIENT = Transfer(retries=1, backoff_s=0.0)


@pytest.fixture(params=["memory", "obstore s3", "fsspec s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    if request.param == "memory":
        pytest.importorskip("fsspec")
        return at(f"memory://{tmp_path.name}/run")
    return request.getfixturevalue("s3").at("runs/1", engine=request.param.split()[0])


def launch(folder: Any, epochs: int, *, stop_after: int | None = None, **more: Any) -> dict[str, Any]:
    """A run with everything that could differ; what it came to."""
    of, options = make_learner(), {"grads_accumulation": 2} | more
    run = training(folder, epochs=epochs, **options)
    if stop_after is not None:
        of.model.train_step = functools.partial(
            _stopping, of.model.train_step, run.interrupter(), [stop_after]
        )
    return outcome(run.launch(of), of)


def _stopping(step: Callable[[Any], Any], interrupter: Any, left: list[int], batch: Any) -> Any:
    left[0] -= 1
    if left[0] == 0:
        interrupter.stop("as asked")
    return step(batch)


def names(folder: Location) -> set[str]:
    return {name for name in folder.files() if name.startswith("checkpoint/")}


def logs(folder: Location) -> dict[str, bytes]:
    found = folder.files()
    return {n: bytes(folder.child(n).read()) for n in found if n.startswith(("train/", "valid/"))}


def of_set(epoch: int) -> set[str]:
    return {f"checkpoint/{part}-{epoch}.bpk" for part in ("model", "optim", "scheduler", "trainer")}


def test_a_run_in_a_store_is_that_of_a_folder_and_so_is_one_that_goes_on_there(
    folder: Location, tmp_path: Path
) -> None:
    whole = launch(tmp_path / "here", 3)
    launch(folder, 1)
    launch(folder, 3, resume="latest", stop_after=2)
    assert [found.key for found in complete_sets(folder.child("checkpoint"))][-1] == "step-3"
    assert launch(folder, 3, resume="latest") == whole
    assert logs(folder) == logs(at(tmp_path / "here"))
    told = bytes(folder.child("experiment.log").read()).decode()
    assert (
        "resuming from the checkpoint of epoch 1" in told and "resuming from the checkpoint of step 3" in told
    )
    assert names(folder) == names(at(tmp_path / "here"))


def test_what_a_strategy_gives_up_is_deleted_there(folder: Location) -> None:
    launch(folder, 3, checkpointing_strategy=KeepLastNCheckpoints(1), checkpoint_every=1)
    assert names(folder) == of_set(3)
    assert [found.key for found in complete_sets(folder.child("checkpoint"))] == [3]


def test_the_best_set_and_one_of_an_epoch_are_gone_on_from(folder: Location, tmp_path: Path) -> None:
    first = launch(folder, 3)
    best = min(first["history"]["valid"]["Loss"].items(), key=lambda item: item[1])[0]
    here = launch(tmp_path, 3)
    assert here == first
    assert launch(folder, 3, resume="best") == launch(tmp_path, 3, resume="best")
    assert launch(folder, 3, resume=best) == launch(tmp_path, 3, resume=best)
    with pytest.raises(CheckpointerError, match=r"run.* has no complete checkpoint of epoch 9; complete: "):
        launch(folder, 3, resume=9)


def test_a_set_is_read_once_to_go_on_from_it(s3: Bucket) -> None:
    folder = s3.at("run")
    launch(folder, 1)
    size = folder.child("checkpoint/model-1.bpk").stat().size
    s3.server.clear()
    launch(folder, 1, resume="latest")
    asked = [one for one in s3.server.of("model-1.bpk") if one.method == "GET" and one.range]
    assert sum(min(one.range[1], size) - one.range[0] for one in asked if one.range) == size


def test_a_set_that_was_sent_is_not_read_back(s3: Bucket) -> None:
    launch(s3.at("run"), 1)
    assert [one for one in s3.server.of("-1.bpk") if one.method == "GET"] == []


def test_a_mixed_set_is_refused(folder: Location) -> None:
    launch(folder, 2)
    kept = folder.child("checkpoint")
    other = bytearray(kept.child("model-2.bpk").read())
    other[-1] ^= 1
    with kept.child("model-2.bpk").create() as upload:
        upload.write(other)
        upload.commit()
    with pytest.raises(
        CheckpointerError, match=r"model-2\.bpk is not the file that .*trainer-2\.bpk was written"
    ):
        launch(folder, 3, resume="latest")


def test_a_set_without_its_trainer_file_is_none(folder: Location) -> None:
    launch(folder, 2)
    folder.child("checkpoint/trainer-2.bpk").delete()
    assert [found.key for found in complete_sets(folder.child("checkpoint"))] == [1]


@pytest.mark.parametrize("engine", ["fsspec", "obstore"])
@pytest.mark.parametrize("part", ["model", "optim", "trainer"])
def test_an_upload_that_fails_ends_the_run_and_the_older_sets_stand(
    s3: Bucket, part: str, engine: str
) -> None:
    folder = s3.at("run", engine=engine, transfer=IMPATIENT)

    def fault(asked: Asked) -> int | None:
        return 403 if asked.method in ("PUT", "POST") and f"{part}-2.bpk" in asked.path else None

    s3.server.fault = fault
    with pytest.raises(TrainingError, match="a checkpoint could not be saved") as caught:
        launch(folder, 4)
    assert caught.value.kind == "checkpoint" and isinstance(caught.value.__cause__, PermissionError)
    s3.server.fault = lambda asked: None
    assert of_set(1) <= names(folder) and f"checkpoint/{part}-2.bpk" not in names(folder)
    assert [found.key for found in complete_sets(folder.child("checkpoint"))] == [1]


def test_the_cause_is_the_storages_error(s3: Bucket) -> None:
    folder = s3.at("run", engine="fsspec", transfer=IMPATIENT)
    s3.server.fault = lambda asked: 507 if asked.method == "PUT" and "optim-1" in asked.path else None
    with pytest.raises(TrainingError, match="a checkpoint could not be saved") as caught:
        launch(folder, 2)
    cause = caught.value.__cause__
    assert isinstance(cause, StorageError) and cause.status == 507 and cause.url.endswith("/optim-1.bpk")


def test_logs_that_cannot_be_sent_end_the_run_and_are_left_here(
    s3: Bucket, caplog: pytest.LogCaptureFixture
) -> None:
    folder = s3.at("run", engine="fsspec", transfer=IMPATIENT)
    s3.server.fault = lambda asked: 507 if asked.method == "PUT" and ".log" in asked.path else None
    with pytest.raises(TrainingError, match="the logs could not be sent") as caught:
        launch(folder, 3, default_checkpointers=False)
    assert isinstance(caught.value.__cause__, StorageError) and caught.value.kind == "event_processor"
    assert isinstance(caught.value.result, LearningResult)
    left = Path(caplog.messages[-1].rpartition(" ")[2])
    assert (left / "valid/epoch-1/Loss.log").is_file() and not (left / "valid/epoch-2").exists()


def test_logs_come_at_the_end_of_each_epoch(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    folder, of = at(f"memory://{tmp_path.name}/run"), make_learner()
    seen: list[set[str]] = []
    step = of.model.train_step
    of.model.train_step = lambda batch: (seen.append(set(folder.files())), step(batch))[1]
    training(folder, epochs=2, default_checkpointers=False).launch(of)
    assert seen[0] == set() == seen[3]
    assert {"train/epoch-1/Loss.log", "valid/epoch-1/Accuracy.log", "experiment.log"} <= seen[4]
    assert not any("epoch-2" in name for name in seen[-1])
    assert "valid/epoch-2/Loss.log" in folder.files()


def test_a_folder_of_ones_own_for_logs_stays_and_all_of_it_is_sent(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    folder, here = at(f"memory://{tmp_path.name}/run"), tmp_path / "here"
    run = training(folder, epochs=1, local_directory=here, summary=True)
    run.with_metric_logger(JsonLinesMetricLogger(here)).launch(learner())
    sent = {name for name in folder.files() if not name.startswith("checkpoint/")}
    assert sent == {path.relative_to(here).as_posix() for path in here.rglob("*") if path.is_file()}
    assert sent == {"metrics.jsonl", "experiment.log"}
    assert run.directory == folder


def test_a_temporary_folder_is_gone_when_all_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run = training(f"memory://{tmp_path.name}/run", epochs=1)
    assert list(tmp_path.iterdir()) == []
    run.launch(learner())
    assert [path for path in tmp_path.iterdir() if path.name.startswith("burnpy-")] == []


def test_several_ranks_give_the_same_run_and_the_first_alone_writes(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    folder = at(f"memory://{tmp_path.name}/run")
    options: dict[str, Any] = {"grads_accumulation": None}
    one = launch(folder.child("1"), 2, training_strategy=DataParallelStrategy(1, num_shards=2), **options)
    two = launch(
        folder.child("2"),
        2,
        training_strategy=DataParallelStrategy(2, num_shards=2, share_checkpoints=True),
        **options,
    )
    assert one == two
    assert names(folder.child("1")) == names(folder.child("2")) == of_set(1) | of_set(2)


def test_a_model_that_fails_leaves_its_logs_there(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    folder, of = at(f"memory://{tmp_path.name}/run"), make_learner()

    def fail(batch: Any) -> Any:
        raise RuntimeError("no such step")

    of.model.train_step = fail
    with pytest.raises(RuntimeError, match="no such step"):
        training(folder, epochs=1).launch(of)
    assert "experiment.log" in folder.files()


def test_a_store_that_does_not_answer_is_told_before_anything_is_trained(s3: Bucket) -> None:
    folder = s3.at("run", transfer=IMPATIENT)
    s3.server.fault = lambda asked: 503
    with pytest.raises(StorageError, match="status 503"):
        launch(folder, 1, resume="latest")


def test_a_store_without_an_answer_is_no_empty_folder(s3: Bucket) -> None:
    launch(s3.at("run"), 1)
    s3.server.fault = lambda asked: 503 if "trainer-1" in asked.path else None
    with pytest.raises(StorageError, match=r"trainer-1\.bpk"):
        complete_sets(s3.at("run/checkpoint", transfer=IMPATIENT))


def test_a_folder_for_logs_is_refused_where_the_run_is_here(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="local_directory is for an artifact folder elsewhere"):
        training(tmp_path, epochs=1, local_directory=tmp_path / "logs")


@pytest.mark.parametrize("bad", [3, None, b"run"])
def test_what_is_no_place_is_refused(bad: Any) -> None:
    with pytest.raises(TypeError):
        training(bad, epochs=1)


def test_a_missing_package_is_told_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(ImportError, match=r"s3://bucket/run needs fsspec: pip install 'burnpy\[remote\]'"):
        training("s3://bucket/run", epochs=1)


def test_other_checkpointers_go_with_a_trainer_file_there(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    from burnpy.train.checkpoint import FileCheckpointer

    folder = at(f"memory://{tmp_path.name}/run")
    kept = tuple(FileCheckpointer(tmp_path / "kept", part) for part in ("model", "optim", "scheduler"))
    strategy = ComposedCheckpointingStrategy([KeepLastNCheckpoints(1)])
    launch(folder, 2, default_checkpointers=False, checkpointers=kept, checkpointing_strategy=strategy)
    assert names(folder) == {"checkpoint/trainer-2.bpk"}
    whole = launch(tmp_path / "whole", 3)
    more = {"default_checkpointers": False, "checkpointers": kept, "resume": "latest"}
    assert launch(folder, 3, **more) == whole
    assert isinstance(LearningCheckpointer(folder).folder, Location)


def test_an_evaluation_goes_there_too(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    folder = at(f"memory://{tmp_path.name}/run")
    builder = EvaluatorBuilder(folder).metrics(LossMetric()).renderer(QuietMetricsRenderer()).summary()
    builder.build(Toy().valid()).eval("digits", batches(8))
    assert list(folder.files()) == ["test/digits/Loss.log"]


def test_an_evaluation_that_cannot_be_sent_is_an_error_with_what_it_measured(s3: Bucket) -> None:
    builder = EvaluatorBuilder(s3.at("run", engine="fsspec", transfer=IMPATIENT)).metrics(LossMetric())
    s3.server.fault = lambda asked: 507 if ".log" in asked.path else None
    with pytest.raises(TrainingError, match="the logs could not be sent") as caught:
        builder.renderer(QuietMetricsRenderer()).build(Toy().valid()).eval("digits", batches(8))
    assert isinstance(caught.value.__cause__, StorageError)
    assert "digits" in caught.value.result.metrics


def test_whatever_a_kill_leaves_there_is_gone_on_from(tmp_path: Path) -> None:
    store = pytest.importorskip("fsspec").filesystem("memory").store
    folder, of, moments = at(f"memory://{tmp_path.name}/run"), make_learner(), []
    step = of.model.train_step
    of.model.train_step = lambda batch: (moments.append(dict(store)), step(batch))[1]
    options: dict[str, Any] = {"grads_accumulation": 2, "checkpoint_every": 1}
    training(folder, epochs=2, **options).launch(of)
    whole = launch(tmp_path / "here", 2)
    assert len(moments) == 8
    for number, moment in enumerate(moments):
        left = at(f"memory://{tmp_path.name}/{number}")
        for key, file in moment.items():
            if key.startswith(f"{folder.key}/"):
                with left.child(key.removeprefix(f"{folder.key}/")).create() as upload:
                    upload.write(file.getvalue())
                    upload.commit()
        assert launch(left, 2, resume="latest", **options) == whole
        assert logs(left) == logs(at(tmp_path / "here"))
