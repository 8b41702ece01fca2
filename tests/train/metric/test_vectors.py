"""Cases with known values, each a line."""

import math
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import ArgumentError, ConfigError, ShapeError
from burnpy.tensor.hits import count_hits
from burnpy.train import metric as m

MICRO, MACRO = m.ClassReduction.Micro, m.ClassReduction.Macro

BINARY = ([[0.3], [0.2], [0.7], [0.1], [0.55]], [[0], [1], [0], [0], [1]])
MULTICLASS = (
    [[0.2, 0.8, 0], [0.3, 0.6, 0.1], [0.7, 0.25, 0.05], [0.1, 0.15, 0.8], [0.9, 0.03, 0.07]],
    [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1], [1, 0, 0]],
)
MULTILABEL = (
    [[0.1, 0.7, 0.6], [0.3, 0.9, 0.05], [0.8, 0.9, 0.4], [0.7, 0.5, 0.9], [1, 0.3, 0.2]],
    [[1, 1, 0], [1, 0, 1], [1, 1, 1], [0, 0, 1], [1, 0, 0]],
)
HALF, TOP1, TOP2 = m.DecisionRule.Threshold(0.5), m.DecisionRule.TopK(1), m.DecisionRule.TopK(2)

# data, rule, reduction, TP, FP, TN, FN, precision, recall, F1, F2
COUNTED: list[tuple[Any, ...]] = [
    (BINARY, HALF, MICRO, [1], [1], [2], [1], 50, 50, 50, 50),
    (BINARY, HALF, MACRO, [1], [1], [2], [1], 50, 50, 50, 50),
    (MULTICLASS, TOP1, MICRO, [3], [2], [8], [2], 60, 60, 60, 60),
    (MULTICLASS, TOP1, MACRO, [1, 1, 1], [1, 1, 0], [2, 3, 3], [1, 0, 1], 66.6667, 66.6667, 61.1111, 62.9630),
    (MULTICLASS, TOP2, MICRO, [4], [6], [4], [1], 40, 80, 53.3333, 66.6667),
    (MULTICLASS, TOP2, MACRO, [2, 1, 1], [2, 3, 1], [1, 1, 2], [0, 0, 1], 41.6667, 83.3333, 52.2222, 65.2778),
    (MULTILABEL, HALF, MICRO, [5], [3], [3], [4], 62.5, 55.5556, 58.8235, 56.8182),
    (MULTILABEL, HALF, MACRO, [2, 2, 1], [1, 1, 1], [0, 2, 1], [2, 0, 2], 61.1111, 61.1111, 59.0476, 59.7517),
]


def result(metric: m.Numeric, *batches: tuple[Any, Any]) -> float:
    for outputs, targets in batches:
        metric.update(outputs, targets)
    return metric.result()


@pytest.mark.parametrize("case", COUNTED, ids=range(len(COUNTED)))
def test_counts_and_what_follows_from_them(case: tuple[Any, ...]) -> None:
    data, rule, reduction, tp, fp, tn, fn, precision, recall, f1, f2 = case
    config = m.ClassificationMetricConfig(rule, reduction)
    stats = m.ConfusionStats.of(m.ConfusionStatsInput(*data), config)
    assert (stats.true_positive(), stats.false_positive()) == (tp, fp)
    assert (stats.true_negative(), stats.false_negative()) == (tn, fn)
    assert stats.positive() == [a + b for a, b in zip(tp, fn, strict=True)]
    assert stats.negative() == [a + b for a, b in zip(tn, fp, strict=True)]
    assert stats.predicted_positive() == [a + b for a, b in zip(tp, fp, strict=True)]
    assert stats.support() == [a + b for a, b in zip(stats.positive(), stats.negative(), strict=True)]
    assert result(m.PrecisionMetric(config), data) == pytest.approx(precision, abs=1e-4)
    assert result(m.RecallMetric(config), data) == pytest.approx(recall, abs=1e-4)
    assert result(m.FBetaScoreMetric(config, beta=1.0), data) == pytest.approx(f1, abs=1e-4)
    assert result(m.FBetaScoreMetric(config, beta=2.0), data) == pytest.approx(f2, abs=1e-4)


