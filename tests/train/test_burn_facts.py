"""What Burn's own tests of its training say, on a model of two weights.

Weighted means and the search for an epoch are among the tests of the event store.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import burnpy as bp
from burnpy import nn, optim
from burnpy.errors import TrainingError
from burnpy.lr_scheduler import LrScheduler, ModuleLrScheduler
from burnpy.module import ParamGroup
from burnpy.train import EvaluatorBuilder, Learner, RegressionOutput, SupervisedTraining, TrainOutput
from burnpy.train.checkpoint import KeepLastNCheckpoints
from burnpy.train.logger import FileMetricLogger, InMemoryMetricLogger
from burnpy.train.metric import LossMetric, Metric, SerializedEntry
from burnpy.train.metric.store import Split
from burnpy.train.renderer import QuietMetricsRenderer


class Weights(bp.Module):
    """Two weights, and the mean of their squares."""

    def __init__(self) -> None:
        self.w = bp.Param.from_tensor(bp.Tensor([1.0, 2.0]))

    def valid_step(self, batch: bp.Tensor) -> RegressionOutput:
        loss = (self.w.val() * self.w.val()).mean()
        return RegressionOutput(loss, batch, batch)

    def train_step(self, batch: bp.Tensor) -> TrainOutput:
        item = self.valid_step(batch)
        return TrainOutput(self, item.loss.backward(), item)


def learner(rate: Any = 1e-3) -> Learner:
    return Learner(Weights(), optim.SgdConfig().init(), rate)


def training(folder: Path, **keywords: Any) -> SupervisedTraining:
    """Two batches of two items."""
    batches = [bp.Tensor([[0.0], [1.0]])] * 2
    options: dict[str, Any] = {"renderer": QuietMetricsRenderer(), "metrics": [LossMetric()]} | keywords
    return SupervisedTraining(folder, batches, batches, **options)


def kept(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("checkpoint/model-*")}


def test_as_many_checkpoints_are_kept_as_asked(tmp_path: Path) -> None:
    strategy = KeepLastNCheckpoints(3)
    training(tmp_path, num_epochs=3, default_checkpointers=True, checkpointing_strategy=strategy).launch(
        learner()
    )
    assert kept(tmp_path) == {"model-1.bpk", "model-2.bpk", "model-3.bpk"}


def test_a_training_that_goes_on_adds_its_checkpoints_to_those_that_are_there(tmp_path: Path) -> None:
    training(
        tmp_path, num_epochs=2, default_checkpointers=True, checkpointing_strategy=KeepLastNCheckpoints(2)
    ).launch(learner())
    training(
        tmp_path,
        num_epochs=4,
        default_checkpointers=True,
        checkpointing_strategy=KeepLastNCheckpoints(4),
        checkpoint=2,
    ).launch(learner())
    assert kept(tmp_path) == {f"model-{epoch}.bpk" for epoch in (1, 2, 3, 4)}


def test_a_checkpoint_has_exactly_the_weights_of_the_result(tmp_path: Path) -> None:
    result = training(tmp_path, default_checkpointers=True).launch(learner())
    fresh = learner()
    fresh.load_model(bp.ModuleRecord.load(tmp_path / "checkpoint" / "model-1"))
    assert fresh.model.w.val().tolist() == result.model.w.val().tolist() != [1.0, 2.0]


def test_values_are_written_by_split_and_epoch(tmp_path: Path) -> None:
    training(tmp_path, num_epochs=2, metric_loggers=[FileMetricLogger(tmp_path)]).launch(learner())
    for split in ("train", "valid"):
        assert {path.name for path in (tmp_path / split).iterdir()} == {"epoch-1", "epoch-2"}


def test_files_of_epochs_before_a_resume_stay_as_they_are(tmp_path: Path) -> None:
    training(tmp_path, default_checkpointers=True).launch(learner())
    files = [tmp_path / split / "epoch-1" / "Loss.log" for split in ("train", "valid")]
    before = [file.read_bytes() for file in files]
    training(tmp_path, num_epochs=2, default_checkpointers=True, checkpoint=1).launch(learner())
    assert [file.read_bytes() for file in files] == before
    assert (tmp_path / "train" / "epoch-2" / "Loss.log").is_file()
    assert (tmp_path / "valid" / "epoch-2" / "Loss.log").is_file()


class TwoLayers(bp.Module):
    def __init__(self) -> None:
        self.frozen = nn.LinearConfig(1, 2).init()
        self.free = nn.LinearConfig(2, 1).init()

    def valid_step(self, batch: bp.Tensor) -> RegressionOutput:
        output = self.free(self.frozen(batch))
        return RegressionOutput(((output - 1.0) * (output - 1.0)).mean(), output, batch)

    def train_step(self, batch: bp.Tensor) -> TrainOutput:
        item = self.valid_step(batch)
        return TrainOutput(self, item.loss.backward(), item)


def test_a_group_at_rate_0_is_not_changed(tmp_path: Path) -> None:
    rates = ModuleLrScheduler(1e-2).with_group(ParamGroup.from_predicate("frozen"), 0.0)
    made = Learner(TwoLayers(), optim.SgdConfig().init(), rates)
    before = {path: leaf.val().tolist() for path, leaf in made.model.named_params()}
    result = training(tmp_path).launch(made)
    after = {path: leaf.val().tolist() for path, leaf in result.model.named_params()}
    assert {path for path in before if before[path] == after[path]} == {"frozen.weight", "frozen.bias"}


class Counted(LrScheduler):
    """A constant rate that counts its steps."""

    def __init__(self) -> None:
        self.steps = 0

    def step(self) -> float:
        self.steps += 1
        return 1e-3


def test_an_accumulation_longer_than_the_epoch_is_one_step(tmp_path: Path) -> None:
    schedule = Counted()
    made = learner()
    made.lr_scheduler = ModuleLrScheduler.of(schedule)
    result = training(tmp_path, grads_accumulation=3).launch(made)
    assert result.model.w.val().tolist() != [1.0, 2.0]
    assert schedule.steps == 1


UPDATES: list[int] = []


class FailingText(Metric):
    """A text that cannot be told."""

    Input = None

    def name(self) -> str:
        return "Failing"

    def clone(self) -> "FailingText":
        return self

    def update(self, input: Any, metadata: Any = None) -> SerializedEntry:
        UPDATES.append(1)
        raise ValueError("no words")

    def compute(self) -> SerializedEntry:
        return SerializedEntry("", "")

    def clear(self) -> None: ...


@pytest.fixture(autouse=True)
def no_updates() -> Iterator[None]:
    UPDATES.clear()
    yield


def test_a_text_metric_that_fails_ends_the_training_by_name_and_split(tmp_path: Path) -> None:
    run = training(tmp_path, num_epochs=3).metrics_text(FailingText())
    result = run.launch(learner(), raise_errors=False)
    assert result.error is not None
    assert result.error.kind == "event_processor"
    cause: Any = result.error.__cause__
    assert (cause.metric, cause.split) == ("Failing", Split.Train)
    assert result.interrupted is None
    assert len(UPDATES) < 6


def test_a_text_metric_that_fails_ends_the_evaluation_by_name_and_test(tmp_path: Path) -> None:
    evaluator = EvaluatorBuilder(tmp_path).metrics_text(FailingText()).renderer(QuietMetricsRenderer())
    batches = [bp.Tensor([[0.0], [1.0]])] * 2
    with pytest.raises(TrainingError) as caught:
        evaluator.build(Weights().valid()).eval_all([("first", batches), ("second", batches)])
    cause: Any = caught.value.__cause__
    assert (cause.metric, cause.split.tag) == ("Failing", "first")
    assert len(UPDATES) < 4


def test_a_logger_in_memory_answers_after_a_resume(tmp_path: Path) -> None:
    """Unlike Burn, whose indices are shifted then, so that nothing is found."""
    training(tmp_path, default_checkpointers=True).launch(learner())
    logger = InMemoryMetricLogger()
    training(
        tmp_path, num_epochs=2, default_checkpointers=True, checkpoint=1, metric_loggers=[logger]
    ).launch(learner())
    assert len(logger.read_numeric("Loss", 2, Split.Train)) == 3
