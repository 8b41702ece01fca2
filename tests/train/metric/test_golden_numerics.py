"""Every metric against the numbers of independent references, in single and in double precision."""

import math
from typing import Any

import numpy as np
import pytest

from burnpy.train import metric as m
from tests.tensor.golden_numerics import Case, case_names

pytestmark = pytest.mark.golden

NAMES = case_names("metrics")
OPS = dict(zip(NAMES, (Case.load("metrics", name, "float32") for name in NAMES), strict=True))


def _rule(config: dict[str, Any]) -> m.ClassificationMetricConfig:
    ((kind, value),) = config["decision_rule"].items()
    reduction = m.ClassReduction[config["class_reduction"]]
    return m.ClassificationMetricConfig(getattr(m.DecisionRule, kind)(value), reduction)


def _smoothing(choice: Any) -> m.BleuSmoothing:
    if isinstance(choice, dict):
        return m.BleuSmoothing.AddEpsilon(choice["AddEpsilon"])
    return m.BleuSmoothing.Exponential() if choice == "Exponential" else m.BleuSmoothing.None_()


def _build(name: str, case: Case) -> m.Numeric:
    config = dict(case.config)
    family = name.split("_")[0]
    if family in ("precision", "recall"):
        return {"precision": m.PrecisionMetric, "recall": m.RecallMetric}[family](_rule(config))
    if family == "fbetascore":
        return m.FBetaScoreMetric(_rule(config), beta=config["beta"])
    if family in ("auroc", "aucpr"):
        reduction = m.ClassReduction[config["class_reduction"]]
        return {"auroc": m.AurocMetric, "aucpr": m.AucPrMetric}[family](reduction)
    if family == "bleu":
        return m.BleuScore(
            config["max_n"], pad_token=config["pad_token"], smoothing=_smoothing(config["smoothing"])
        )
    if family == "dice":
        return m.DiceMetric(m.DiceMetricConfig(**config), ndim=case.arrays["in.outputs.0"].ndim)
    if name.startswith("ms_ssim"):
        return m.MsSsimMetric(m.MsSsimMetricConfig(**config))
    if family in ("ssim", "psnr"):
        return (
            m.SsimMetric(m.SsimMetricConfig(**config))
            if family == "ssim"
            else m.PsnrMetric(m.PsnrMetricConfig(**config))
        )
    plain = {
        "loss": m.LossMetric,
        "accuracy": m.AccuracyMetric,
        "topk": m.TopKAccuracyMetric,
        "hamming": m.HammingScore,
        "perplexity": m.PerplexityMetric,
        "cer": m.CharErrorRate,
        "wer": m.WordErrorRate,
        "rouge": m.RougeLScore,
    }
    built: m.Numeric = plain[family](**config)
    return built


def _feed(metric: m.Numeric, case: Case, batch: int) -> m.SerializedEntry:
    found = {
        key.split(".")[1]: case.tensor(array)
        for key, array in case.arrays.items()
        if key.startswith("in.") and key.endswith(f".{batch}")
    }
    if "loss" in found:
        return metric.update(found["loss"])
    return metric.update(found.get("outputs", found.get("predictions")), found["targets"])


def _close(case: Case, found: float, expected: float) -> bool:
    if math.isnan(expected):
        return math.isnan(found)
    return math.isclose(found, expected, rel_tol=case.tolerance["rel"], abs_tol=case.tolerance["abs"])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_a_metric_gives_the_reference_numbers(name: str, dtype: str) -> None:
    case = Case.load("metrics", name, dtype)
    metric = _build(name, case)
    batches = 1 + max(int(key.split(".")[2]) for key in case.arrays if key.startswith("in."))
    for batch in range(batches):
        _feed(metric, case, batch)
        value, running = metric.value(), metric.running_value()
        if "out.batch" not in case.arrays:
            assert value is None and running is None
            continue
        expected = float(case.arrays["out.batch"][batch])
        if value is None:
            assert math.isnan(expected)
        else:
            assert _close(case, value.current(), expected)
            assert (
                isinstance(value, m.NumericEntry.Aggregated)
                and value.count == case.arrays["out.weight"][batch]
            )
        expected = float(case.arrays["out.running"][batch])
        assert math.isnan(expected) if running is None else _close(case, running.current(), expected)
    assert _close(case, metric.result(), float(case.arrays["out.final"]))


@pytest.mark.parametrize("name", [name for name, case in OPS.items() if "out.tp_fp_fn" in case.arrays])
def test_counts_of_right_and_wrong_are_the_references(name: str) -> None:
    case = OPS[name]
    total = np.zeros_like(case.arrays["out.tp_fp_fn"])
    for batch in range(3):
        stats = m.ConfusionStats.of(
            m.ConfusionStatsInput(case.arrays[f"in.predictions.{batch}"], case.arrays[f"in.targets.{batch}"]),
            _rule(case.config),
        )
        total = total + np.array([stats.true_positive(), stats.false_positive(), stats.false_negative()])
    np.testing.assert_array_equal(total, case.arrays["out.tp_fp_fn"])