def test_precision_and_recall_of_an_epoch_are_ratios_of_sums() -> None:
    def column(values: list[float]) -> list[list[float]]:
        return [[value] for value in values]

    first = (column([0.9, 0.8, 0.1]), column([1, 0, 0]))
    second = (column([0.9] * 5 + [0.1]), column([1, 0, 0, 0, 0, 0]))
    assert result(m.PrecisionMetric.binary(0.5), first, second) == pytest.approx(200 / 7)
    first = (column([0.9, 0.1, 0.1]), column([1, 1, 0]))
    second = (column([0.9] + [0.1] * 5), column([1, 1, 1, 1, 1, 0]))
    assert result(m.RecallMetric.binary(0.5), first, second) == pytest.approx(200 / 7)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (m.PrecisionMetric.multiclass(1, MACRO), m.PrecisionMetric.multiclass(2, MACRO)),
        (m.RecallMetric.binary(0.5), m.RecallMetric.binary(0.75)),
        (m.PrecisionMetric.multilabel(0.5, MICRO), m.PrecisionMetric.multilabel(0.5, MACRO)),
        (m.FBetaScoreMetric.binary(1.0, 0.5), m.FBetaScoreMetric.binary(2.0, 0.5)),
        (m.AurocMetric.multiclass(MICRO), m.AurocMetric.multiclass(MACRO)),
        (m.TopKAccuracyMetric(1), m.TopKAccuracyMetric(2)),
        (m.HammingScore(), m.HammingScore().with_threshold(1.0)),
        (m.DiceMetric(), m.DiceMetric(ndim=3)),
        (m.PsnrMetric(m.PsnrMetricConfig(1.0)), m.PsnrMetric(m.PsnrMetricConfig(255.0))),
        (m.BleuScore(), m.BleuScore(2)),
    ],
)
def test_the_name_differs_where_parameters_do(left: m.Metric, right: m.Metric) -> None:
    assert left.name() != right.name() and left.name() == left.clone().name()


def test_names_are_burns() -> None:
    assert m.FBetaScoreMetric.binary(1.0, 0.5).name() == "FBetaScore (1) @ Threshold(0.5) [Macro]"
    assert m.HammingScore(threshold=1.0).name() == "Hamming Score @ Threshold(1.0)"
    assert m.TopKAccuracyMetric().name() == "Top-K Accuracy @ TopK(1)"
    assert m.SsimMetric(m.SsimMetricConfig(1.0)).name() == "SSIM (dr=1, w=11, σ=1.5)"
    assert m.MsSsimMetric(m.MsSsimMetricConfig(255.0)).name() == "MS-SSIM (pr=255, k=11, σ=1.5)"


ROWS = [[0, 0.2, 0.8], [1, 2, 0.5], [0.4, 0.1, 0.2], [0.6, 0.7, 0.2]]
PADDED = [[*row, 0] for row in ROWS] + [[0, 0.1, 0.2, 5], [0, 0.1, 0.2, 0], [0.6, 0, 0.2, 0]]


@pytest.mark.parametrize("build", [m.AccuracyMetric, lambda **kw: m.TopKAccuracyMetric(1, **kw)])
def test_accuracy_counts_rows_that_are_no_padding(build: Any) -> None:
    assert result(build(), (ROWS, [2, 2, 1, 1])) == 50
    assert result(build(pad_token=3), (PADDED, [2, 2, 1, 1, 3, 3, 3])) == 50
    four = [[0.9, 0.1]] * 4
    assert result(build(pad_token=2), (four, [0, 2, 2, 2]), (four, [1, 1, 1, 1])) == pytest.approx(20)
    assert result(build(pad_token=2), (four[:2], [2, 2]), (four[:1], [0])) == 100


def test_top_k_accuracy() -> None:
    assert result(m.TopKAccuracyMetric(2), (ROWS, [2, 2, 1, 1])) == 50
    assert result(m.TopKAccuracyMetric(2, pad_token=3), (PADDED, [2, 2, 1, 1, 3, 3, 3])) == 50
    assert result(m.TopKAccuracyMetric(3), (ROWS, [2, 2, 1, 1])) == 100
    assert result(m.TopKAccuracyMetric(), ([[0.1, 0.2, 0.7]] * 2, [2, 1])) == 50
    with pytest.raises(ConfigError, match="k must be at least 1, got 0"):
        m.TopKAccuracyMetric(0)
    with pytest.raises(ArgumentError, match="k = 4 is more than the 3 classes"):
        m.TopKAccuracyMetric(4).update(ROWS, [2, 2, 1, 1])


def test_hamming_score() -> None:
    x = [
        [0.32, 0.52, 0.38, 0.68, 0.61],
        [0.43, 0.31, 0.21, 0.63, 0.53],
        [0.44, 0.25, 0.71, 0.39, 0.73],
        [0.49, 0.37, 0.68, 0.39, 0.31],
    ]
    y = np.array([[0, 1, 0, 1, 1], [0, 0, 0, 1, 1], [0, 0, 1, 0, 1], [0, 0, 1, 0, 0]], dtype=np.int32)
    z = [[0, 1, 1, 0, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1], [0, 1, 1, 0, 0]]
    assert [result(m.HammingScore(), (x, t)) for t in (y, 1 - y, z)] == [100, 0, 75]


