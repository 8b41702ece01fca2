"""Output items become the inputs of metrics."""

from dataclasses import dataclass
from typing import Any

import pytest

from burnpy import Tensor
from burnpy.errors import TensorIndexError
from burnpy.train import (
    ClassificationOutput,
    ItemLazy,
    MultiLabelClassificationOutput,
    RegressionOutput,
    SequenceOutput,
)
from burnpy.train import metric as m

LOSS, SCORES = Tensor([0.5]), Tensor([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1]])
CLASSES = ClassificationOutput(LOSS, SCORES, Tensor([1, 2]))
LABELS = MultiLabelClassificationOutput(LOSS, SCORES, Tensor([[1, 0, 2], [0, 0, 1]]))
NUMBERS = RegressionOutput(LOSS, SCORES, SCORES)
TOKENS = SequenceOutput(LOSS, Tensor([[[0.1, 0.9], [0.8, 0.2]]]), None, Tensor([[1, 1]]))
OFFERS: list[tuple[Any, set[type[Any]]]] = [
    (
        CLASSES,
        {m.LossInput, m.AccuracyInput, m.TopKAccuracyInput, m.PerplexityInput, m.ConfusionStatsInput},
    ),
    (LABELS, {m.LossInput, m.HammingScoreInput, m.ConfusionStatsInput}),
    (NUMBERS, {m.LossInput}),
    (
        TOKENS,
        {m.LossInput, m.AccuracyInput, m.TopKAccuracyInput, m.PerplexityInput, m.CerInput, m.WerInput},
    ),
]


@pytest.mark.parametrize(("item", "inputs"), OFFERS, ids=lambda value: type(value).__name__)
def test_an_item_adapts_to_what_burns_does(item: Any, inputs: set[type[Any]]) -> None:
    assert set(item.adaptors) == inputs
    for kind in inputs:
        assert type(item.adapt(kind)) is kind
    assert item.adapt(None) is None and item.adapt(type(None)) is None
    assert item.adapt(m.LossInput).value.tolist() == [0.5]


def test_what_an_item_does_not_have_is_refused_with_what_it_has() -> None:
    with pytest.raises(
        TypeError, match="RegressionOutput does not adapt to AccuracyInput, only to LossInput"
    ):
        NUMBERS.adapt(m.AccuracyInput)
    with pytest.raises(TypeError, match="no input at all"):
        ItemLazy().adapt(m.LossInput)


def test_classes_become_one_hot_columns() -> None:
    stats = CLASSES.adapt(m.ConfusionStatsInput)
    assert stats.targets.tolist() == [[False, True, False], [False, False, True]]
    one = ClassificationOutput(LOSS, Tensor([[0.2], [0.9]]), Tensor([0, 1]))
    assert one.adapt(m.ConfusionStatsInput).targets.tolist() == [[False], [True]]
    with pytest.raises(TensorIndexError, match="3"):
        ClassificationOutput(LOSS, SCORES, Tensor([1, 3])).adapt(m.ConfusionStatsInput)


def test_labels_hold_where_they_are_not_zero() -> None:
    assert LABELS.adapt(m.ConfusionStatsInput).targets.tolist() == [[True, False, True], [False, False, True]]


def test_sequences_are_laid_out_for_metrics_of_classes() -> None:
    classes = TOKENS.adapt(m.AccuracyInput)
    assert (classes.outputs.shape, classes.targets.tolist()) == ((2, 2), [1, 1])
    assert TOKENS.adapt(m.CerInput).outputs.tolist() == [[1, 0]]
    chosen = SequenceOutput(LOSS, TOKENS.logits, Tensor([[0, 0]]), TOKENS.targets)
    assert chosen.adapt(m.WerInput).outputs.tolist() == [[0, 0]]


def test_sync_takes_all_tensors_off_their_graphs_and_leaves_the_item() -> None:
    weight = Tensor([[1.0, 0.0, 0.0]]).require_grad()
    item = ClassificationOutput((LOSS * weight).sum(), SCORES * weight, Tensor([1, 2]))
    synced = item.sync()
    assert type(synced) is ClassificationOutput and item.output.is_tracked()
    assert not (synced.loss.is_autodiff() or synced.output.is_autodiff() or synced.targets.is_autodiff())
    assert synced.output.tolist() == item.output.tolist()
    assert TOKENS.sync().predictions is None


def test_an_item_of_ones_own_says_what_it_adapts_to() -> None:
    @dataclass
    class Batch(ItemLazy):
        scores: Tensor
        adaptors = {m.LossInput: lambda item: m.LossInput(item.scores)}  # noqa: RUF012

    assert Batch(SCORES).adapt(m.LossInput).value.shape == (2, 3)


def test_an_item_feeds_all_its_metrics() -> None:
    precision = m.PrecisionMetric.multiclass(1, m.ClassReduction.Macro)
    metrics: list[m.Numeric] = [m.LossMetric(), m.AccuracyMetric(), precision, m.AurocMetric()]
    item = CLASSES.sync()
    for metric in metrics:
        metric.update(item.adapt(metric.Input), m.MetricMetadata(iteration=1))
    assert [metric.result() for metric in metrics[:3]] == [0.5, 50, pytest.approx(100 / 3)]
