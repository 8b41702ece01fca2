"""Loaders of any kind in the loop."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from burnpy.errors import DatasetError, TrainingError
from burnpy.train import EvaluatorBuilder, Interrupter, SupervisedTraining
from burnpy.train.loader import TrainingLoader
from burnpy.train.metric import LossMetric
from tests.train.toy import Toy, batches, learner


class NeverBegins:
    def __iter__(self) -> Iterator[Any]:
        raise OSError("no such server")


def test_a_loader_that_cannot_begin_is_an_error_of_the_data(tmp_path: Path) -> None:
    good: Any = batches(4)
    for train, valid in ((NeverBegins(), good), (good, NeverBegins())):
        with pytest.raises(TrainingError, match="the data loader failed: no such server") as caught:
            SupervisedTraining(tmp_path, train, valid).launch(learner())
        assert isinstance(caught.value.__cause__, OSError) and caught.value.result is not None
    with pytest.raises(TrainingError, match="the data loader failed: no such server"):
        EvaluatorBuilder(tmp_path).build(Toy().valid()).eval("test", NeverBegins())


def test_a_loader_that_got_shorter_cannot_go_on_in_the_middle_of_an_epoch(tmp_path: Path) -> None:
    interrupter = Interrupter()

    class Stops(LossMetric):
        def update(self, *args: Any, **options: Any) -> Any:
            interrupter.stop("in the middle")
            return super().update(*args, **options)

    keywords: Any = {"num_epochs": 2, "default_checkpointers": True, "interrupter": interrupter}
    SupervisedTraining(tmp_path, batches(12), batches(4), metrics=[Stops()], **keywords).launch(learner())
    resumed = SupervisedTraining(
        tmp_path, [], batches(4), num_epochs=2, default_checkpointers=True, resume="latest"
    )
    with pytest.raises(TrainingError, match="go on after batch 1, but the data loader has only 0"):
        resumed.launch(learner())


def test_batches_before_the_place_to_go_on_are_left_out() -> None:
    loader = TrainingLoader([1, 2, 3], "it")
    loader.load_state({"batches": 2})
    one = loader.begin()
    assert one.next() == 3 and one.state() == {"batches": 3}
    with pytest.raises(StopIteration):
        one.next()
    loader.load_state({"batches": 4})
    with pytest.raises(DatasetError, match="after batch 4, but the data loader has only 3"):
        loader.begin().next()