SIX = [[0.79, 0.41, 0.16], [0.25, 0.93, 0.78], [0.61, 0.09, 0.21], [0.9, 0.31, 0.33], [0.16, 0.82, 0.57]]
SIX += [[0.57, 0.18, 0.63]]
LABELS = [[0.11, 0.57, 0.9], [0.13, 0.66, 0.37], [0.71, 0.85, 0.6], [0.29, 0.69, 0.49], [0.68, 0.45, 0.25]]
LABELS += [[0.33, 0.36, 0.31]]
HELD = [[1, 1, 1], [0, 0, 1], [0, 1, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]]


def hot(classes: list[int], n: int) -> list[list[int]]:
    return [[int(c == i) for i in range(n)] for c in classes]


def column(values: list[float]) -> list[list[float]]:
    return [[value] for value in values]


AUROC: list[tuple[Any, Any, float, float | None]] = [
    (column([0.34, 0.64, 0.12, 0.19, 0.53, 0.38]), column([0, 0, 0, 0, 1, 1]), 75, 75),
    (SIX, hot([0, 0, 0, 2, 1, 0], 3), 56.66666666666667, 64.58333333333333),
    (LABELS, HELD, 29.07407407407407, 36.11111111111111),
    ([[0, 1], [1, 0], [1, 0], [0, 1]], [[0, 1], [1, 0], [1, 0], [0, 1]], 100, 100),
    ([[0.5, 0.5]] * 4, [[0, 1], [1, 0], [1, 0], [0, 1]], 50, 50),
    ([[0.9, 0.1, 0], [0.2, 0.8, 0], [0.7, 0.3, 0], [0.1, 0.6, 0]], hot([0, 1, 0, 1], 3), 100, None),
    (column([0.9, 0.5, 0.5, 0.1]), column([1, 0, 1, 0]), 87.5, None),
    (column([0.0, -0.0]), column([1, 0]), 50, None),
    (column([-0.0, 0.0]), column([1, 0]), 50, None),
    (column([i / 20000 for i in range(20000)]), column([i >= 10000 for i in range(20000)]), 100, None),
    (column([math.nan, 0.9, 0.8]), column([1, 1, 0]), 50, None),
]


@pytest.mark.parametrize("case", AUROC, ids=range(len(AUROC)))
def test_auroc(case: tuple[Any, Any, float, float | None]) -> None:
    scores, targets, macro, micro = case
    data = (np.array(scores, dtype=np.float32), np.array(targets, dtype=np.int32))
    assert result(m.AurocMetric(), data) == pytest.approx(macro, rel=1e-12)
    if micro is not None:
        assert result(m.AurocMetric(MICRO), data) == pytest.approx(micro, rel=1e-12)


def test_auroc_of_many_equals_the_count_of_all_pairs() -> None:
    rng = np.random.default_rng(1)
    scores = rng.integers(0, 20, (300, 4)).astype(np.float32)
    targets = rng.random((300, 4)) < 0.3
    expected = []
    for s, t in zip(scores.T, targets.T, strict=True):
        differences = s[t][:, None] - s[~t][None, :]
        expected.append(((differences > 0) + 0.5 * (differences == 0)).mean())
    parts = [(scores[a:b], targets[a:b]) for a, b in ((0, 7), (7, 200), (200, 300))]
    assert result(m.AurocMetric(), *parts) == pytest.approx(100 * np.mean(expected), rel=1e-12)


CLASSES = [[0.45, 0.3, 0.36], [0.83, 0.24, 0.09], [0.19, 0.39, 0.29], [0.3, 0.14, 0.46], [0.73, 0.74, 0.16]]
CLASSES += [[0.43, 0.37, 0.88]]
TIED = [[0.1, 0.73, 0.84], [0.84, 0.74, 0.24], [0.13, 0.54, 0.54], [0.49, 0.48, 0.71], [0.9, 0.17, 0.43]]
TIED += [[0.11, 0.29, 0.23]]
FIVE = [[0.9, 0.5], [0.9, 0.8], [0.5, 0.8], [0.5, 0.2], [0.1, 0.2]]
AUC_PR: list[tuple[Any, Any, float, float | None]] = [
    (column([0.63, 0.25, 0.71, 0.3, 0.07, 0.66]), column([0, 1, 0, 0, 0, 0]), 20, 20),
    (CLASSES, hot([2, 2, 2, 2, 1, 0], 3), 63.19444444444444, 37.99755799755800),
    (
        TIED,
        [[1, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1], [1, 0, 0], [1, 1, 0]],
        59.44444444444444,
        55.0135118149824,
    ),
    (column([0.5, 0.5]), column([1, 0]), 50, None),
    (column([0.5, 0.5]), column([0, 1]), 50, None),
    (FIVE, [[1, 0], [0, 1], [1, 1], [0, 0], [1, 1]], 70, 62.11640211640211),
]


