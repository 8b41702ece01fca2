"""The same objects once more, after a run that ended early: what a notebook does."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from burnpy.errors import TrainingError
from burnpy.train import EvaluatorBuilder, Interrupter, SupervisedTraining
from burnpy.train.metric import LossMetric
from tests.train.toy import Toy, batches, learner


class Once:
    """Batches of three epochs; before the second batch of the second pass something happens, once."""

    def __init__(self, happens: Any) -> None:
        self.happens, self.passes = happens, 0

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        for i, batch in enumerate(batches(12)):
            if (self.passes, i) == (2, 1):
                self.happens()
            yield batch


def _fails() -> None:
    raise ValueError("once")


def _interrupts() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize(("happens", "raised"), [(_fails, TrainingError), (_interrupts, KeyboardInterrupt)])
def test_a_training_that_ended_early_is_resumed_with_the_same_objects(
    happens: Any, raised: type[BaseException], tmp_path: Path
) -> None:
    training = SupervisedTraining(
        tmp_path, Once(happens), batches(4), num_epochs=3, metrics=[LossMetric()], default_checkpointers=True
    )
    model = learner()
    with pytest.raises(raised):
        training.launch(model)
    result = training.resume("latest").launch(model)
    assert result.interrupted is None and result.error is None
    assert list(result.history["valid"]["Loss"]) == [1, 2, 3]


def test_a_stop_before_the_first_launch_counts(tmp_path: Path) -> None:
    interrupter = Interrupter()
    interrupter.stop("not now")
    training = SupervisedTraining(tmp_path, batches(4), batches(4), interrupter=interrupter)
    result = training.launch(learner())
    assert result.interrupted is not None and result.interrupted.reason == "not now"
    assert training.launch(learner()).interrupted is None


def test_an_evaluator_goes_on_after_data_that_failed(tmp_path: Path) -> None:
    evaluator = EvaluatorBuilder(tmp_path).metrics(LossMetric()).build(Toy().valid())
    once = Once(_fails)
    once.passes = 1
    with pytest.raises(TrainingError, match="once"):
        evaluator.eval("bad", once)
    assert evaluator.eval("good", batches(4)).error is None


def test_a_test_has_a_text_for_a_name(tmp_path: Path) -> None:
    evaluator = EvaluatorBuilder(tmp_path).build(Toy().valid())
    for name in (None, 3):
        with pytest.raises(TypeError, match="the name of a test must be a text, got"):
            evaluator.eval(name, batches(4))  # type: ignore[arg-type]
