"""A run from start to end: what is called when, what is written, what is raised."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import burnpy as bp
from burnpy.errors import TrainingError
from burnpy.optim import AdamConfig
from burnpy.train import (
    Interrupter,
    Learner,
    MetricEarlyStoppingStrategy,
    StoppingCondition,
    SupervisedTraining,
)
from burnpy.train.checkpoint import KeepLastNCheckpoints
from burnpy.train.metric import AccuracyMetric, LossMetric
from burnpy.train.metric.metric import Numeric
from burnpy.train.metric.store import Aggregate, Direction, Split
from burnpy.train.renderer import MetricsRenderer
from tests.train.toy import Toy, batches, learner, training


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_run_writes_burns_files(tmp_path: Path) -> None:
    result = training(tmp_path, epochs=2).launch(learner())
    assert result.interrupted is None
    assert result.error is None
    expected = [
        f"checkpoint/{part}-{e}.bpk" for part in ("model", "optim", "scheduler", "trainer") for e in (1, 2)
    ]
    expected += [
        f"{s}/epoch-{e}/{m}.log" for s in ("train", "valid") for e in (1, 2) for m in ("Accuracy", "Loss")
    ]
    assert files(tmp_path) == sorted([*expected, "experiment.log"])


def test_nothing_is_created_before_launch(tmp_path: Path) -> None:
    training(tmp_path / "run", epochs=2)
    assert not (tmp_path / "run").exists()


def test_the_model_of_the_result_is_for_inference_and_that_of_the_last_checkpoint(tmp_path: Path) -> None:
    result = training(tmp_path, epochs=1).launch(learner())
    fresh = learner()
    fresh.load_model(bp.ModuleRecord.load(tmp_path / "checkpoint" / "model-1"))
    for (_, ours), (_, theirs) in zip(result.model.named_params(), fresh.model.named_params(), strict=True):
        a = ours.val() if hasattr(ours, "val") else ours.value()
        b = theirs.val() if hasattr(theirs, "val") else theirs.value()
        assert a.numpy().tobytes() == b.numpy().tobytes()
        assert not a.is_autodiff()


def test_events_come_in_burns_order(tmp_path: Path) -> None:
    calls: list[str] = []

    class Log(MetricsRenderer):
        def start(
            self, total_epochs: int, starting_epoch: int, total_items: Any = None, label: Any = None
        ) -> None:
            calls.append(f"start {total_epochs} {starting_epoch} {label}")

        def start_split(self, name: str, total_items: int | None) -> None:
            calls.append(f"{name} {total_items}")

        def update_split(self, items_processed: int) -> None:
            calls.append(str(items_processed))

        def end_split(self) -> None:
            calls.append("end")

        def update_epoch(self, epoch: int) -> None:
            calls.append(f"epoch {epoch}")

        def end(self) -> None:
            calls.append("over")

    training(tmp_path, epochs=1, items=10, renderer=Log(), label="mine").launch(learner())
    assert calls == [
        "start 1 1 mine",
        "train 10",
        "4",
        "8",
        "10",
        "end",
        "valid 6",
        "4",
        "6",
        "end",
        "epoch 1",
        "over",
    ]


def test_the_learning_rate_of_an_item_is_that_of_the_last_step(tmp_path: Path) -> None:
    seen: list[float] = []

    class Rate(LossMetric):
        def update(self, input: Any, metadata: Any = None, **_: Any) -> Any:
            rate = metadata.lr
            seen.append(rate.base() if hasattr(rate, "base") else rate)
            return super().update(input, metadata)

    run = training(tmp_path, epochs=1, items=20, metrics=[], grads_accumulation=2)
    run.metric_train_numeric(Rate())
    run.launch(learner(rate=bp.lr_scheduler.LinearLrSchedulerConfig(0.3, 0.1, 2).init()))
    # Five batches in groups of two: the tail is stepped too.
    assert seen == pytest.approx([0.0, 0.3, 0.3, 0.2, 0.1])


def test_accumulated_gradients_are_summed_and_the_tail_is_applied(tmp_path: Path) -> None:
    once = training(tmp_path / "a", epochs=1, items=8, grads_accumulation=3).launch(learner(dropout=0.0))
    before = learner(dropout=0.0).model
    assert any(
        a.val().tolist() != b.val().tolist()
        for (_, a), (_, b) in zip(once.model.named_params(), before.named_params(), strict=True)
        if hasattr(a, "val")
    )


def failing(error: Exception, after: int) -> Callable[[], Any]:
    class Failing:
        def __iter__(self) -> Any:
            for i, batch in enumerate(batches(20)):
                if i == after:
                    raise error
                yield batch

    return Failing


def test_an_error_of_the_data_is_raised_with_the_result_so_far(tmp_path: Path) -> None:
    loader = failing(OSError(5, "the disk is gone"), 2)()
    run = SupervisedTraining(tmp_path, loader, batches(6), metrics=[LossMetric()], default_checkpointers=True)
    with pytest.raises(TrainingError, match="the disk is gone") as caught:
        run.launch(learner())
    assert caught.value.kind == "dataset"
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.result.error is caught.value
    assert (tmp_path / "train" / "epoch-1" / "Loss.log").read_text().count("\n") == 3
    assert not (tmp_path / "checkpoint").exists()


def test_burns_way_of_errors_is_there_on_request(tmp_path: Path) -> None:
    loader = failing(ValueError("bad item"), 1)()
    result = SupervisedTraining(tmp_path, loader, batches(6)).launch(learner(), raise_errors=False)
    assert result.error is not None
    assert result.interrupted is None


def test_a_metric_that_fails_ends_the_run_and_is_named(tmp_path: Path) -> None:
    class Broken(LossMetric):
        def name(self) -> str:
            return "Broken"

        def update(self, input: Any, metadata: Any = None, **_: Any) -> Any:
            raise ZeroDivisionError("nothing to divide by")

    with pytest.raises(TrainingError, match="train/Broken: nothing to divide by") as caught:
        training(tmp_path, epochs=3, metrics=[Broken(), AccuracyMetric()]).launch(learner())
    assert caught.value.kind == "event_processor"
    assert caught.value.__cause__.split == Split.Train


def test_what_the_models_own_code_raises_comes_out_as_it_is(tmp_path: Path) -> None:
    broken = learner()
    broken.model.fc1 = None
    with pytest.raises(TypeError, match="NoneType"):
        training(tmp_path, epochs=1).launch(broken)


def test_a_stopped_run_says_why_and_has_a_set_in_the_middle_of_the_epoch(tmp_path: Path) -> None:
    interrupter = Interrupter()

    class Stop(LossMetric):
        def update(self, input: Any, metadata: Any = None, **_: Any) -> Any:
            if metadata.iteration == 2:
                interrupter.stop("enough")
            return super().update(input, metadata)

    result = training(tmp_path, epochs=3, metrics=[Stop()], interrupter=interrupter).launch(learner())
    assert result.interrupted is not None
    assert result.interrupted.reason == "enough"
    assert files(tmp_path / "checkpoint") == [
        f"step-2/{p}.bpk" for p in ("model", "optim", "scheduler", "trainer")
    ]
    assert not (tmp_path / "valid").exists()


def test_a_set_of_the_middle_goes_when_a_later_one_is_complete(tmp_path: Path) -> None:
    training(tmp_path, epochs=2, checkpoint_every=1, checkpointing_strategy=KeepLastNCheckpoints(1)).launch(
        learner()
    )
    assert files(tmp_path / "checkpoint") == [
        f"{p}-2.bpk" for p in ("model", "optim", "scheduler", "trainer")
    ]


def test_early_stopping_keeps_the_set_of_the_epoch_that_stopped(tmp_path: Path) -> None:
    class Worse(LossMetric):
        def final_value(self) -> Any:
            from burnpy.train.metric.numeric_entry import NumericEntry

            worse.append(1)
            return NumericEntry.Final(float(len(worse)))

    worse: list[int] = []
    patience = StoppingCondition.NoImprovementSince(n_epochs=1)
    strategy = MetricEarlyStoppingStrategy("Loss", Aggregate.Mean, Direction.Lowest, Split.Train, patience)
    training(tmp_path, epochs=9, metrics=[Worse()], early_stopping=strategy).launch(learner())
    assert (tmp_path / "checkpoint" / "trainer-2.bpk").is_file()
    assert not (tmp_path / "checkpoint" / "trainer-3.bpk").is_file()


class NotANumber(LossMetric):
    def final_value(self) -> Any:
        from burnpy.train.metric.numeric_entry import NumericEntry

        return NumericEntry.Final(float("nan"))


def test_nan_never_wins_and_never_blocks(tmp_path: Path) -> None:
    result = training(tmp_path, epochs=4, metrics=[NotANumber()]).launch(learner())
    assert result.error is None
    kept = sorted(path.name for path in (tmp_path / "checkpoint").glob("model-*"))
    assert kept[-2:] == ["model-3.bpk", "model-4.bpk"]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"num_epochs": -1}, "num_epochs must be 0 or more, got -1"),
        ({"num_epochs": 1.5}, "num_epochs must be an integer, got 1.5"),
        ({"grads_accumulation": 0}, "grads_accumulation must be 1 or more, got 0"),
        ({"checkpoint_every": 0}, "checkpoint_every must be 1 or more"),
        ({"checkpoint": 0}, "checkpoint must be 1 or more"),
        ({"resume": "newest"}, "resume must be 'latest', 'best' or an epoch, got 'newest'"),
        ({"metrics": [LossMetric(), LossMetric()]}, "two metrics of the split train have the name 'Loss'"),
        ({"metrics": [LossMetric]}, "call it first"),
        ({"metrics": [3]}, "3 is not a metric of numbers"),
        ({"training_strategy": 3}, "training_strategy must have fit, got int"),
        ({"checkpointers": (1, 2, 3)}, "the model checkpointer must have save, restore, delete, got int"),
        ({"metric_loggers": ["x"]}, "metric logger must have log, log_metric_definition, got str"),
        ({"progress_logger": 3}, "progress_logger must have start, end, got int"),
        ({"renderer": 3}, "renderer must have update_train, close, got int"),
        ({"checkpointing_strategy": 3}, "checkpointing_strategy must have checkpointing, got int"),
        ({"checkpointing_strategy": KeepLastNCheckpoints}, "got the class KeepLastNCheckpoints"),
        ({"early_stopping": 3}, "early_stopping must have should_stop, got int"),
        ({"interrupter": 3}, "interrupter must have stop, should_stop, got int"),
    ],
)
def test_bad_arguments_are_refused_by_name(tmp_path: Path, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message.replace("(", r"\(")):
        SupervisedTraining(tmp_path, batches(4), batches(4), **keywords)


def test_loaders_that_give_one_pass_only_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="dataloader_train must give a pass per epoch, got an iterator"):
        SupervisedTraining(tmp_path, iter(batches(4)), batches(4))
    with pytest.raises(TypeError, match="dataloader_valid must be a data loader or an iterable, got int"):
        SupervisedTraining(tmp_path, batches(4), 3)


def test_a_model_without_steps_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    from burnpy import optim
    from burnpy.train import Learner

    with pytest.raises(TypeError, match=r"Bare has no method train_step\(batch\)"):
        Learner(type("Bare", (bp.Module,), {})(), optim.SgdConfig().init(), 0.1)
    with pytest.raises(TypeError, match=r"did you forget .init\(\)"):
        Learner(learner().model, optim.SgdConfig(), 0.1)  # type: ignore[arg-type]


def test_going_on_without_checkpointers_is_refused(tmp_path: Path) -> None:
    run = SupervisedTraining(tmp_path, batches(4), batches(4), checkpoint=3)
    with pytest.raises(ValueError, match="have checkpointers"):
        run.launch(learner())


def test_an_item_that_metrics_cannot_read_is_told_with_its_type(tmp_path: Path) -> None:
    odd = learner()
    kind = type(odd.model)

    class Odd(kind):  # type: ignore[misc, valid-type]
        def train_step(self, batch: Any) -> Any:
            output = super().train_step(batch)
            output.item = 3
            return output

    odd.model.__class__ = Odd
    with pytest.raises(TrainingError, match="the step returned int, which has no method adapt, so 'Loss'"):
        training(tmp_path, epochs=1).launch(odd)


def test_summary_and_history_agree(tmp_path: Path) -> None:
    shown: list[Any] = []

    class Keep(MetricsRenderer):
        def on_train_end(self, summary: Any = None) -> None:
            shown.append(summary)

    result = training(tmp_path, epochs=2, summary=True, renderer=Keep()).launch(learner())
    (summary,) = shown
    losses = {entry.step: entry.value for entry in summary.metrics.train[1].entries}
    assert losses == result.history["train"]["Loss"]
    assert "| Train | Accuracy |" in str(summary)


def test_metrics_of_numbers_need_not_derive_from_anything(tmp_path: Path) -> None:
    assert issubclass(LossMetric, Numeric)
    random.seed(0)
    result = training(tmp_path, epochs=1, metrics=[LossMetric(weight_by="items")]).launch(learner())
    assert list(result.history["train"]) == ["Loss"]


def test_what_is_no_learner_and_no_model_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="learner must be a Learner, got Toy"):
        training(tmp_path, epochs=1).launch(Toy())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"model is the class Toy: make one, Toy\(\.\.\.\)"):
        Learner(Toy, AdamConfig().init(), 0.1)  # type: ignore[arg-type]