@pytest.mark.parametrize("case", AUC_PR, ids=range(len(AUC_PR)))
def test_auc_pr(case: tuple[Any, Any, float, float | None]) -> None:
    scores, targets, macro, micro = case
    assert result(m.AucPrMetric(), (scores, targets)) == pytest.approx(macro, rel=1e-12)
    if micro is not None:
        assert result(m.AucPrMetric(MICRO), (scores, targets)) == pytest.approx(micro, rel=1e-12)


@pytest.mark.parametrize("build", [m.AurocMetric, m.AucPrMetric])
def test_rank_metrics_speak_at_the_end_and_of_all_batches(build: Any) -> None:
    first, second = (column([0.9, 0.4, 0.8]), column([1, 0, 1])), (column([0.2, 0.6, 0.1]), column([0, 1, 0]))
    whole = result(build(), (first[0] + second[0], first[1] + second[1]))
    metric = build.binary()
    entry = metric.update(*first)
    assert entry.is_not_available() and entry.formatted == "epoch N/A % - batch N/A %"
    assert metric.value() is None and metric.running_value() is None
    with pytest.raises(RuntimeError, match="compute"):
        metric.final_value()
    metric.update(*second)
    assert metric.compute().serialized == m.plain_float(whole)
    assert metric.final_value() == m.NumericEntry.Value(whole)
    metric.clear()
    assert metric.compute().is_not_available() and math.isnan(metric.final_value().current())


@pytest.mark.parametrize("build", [m.AurocMetric, m.AucPrMetric])
def test_rank_metrics_warn_and_say_50_where_no_class_can_be_ranked(build: Any) -> None:
    metric = build.binary()
    metric.update(column([0.9, 0.8]), column([0, 0]))
    with pytest.warns(UserWarning, match="50 is reported"):
        assert metric.result() == 50


def logits(*rows: list[float]) -> list[list[float]]:
    return list(rows)


PERPLEXITY: list[tuple[Any, list[int], int | None, float]] = [
    (logits([10, 0, 0], [0, 10, 0], [0, 0, 10]), [0, 1, 2], None, 1.0000908),
    (logits([0, 0, 0], [0, 0, 0], [0, 0, 0]), [0, 1, 2], None, 3),
    (logits([10, 0, 0, 0], [0, 10, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]), [0, 1, 3, 3], 3, 1.0001362),
    (logits([0, 10, 0], [10, 0, 0], [0, 0, 10]), [0, 1, 0], None, 22028.466),
]


@pytest.mark.parametrize("case", PERPLEXITY, ids=range(len(PERPLEXITY)))
def test_perplexity(case: tuple[Any, list[int], int | None, float]) -> None:
    scores, targets, pad, expected = case
    scores = [[float(x) for x in row] for row in scores]
    assert result(m.PerplexityMetric(pad_token=pad), (scores, targets)) == pytest.approx(expected, rel=1e-6)


def test_perplexity_of_an_epoch_is_of_all_its_tokens() -> None:
    metric = m.PerplexityMetric()
    metric.update([[5.0, 0.0, 0.0]], [0])
    value, running = metric.value(), metric.running_value()
    assert value is not None and value == running
    assert value.current() == pytest.approx(1.0134759, rel=1e-6)
    metric.update([[0.0, 0.0, 0.0]] * 5, [0, 1, 2, 0, 1])
    assert metric.result() == pytest.approx(2.5036289, rel=1e-6)


def test_a_hopeless_token_is_infinite_perplexity_and_no_error() -> None:
    assert result(m.PerplexityMetric(), ([[1000.0, 0.0]], [1])) == math.inf


