"""Runs as a training tells them to its renderer."""

from burnpy.train.metric.metric import MetricDefinition, NumericAttributes
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.renderer import EvaluationName, MetricsRenderer, MetricState
from tests.train.updates import entry

LOSS = MetricDefinition("Loss", "Loss", None, NumericAttributes(higher_is_better=False))


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def loss(line: str) -> MetricState:
    return MetricState.Numeric(entry("Loss", line), NumericEntry.deserialize(line))


def run_split(renderer: MetricsRenderer, name: str, lines: list[str], clock: Clock | None = None) -> None:
    """Batches of ten items, and the value of the epoch."""
    update = renderer.update_train if name == "train" else renderer.update_valid
    *batches, final = lines
    renderer.start_split(name, 10 * len(batches))
    for number, line in enumerate(batches, start=1):
        if clock is not None:
            clock.now_s += 4.0
        update(loss(line))
        renderer.update_split(10 * number)
        renderer.log_event_training("Iteration")
    update(loss(final))
    renderer.end_split()


def run_training(
    renderer: MetricsRenderer, clock: Clock | None = None, summary: object | None = None
) -> None:
    """Two epochs of a training, from start to end."""
    renderer.register_metric(LOSS)
    renderer.start(2, 1, None, "digits")
    for epoch, (train, valid) in enumerate([("0.5", "0.25"), ("0.4", "0.75")], start=1):
        run_split(renderer, "train", ["0.9,1", f"{train},1", f"{train},final"], clock)
        run_split(renderer, "valid", [f"{valid},1", f"{valid},final"], clock)
        renderer.update_epoch(epoch)
    renderer.end()
    renderer.on_train_end(summary)
    renderer.close()


def run_evaluation(renderer: MetricsRenderer, summary: object | None = None) -> None:
    renderer.register_metric(LOSS)
    renderer.start_global_progress(2)
    for name in ("first", "second"):
        renderer.start_test(name, 20)
        renderer.update_test(EvaluationName(name), loss("0.5,1"))
        renderer.update_test_progress(20)
        renderer.log_event_evaluation("Iteration")
        renderer.end_test()
    renderer.end_global_progress()
    renderer.on_test_end(summary)
    renderer.close()
