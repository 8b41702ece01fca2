"""No room for log files: at whatever moment, it is an error of the run, with the result so far."""

import errno
from pathlib import Path
from typing import Any

import pytest

from burnpy.errors import TrainingError
from burnpy.train import EvaluatorBuilder
from burnpy.train.logger import FileMetricLogger
from burnpy.train.metric import LossMetric
from burnpy.train.renderer import QuietMetricsRenderer
from tests.train.toy import Toy, batches, learner, training

METHODS = ["log", "flush", "positions", "close", "log_epoch_summary"]


class Full(FileMetricLogger):
    """Fails as a full disk does, in one of its methods."""

    def __init__(self, directory: Path, method: str) -> None:
        super().__init__(directory)
        setattr(self, method, self._fail)

    def _fail(self, *_: Any) -> Any:
        self._close_files()
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("method", METHODS)
def test_a_training_ends_with_what_it_has(method: str, tmp_path: Path) -> None:
    run = training(tmp_path, epochs=2, metric_loggers=[Full(tmp_path, method)])
    with pytest.raises(TrainingError, match="No space left on device") as caught:
        run.launch(learner())
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.result.error is caught.value and caught.value.result.interrupted is None


@pytest.mark.parametrize("method", ["log", "flush", "close"])
def test_an_evaluation_ends_with_what_it_has(method: str, tmp_path: Path) -> None:
    builder = EvaluatorBuilder(tmp_path).metrics(LossMetric()).renderer(QuietMetricsRenderer())
    evaluator = builder.with_metric_logger(Full(tmp_path / "other", method)).build(Toy().valid())
    with pytest.raises(TrainingError, match="No space left on device") as caught:
        evaluator.eval("test", batches(8))
    assert isinstance(caught.value.__cause__, OSError)
    assert "test" in caught.value.result.metrics


def test_all_files_are_closed_after_one_that_cannot_be(tmp_path: Path) -> None:
    logger = FileMetricLogger(tmp_path)
    closed: list[str] = []

    class File:
        def __init__(self, name: str) -> None:
            self.name = name

        def close(self) -> None:
            closed.append(self.name)
            raise OSError(errno.ENOSPC, self.name)

    logger._open = {Path(name): File(name) for name in ("a", "b")}  # type: ignore[misc]
    with pytest.raises(OSError):
        logger.close()
    assert sorted(closed) == ["a", "b"]