@pytest.mark.parametrize("build", [m.CharErrorRate, m.WordErrorRate])
def test_error_rates(build: Any) -> None:
    assert result(build(), ([[1, 2], [3, 4]], [[1, 2], [3, 4]])) == 0
    assert result(build(), ([[1, 2], [3, 5]], [[1, 3], [3, 4]])) == 50
    assert result(build(pad_token=9), ([[1, 2, 9], [3, 5, 9]], [[1, 3, 9], [3, 4, 9]])) == 50
    assert result(build(), ([[1, 2, 3, 4]], [[2, 3]])) == 100  # widths of their own
    assert result(build(), (np.zeros((2, 0), dtype=np.int32), [[1, 2], [3, 4]])) == 100
    assert (
        result(build(), ([[1], [2]], np.zeros((2, 0), dtype=np.int32))) != 0
    )  # nothing to be wrong about: NaN
    metric = build()
    metric.update([[1]], [[1]])
    metric.clear()
    assert math.isnan(metric.value().current())


def test_edit_distances_and_common_lengths_are_those_of_the_plain_table() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        shape = rng.integers(1, 9, 3)
        outputs = rng.integers(0, 4, (shape[0], shape[1])).astype(np.int32)
        targets = rng.integers(0, 4, (shape[0], shape[2])).astype(np.int32)
        rows = [
            (_until_pad(a), _until_pad(b)) for a, b in zip(outputs.tolist(), targets.tolist(), strict=True)
        ]
        words = sum(len(reference) for _, reference in rows)
        if words:
            errors = sum(_edits(a, b) for a, b in rows)
            found = result(m.WordErrorRate(pad_token=0), (outputs, targets))
            assert found == pytest.approx(100 * errors / words)
        scores = [200 * _common(a, b) / (len(a) + len(b)) if a or b else 100 for a, b in rows]
        assert result(m.RougeLScore(pad_token=0), (outputs, targets)) == pytest.approx(np.mean(scores))


def _until_pad(row: list[int]) -> list[int]:
    return row[: row.index(0)] if 0 in row else row


def _edits(a: list[int], b: list[int]) -> int:
    if not a or not b:
        return len(a) + len(b)
    replaced = _edits(a[:-1], b[:-1]) + (a[-1] != b[-1])
    return min(_edits(a[:-1], b) + 1, _edits(a, b[:-1]) + 1, replaced) if a[-1] != b[-1] else replaced


def _common(a: list[int], b: list[int]) -> int:
    if not a or not b:
        return 0
    if a[-1] == b[-1]:
        return _common(a[:-1], b[:-1]) + 1
    return max(_common(a[:-1], b), _common(a, b[:-1]))


ROW = [1, 2, 3, 4, 5]
BLEU: list[tuple[m.BleuScore, Any, Any, float]] = [
    (m.BleuScore(), [ROW], [ROW], 100),
    (m.BleuScore(), [ROW], [[6, 7, 8, 9, 10]], 0),
    (m.BleuScore(1), [[1, 2, 3, 6, 7]], [ROW], 60),
    (m.BleuScore(1, pad_token=0), [[1, 2, 3, 0, 0]], [ROW], 51.3417),
    (m.BleuScore(pad_token=99), [[*ROW, 99, 99]], [[*ROW, 99, 99]], 100),
    (m.BleuScore(1), [ROW, ROW], [ROW, [6, 7, 8, 9, 10]], 50),
    (m.BleuScore(2), [[1, 2, 3, 4]], [[1, 2, 5, 6]], 40.8248),
    (m.BleuScore(pad_token=0), [[1, 2, 3, 0, 0]], [ROW], 0),
    (m.BleuScore(2), [[1, 3, 5, 7, 9]], [ROW], 0),
    (m.BleuScore(2, smoothing=m.BleuSmoothing.Exponential()), [[1, 3, 5, 7, 9]], [ROW], 27.3861),
    (m.BleuScore(2, smoothing=m.BleuSmoothing.AddEpsilon(0.1)), [[1, 3, 5, 7, 9]], [ROW], 12.2474),
    (m.BleuScore(1), [[1, 1, 1]], [[1, 1, 2]], 200 / 3),
    (m.BleuScore(), [[1]], [[1]], 0),
]


@pytest.mark.parametrize("case", BLEU, ids=range(len(BLEU)))
def test_bleu(case: tuple[m.BleuScore, Any, Any, float]) -> None:
    metric, outputs, targets, expected = case
    assert result(metric.clone(), (outputs, targets)) == pytest.approx(expected, abs=1e-4)


