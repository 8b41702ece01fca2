"""What metrics are fed with."""

from typing import Any

import burnpy as bp
from burnpy.train import LearnerEvent, RegressionOutput, TrainingItem, TrainingProcessor
from burnpy.train.metric import LossMetric
from burnpy.train.metric.store import EventStore, Split
from burnpy.train.metrics_of_split import MetricsOfSplit
from burnpy.train.renderer import QuietMetricsRenderer


class Seen(LossMetric):
    """Keeps what it is fed with."""

    inputs: list[Any] = []  # noqa: RUF012 (the copy that is registered shares it)

    def update(self, input: Any, metadata: Any = None, **_: Any) -> Any:
        self.inputs.append(input.value)
        return super().update(input, metadata)


def processed(item: Any) -> Any:
    """The loss that a metric sees of an item."""
    Seen.inputs.clear()
    train = MetricsOfSplit(Split.Train)
    train.register(Seen(), numeric=True)
    processor = TrainingProcessor(train, MetricsOfSplit(Split.Valid), EventStore([]), QuietMetricsRenderer())
    progress: Any = type("Progress", (), {"items_processed": 1})()
    processor.process_train(LearnerEvent.ProcessedItem(TrainingItem(item, progress, 1, 0.1)))
    (loss,) = Seen.inputs
    return loss


def tracked() -> bp.Tensor:
    return (bp.Tensor([1.0, 2.0]).require_grad() * 2.0).mean()


def test_metrics_see_tensors_off_their_graph_and_the_item_stays_as_it_was() -> None:
    loss = tracked()
    item = RegressionOutput(loss, bp.Tensor([[1.0]]), bp.Tensor([[1.0]]))
    seen = processed(item)
    assert not seen.is_tracked()
    assert seen.tolist() == [3.0]
    assert item.loss is loss


def test_an_item_may_sync_in_place() -> None:
    class InPlace(RegressionOutput):
        def sync(self) -> Any:
            self.loss = self.loss.inner()

    item = InPlace(tracked(), bp.Tensor([[1.0]]), bp.Tensor([[1.0]]))
    assert processed(item) is item.loss


def test_an_item_without_sync_is_taken_as_it_is() -> None:
    class Plain:
        def __init__(self) -> None:
            self.loss = tracked()

        def adapt(self, kind: Any) -> Any:
            return kind(self.loss)

    item = Plain()
    assert processed(item) is item.loss


def test_a_synced_item_is_of_its_class_with_all_its_fields() -> None:
    class More(RegressionOutput):
        extra: Any = None

    item = More(tracked(), bp.Tensor([[1.0]]), bp.Tensor([[1.0]]))
    item.extra = {"any": "thing"}
    synced = item.sync()
    assert type(synced) is More
    assert synced.extra is item.extra
    assert synced.targets.tolist() == [[1.0]]
