"""Every metric says what Burn's says: per batch, at the end of the epoch, and in which words."""

import math
from typing import Any

import pytest

from burnpy.train.metric import Metric, Numeric, NumericEntry
from tests.train.metric import golden_burn as golden

CASES = {
    f"{folder}-{i}-{case['name']}": case
    for folder in ("metrics", "metrics-vision")
    for i, case in enumerate(golden.cases(folder))
}

# Burn gives these the name of the default; burnpy that of their arguments, so that two of them can be told apart.
TRUE_NAMES = {
    "PrecisionMetric.multilabel(0.3, Macro)": "Precision @ Threshold(0.3) [Macro]",
    "PrecisionMetric.multilabel(0.5, Micro)": "Precision @ Threshold(0.5) [Micro]",
    "PrecisionMetric.multilabel(0.3, Micro)": "Precision @ Threshold(0.3) [Micro]",
}

# Burn's single precision against burnpy's, and its ratios in single against burnpy's in double precision.
REL = 2e-6


@pytest.mark.golden
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.filterwarnings("ignore:.*50 is reported:UserWarning")
def test_a_metric_says_what_burns_says(case: dict[str, Any]) -> None:
    metric = golden.build(case["constructor"])
    assert metric.name() == TRUE_NAMES.get(case["constructor"], case["name"])
    _assert_attributes(metric, case["attributes"])
    assert isinstance(metric, Numeric)
    for epoch in case["epochs"]:
        for batch in epoch["batches"]:
            entry = golden.fed(metric, batch["input"])
            _assert_texts(entry.formatted, entry.serialized, batch)
            _assert_entry(metric.value(), batch["value"])
            _assert_entry(metric.running_value(), batch["running"])
        end = metric.compute()
        _assert_texts(end.formatted, end.serialized, epoch["end"])
        if "panics" in epoch["final"]:  # there was no batch to rank: NaN here
            assert math.isnan(metric.final_value().current())
        else:
            _assert_entry(metric.final_value(), epoch["final"])
        metric.clear()


@pytest.mark.golden
def test_a_case_without_a_batch_is_the_only_one_that_panics_in_burn() -> None:
    panics = [epoch for case in CASES.values() for epoch in case["epochs"] if "panics" in epoch["final"]]
    assert panics and not any(epoch["batches"] for epoch in panics)


def _assert_attributes(metric: Metric, expected: dict[str, Any] | None) -> None:
    found = metric.attributes()
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert (found.unit, found.higher_is_better) == (expected["unit"], expected["higher_is_better"])


def _assert_texts(formatted: str, serialized: str, expected: dict[str, Any]) -> None:
    assert golden.same_text(serialized, expected["serialized"], REL, 1e-9)
    # The last decimal shown may turn over where the number lies in the middle.
    assert golden.same_text(formatted, expected["formatted"], 0.011)


def _assert_entry(found: NumericEntry | None, expected: dict[str, Any] | None) -> None:
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert type(found).__name__ == expected["kind"]
    assert golden.same(found.current(), expected["value"], REL)
    assert getattr(found, "count", None) == expected.get("count")
    assert golden.same_text(found.serialize(), expected["text"], REL, 1e-9)