def test_bleu_of_long_rows_is_that_of_counted_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnpy.train.metric.bleu._TABLE", 3000)  # a few rows at a time
    rng = np.random.default_rng(3)
    outputs, targets = rng.integers(1, 4, (9, 40)).tolist(), rng.integers(1, 4, (9, 30)).tolist()
    logs = 0.0
    for n in range(1, 4):
        shared = total = 0
        for a, b in zip(outputs, targets, strict=True):
            left = [tuple(a[i : i + n]) for i in range(len(a) - n + 1)]
            right = [tuple(b[i : i + n]) for i in range(len(b) - n + 1)]
            shared += sum(min(left.count(run), right.count(run)) for run in set(left))
            total += len(left)
        logs += math.log(shared / total)
    assert result(m.BleuScore(3), (outputs, targets)) == pytest.approx(100 * math.exp(logs / 3))


def test_rouge_l() -> None:
    assert result(m.RougeLScore(), ([ROW], [ROW])) == 100
    assert result(m.RougeLScore(), ([ROW], [[6, 7, 8, 9, 10]])) == 0
    assert result(m.RougeLScore(), ([[1, 3, 5, 7, 9]], [ROW])) == 60
    assert result(m.RougeLScore(pad_token=99), ([[1, 2, 3, 99, 99]], [ROW])) == 75
    assert result(m.RougeLScore(pad_token=99), ([[*ROW, 99]], [[*ROW, 99]])) == 100
    assert result(m.RougeLScore(), ([ROW, ROW], [ROW, [6, 7, 8, 9, 10]])) == 50
    assert result(m.RougeLScore(pad_token=9), ([[9, 9]], [[9, 9]])) == 100
    assert result(m.RougeLScore(), ([[1]], [[1]]), ([[1], [2], [3]], [[1], [5], [6]])) == 50


def mask(*rows: list[int]) -> np.ndarray[Any, Any]:
    return np.array(rows, dtype=np.int32)[None, None]


def test_dice() -> None:
    left, right = mask([1, 0], [1, 0]), mask([0, 1], [0, 1])
    assert result(m.DiceMetric(), (left, left)) == 1
    assert result(m.DiceMetric(), (left, right)) < 1e-6
    assert result(m.DiceMetric(), (mask([1, 1], [0, 0]), left)) == pytest.approx(0.5)
    assert result(m.DiceMetric(), (0 * left, 0 * left)) == 1
    two = np.ones((1, 2, 2, 2), dtype=np.int32)
    with_background = m.DiceMetricConfig(include_background=True)
    assert result(m.DiceMetric(), (two, two)) == result(m.DiceMetric(with_background), (two, two)) == 1


def test_dice_of_an_epoch_is_a_ratio_of_sums() -> None:
    e = 1e-7
    metric = m.DiceMetric()
    metric.update(mask([1]), mask([1]))
    value = metric.update(mask([1, 1, 1, 1]), mask([0, 0, 0, 0]))
    assert float(value.serialized.split(",")[0]) < 1e-6
    assert metric.result() == pytest.approx((2 + e) / (6 + e), rel=1e-12)
    three = np.array([1, 1, 1]).reshape(3, 1, 1, 1), np.array([0, 1, 0]).reshape(3, 1, 1, 1)
    first = (mask([1, 0, 1, 0]), mask([1, 0, 0, 0]))
    assert result(m.DiceMetric(), first, three) == pytest.approx((4 + e) / (7 + e), rel=1e-12)
    back = np.ones((1, 1, 1, 4), dtype=np.int32)
    outputs, targets = (np.concatenate([back, x], 1) for x in (mask([0, 1, 1, 0]), mask([0, 1, 0, 1])))
    same = np.concatenate([back[..., :2], mask([1, 1])], 1)
    assert result(m.DiceMetric(), (outputs, targets), (same, same)) == pytest.approx(
        (6 + e) / (8 + e), rel=1e-12
    )


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_dice_refuses_an_epsilon_that_is_not_positive_and_finite(epsilon: float) -> None:
    with pytest.raises(ConfigError, match="epsilon"):
        m.DiceMetricConfig(epsilon=epsilon)


def images(*values: float, shape: tuple[int, ...] = (1, 4, 4)) -> Tensor:
    return Tensor.from_numpy(np.stack([np.full(shape, value, dtype=np.float32) for value in values]))


PSNR: list[tuple[float, float, Tensor, Tensor, float]] = [
    (1, 1e-10, images(0.3), images(0.3), 100),
    (1, 1e-10, images(0.5), images(0.6), 20),
    (1, 1e-10, images(0.6), images(0.5), 20),
    (255, 1e-10, images(100), images(110), 28.1308),
    (1, 1e-10, images(0.5, 0.5), images(0.6, 0.51), 30),
    (1, 1e-10, images(0.5, shape=(3, 4, 4)), images(0.6, shape=(3, 4, 4)), 20),
    (1, 0.01, images(0.3), images(0.3), 20),
    (1, 1e-10, images(*[0.1] * 8, shape=(3, 4, 4)), images(*[0.0] * 8, shape=(3, 4, 4)), 20),
]


