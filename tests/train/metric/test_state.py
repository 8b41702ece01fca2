"""What metrics keep: saved in the middle of an epoch, they go on as if nothing had been."""

from typing import Any

import pytest

from burnpy import Tensor
from burnpy.record import StateSink, StateSource
from burnpy.train import metric as m
from tests.train.metric import golden_burn as golden

# Of each class, the case with the most batches in its first epoch.
CASES: dict[str, dict[str, Any]] = {}
for _folder in ("metrics", "metrics-vision"):
    for _case in golden.cases(_folder):
        if len(_case["epochs"][0]["batches"]) > 1:
            CASES.setdefault(_case["constructor"].split("(")[0].split(".")[0], _case)


def moved(metric: m.Metric) -> m.Metric:
    """A new metric with the state of this one, through names and scalars as a file holds them."""
    assert metric.state is not None
    sink = StateSink()
    metric.state.state_flatten("valid.metric", sink)
    source = StateSource(sink.scalars, dict(sink.tensors))
    state = type(metric.state).state_unflatten("valid.metric", source)
    assert state is not None and source.unread() == []
    fresh = metric.clone()
    fresh.clear()
    fresh.load_state(state)
    return fresh


def said(metric: m.Metric) -> list[Any]:
    assert isinstance(metric, m.Numeric)
    return [repr(metric.value()), repr(metric.running_value())]


@pytest.mark.golden
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.filterwarnings("ignore:.*50 is reported:UserWarning")
def test_a_metric_saved_and_loaded_inside_an_epoch_says_the_very_same(case: dict[str, Any]) -> None:
    straight, saved = golden.build(case["constructor"]), golden.build(case["constructor"])
    for batch in case["epochs"][0]["batches"]:
        assert golden.fed(saved, batch["input"]) == golden.fed(straight, batch["input"])
        saved = moved(saved)
        assert said(saved) == said(straight)
    assert saved.compute() == straight.compute()
    assert isinstance(saved, m.Numeric) and isinstance(straight, m.Numeric)
    assert repr(saved.final_value()) == repr(straight.final_value())


def test_a_loss_by_items_goes_on_from_the_progress_that_it_saw() -> None:
    class Progress:
        items_processed = 256

    metric = m.LossMetric(weight_by="items")
    metric.update(Tensor([0.7]), m.MetricMetadata(Progress()))
    again = moved(metric)
    after = Progress()
    after.items_processed = 266
    again.update(Tensor([0.9]), m.MetricMetadata(after))
    assert isinstance(again, m.LossMetric)
    assert again.result() == pytest.approx((0.7 * 256 + 0.9 * 10) / 266)


def test_a_state_of_another_metric_is_refused() -> None:
    with pytest.raises(
        TypeError, match="Accuracy has a state of type NumericMetricState, got PerplexityState"
    ):
        m.AccuracyMetric().load_state(m.PerplexityMetric().state)
    with pytest.raises(TypeError, match="NoneType"):
        m.CudaMetric().load_state(m.PerplexityMetric().state)


def test_a_clone_and_a_changed_copy_are_independent() -> None:
    metric = m.AccuracyMetric()
    metric.update([[0.9, 0.1]], [0])
    copy = metric.clone()
    padded = metric.with_pad_token(1)
    copy.update([[0.9, 0.1]], [1])
    padded.update([[0.9, 0.1]], [1])
    assert (metric.result(), copy.result(), padded.result()) == (100, 50, 100)
    assert metric.pad_token is None


def test_clones_of_rank_metrics_do_not_share_their_lists() -> None:
    metric = m.AurocMetric()
    metric.update([[0.9], [0.1]], [[1], [0]])
    copy = metric.clone()
    copy.update([[0.9], [0.1]], [[0], [1]])
    assert (metric.result(), copy.result()) == (100, 50)


def test_only_rank_metrics_grow_with_the_epoch() -> None:
    batch = ([[0.9, 0.2], [0.1, 0.7]], [[1, 0], [0, 1]])
    for metric in (m.PrecisionMetric(), m.RecallMetric(), m.FBetaScoreMetric(), m.HammingScore()):
        sizes = []
        for _ in range(3):
            metric.update(*batch)
            sink = StateSink()
            assert metric.state is not None
            metric.state.state_flatten("", sink)
            sizes.append(sum(tensor.nbytes for tensor in sink.tensors.values()))
        assert sizes[0] == sizes[2]


def test_scores_that_are_kept_do_not_keep_their_graph() -> None:
    weight = Tensor([[1.0]]).require_grad()
    metric = m.AurocMetric()
    metric.update(Tensor([[0.9], [0.1]]).matmul(weight), Tensor([[1], [0]]))
    assert not any(scores.is_tracked() for scores in metric.state.predictions)
    assert metric.result() == 100


def test_reset_is_clear() -> None:
    metric = m.LossMetric()
    metric.update(Tensor([3.0]))
    metric.reset()
    metric.update(Tensor([1.0]))
    assert metric.result() == 1