@pytest.mark.parametrize("case", PSNR, ids=range(len(PSNR)))
def test_psnr(case: tuple[float, float, Tensor, Tensor, float]) -> None:
    top, epsilon, outputs, targets, expected = case
    metric = m.PsnrMetric(m.PsnrMetricConfig(top).with_epsilon(epsilon))
    assert result(metric, (outputs, targets)) == pytest.approx(expected, abs=0.01)


def test_psnr_of_an_epoch() -> None:
    metric = m.PsnrMetric(m.PsnrMetricConfig(1.0)).with_name("Peak")
    assert result(metric, (images(0.5), images(0.6)), (images(0.5), images(0.51))) == pytest.approx(
        30, abs=0.01
    )
    errors = Tensor.from_numpy(np.array([[[[0.1, 0.2], [0.3, 0.4]]]], dtype=np.float32))
    assert metric.name() == "Peak"
    metric.clear()
    assert result(metric, (errors, errors.zeros_like())) == pytest.approx(11.2494, abs=0.01)


SMALL = m.SsimMetricConfig(1.0).with_kernel_size(3).with_sigma(1.0)


def test_ssim() -> None:
    a = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [2, 3, 4, 5], [6, 7, 8, 9]], dtype=np.float32)[None, None] / 10
    assert result(m.SsimMetric(SMALL), (a, a)) == pytest.approx(1, abs=1e-3)
    assert result(m.SsimMetric(SMALL), (images(0), images(1))) == pytest.approx(2.57484e-5, rel=1e-4)
    assert result(m.SsimMetric(SMALL), (images(0.5), images(0.51))) == pytest.approx(0.9996582, abs=1e-6)
    b = a + np.float32(0.1)
    assert result(m.SsimMetric(SMALL), (a, b)) == pytest.approx(0.9718321, abs=1e-6)
    assert result(m.SsimMetric(SMALL), (b, a)) == pytest.approx(result(m.SsimMetric(SMALL), (a, b)), abs=1e-6)
    assert 0.49 < result(m.SsimMetric(SMALL), (images(0.3, 0), images(0.3, 1))) < 0.51
    assert 0.49 < result(m.SsimMetric(SMALL), (images(0.3), images(0.3)), (images(0), images(1))) < 0.51
    big = images(0.5, shape=(1, 60, 108))
    assert result(m.SsimMetric(m.SsimMetricConfig(255.0)), (big, big)) == pytest.approx(1, abs=1e-3)
    with pytest.raises(ShapeError, match="4x4 are smaller than the window of 11"):
        m.SsimMetric(m.SsimMetricConfig(1.0)).update(a, a)


COARSE = m.MsSsimMetricConfig(1.0).with_kernel_size(3).with_sigma(1.0).with_channels(1)


def test_ms_ssim() -> None:
    def of(config: m.MsSsimMetricConfig, x: Any, y: Any) -> float:
        return result(m.MsSsimMetric(config), (x, y))

    def flat(value: float, side: int) -> Tensor:
        return images(value, shape=(1, side, side))

    assert of(COARSE, flat(0.5, 64), flat(0.5, 64)) > 0.99
    assert of(COARSE, flat(0, 256), flat(1, 256)) == pytest.approx(0.2929505, abs=1e-5)
    assert of(COARSE, flat(0.5, 64), flat(0.52, 64)) == pytest.approx(0.9998975, abs=1e-5)
    one = m.MsSsimMetricConfig(1.0, channels=1, betas=[1.0])
    assert of(one, flat(0, 16), flat(0, 16)) > 0.99
    i, j = np.mgrid[:64, :64]
    x, y = ((3 * i + 5 * j) % 17 / 16)[None, None], ((3 * i + 5 * j) % 13 / 12)[None, None]
    assert of(COARSE, x, y) == pytest.approx(0.2004458, abs=1e-6)
    assert of(COARSE, y, x) == pytest.approx(0.2004458, abs=1e-3)
    assert of(COARSE, x, 0.8 * x + 0.1) == pytest.approx(0.9886874, abs=1e-6)
    assert of(COARSE.with_betas([0.0, 1.0]), flat(0, 8), flat(1, 8)) == pytest.approx(1e-4 / 1.0001, abs=1e-6)
    with pytest.raises(ShapeError, match="32x32 are smaller than 44"):
        of(m.MsSsimMetricConfig(1.0, channels=1, betas=[1.0] * 3), flat(0, 32), flat(0, 32))
    with pytest.raises(ShapeError, match="3 channels, the configuration 1"):
        of(one, images(0, shape=(3, 16, 16)), images(0, shape=(3, 16, 16)))


def test_losses_of_uneven_batches_by_items_and_by_batches() -> None:
    batches = [(0.7, 256), (0.8, 256), (0.9, 10)]
    by_items, by_batches = m.LossMetric(weight_by="items"), m.LossMetric()
    for loss, n in batches:
        by_items.update(Tensor([loss]), n=n)
        by_batches.update(Tensor([loss]))
    assert by_items.result() == pytest.approx(0.75287356, abs=1e-7)
    assert by_batches.result() == pytest.approx(0.8, abs=1e-7)
    value = by_items.value()
    assert isinstance(value, m.NumericEntry.Aggregated) and value.count == 10


def test_losses_by_items_take_the_steps_of_the_loaders_progress() -> None:
    class Progress:
        def __init__(self, items_processed: int) -> None:
            self.items_processed = items_processed

    metric = m.LossMetric(weight_by="items")
    for _ in range(2):  # the second epoch starts from nothing
        for loss, processed in [(0.7, 256), (0.8, 512), (0.9, 522)]:
            metric.update(m.LossInput(Tensor([loss])), m.MetricMetadata(Progress(processed)))
        assert metric.result() == pytest.approx(0.75287356, abs=1e-7)
        metric.clear()
    metric.update(Tensor([0.7]), m.MetricMetadata(Progress(256)))
    with pytest.raises(ArgumentError, match="went back from 256 to 3"):
        metric.update(Tensor([0.7]), m.MetricMetadata(Progress(3)))
    with pytest.raises(ArgumentError, match="needs update"):
        metric.update(Tensor([0.7]))


def test_the_correlation_of_two_classes_is_that_of_two_columns_of_zeros_and_ones() -> None:
    rng = np.random.default_rng(4)
    scores = rng.random((50, 1)).astype(np.float32)
    targets = (rng.random((50, 1)) < scores).astype(np.int32)
    expected = np.corrcoef((scores > 0.5)[:, 0], targets[:, 0])[0, 1]
    metric = m.MatthewsCorrelationCoefficientMetric.binary()
    assert result(metric, (scores[:20], targets[:20]), (scores[20:], targets[20:])) == pytest.approx(expected)
    both = np.hstack([1 - scores, scores])
    metric = m.MatthewsCorrelationCoefficientMetric.multiclass()
    assert result(metric, (both, hot(targets[:, 0].tolist(), 2))) == pytest.approx(expected)
    assert metric.name() == "MatthewsCorrelationCoefficient @ Multiclass"


def test_the_correlation_of_several_classes() -> None:
    metric = m.MatthewsCorrelationCoefficientMetric.multiclass()
    # TP 3 of 5; predicted 2, 2, 1; hold 2, 1, 2: (3·5 - (4 + 2 + 2)) / (25 - 9)
    assert result(metric, MULTICLASS) == pytest.approx(7 / 16)
    metric.clear()
    assert math.isnan(metric.result())
    assert result(metric, ([[0.9, 0.1]] * 3, hot([0, 1, 0], 2))) == 0  # one class alone was predicted
    attributes = metric.attributes()
    assert attributes is not None and attributes.unit is None and attributes.higher_is_better


@pytest.mark.parametrize("scores", ["f32", "f64", "bf16"])
@pytest.mark.parametrize("classes", ["i64", "i32", "u8"])
def test_hits_are_the_first_of_the_best_and_nan_is_best(scores: str, classes: str) -> None:
    nan = math.nan
    rows = [[1.0, 3.0, 3.0], [nan, 9.0, nan], [2.0, nan, 5.0], [-1.0, -1.0, -2.0], [0.0, 1.0, 2.0]]
    outputs, right = Tensor(rows).cast(scores), [1, 0, 1, 0, 2]
    targets = Tensor(right).cast(classes)
    assert count_hits(outputs, targets) == (5, 5)
    # The same numbers, not in order.
    turned = outputs.transpose().contiguous().transpose()
    assert count_hits(turned, targets) == (5, 5)
    for row, best in enumerate(right):
        wrong = [*right[:row], (best + 1) % 3, *right[row + 1 :]]
        assert count_hits(outputs, Tensor(wrong).cast(classes)) == (4, 5)
    assert count_hits(Tensor(rows)[:0], targets[:0]) == (0, 0)
