"""Texts of numbers and entries, against Burn's."""

import math
from typing import Any

import pytest

from burnpy.tensor.text import mean_lines
from burnpy.train import metric as m
from burnpy.train.metric.mean_metric import MeanText
from tests.train.metric.golden_burn import manifest, number

NUMBERS = manifest("metrics")["number_texts"]
TEXTS = manifest("metrics")["parsed_texts"]


@pytest.mark.golden
@pytest.mark.parametrize("case", NUMBERS, ids=[str(case["value"]) for case in NUMBERS])
def test_numbers_are_written_as_burn_writes_them(case: dict[str, Any]) -> None:
    value = number(case["value"])
    assert m.plain_float(value) == case["plain"]
    assert m.format_float(value, 2) == case["precision_2"]
    assert m.format_float(value, 4) == case["precision_4"]
    assert m.NumericEntry.Value(value).serialize() == case["plain"]
    assert m.NumericEntry.Aggregated(value, 7).serialize() == case["counted"]
    assert m.NumericEntry.Final(value).serialize() == case["final"]


@pytest.mark.golden
@pytest.mark.parametrize("case", TEXTS, ids=[repr(case["text"]) for case in TEXTS])
def test_lines_are_read_as_burn_reads_them(case: dict[str, Any]) -> None:
    expected = case["entry"]
    if expected is None:
        with pytest.raises(ValueError, match="line"):
            m.NumericEntry.deserialize(case["text"])
        return
    entry = m.NumericEntry.deserialize(case["text"])
    assert type(entry).__name__ == expected["kind"]
    assert entry.serialize() == expected["text"]
    assert getattr(entry, "count", None) == expected.get("count")


@pytest.mark.parametrize("text", ["1_0", "1,1_0", "١", "1,١", "0x1", "1\n", "1,2\n", "nan(1)", "1e", "."])
def test_what_python_alone_reads_as_a_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        m.NumericEntry.deserialize(text)


@pytest.mark.parametrize(
    ("left", "right", "higher", "better"),
    [(2, 1, True, True), (1, 2, True, False), (1, 2, False, True), (2, 1, False, False), (1, 1, True, False)],
)
def test_the_better_of_two_entries(left: float, right: float, higher: bool, better: bool) -> None:
    assert m.NumericEntry.Final(left).better_than(m.NumericEntry.Value(right), higher) is better


def test_an_equal_number_is_better_where_lower_is_as_in_burn() -> None:
    assert m.NumericEntry.Value(1.0).better_than(m.NumericEntry.Value(1.0), False)


def test_entries_are_equal_if_their_kind_and_numbers_are() -> None:
    assert m.NumericEntry.Aggregated(1.0, 2) == m.NumericEntry.Aggregated(1.0, 2)
    value: m.NumericEntry = m.NumericEntry.Value(1.0)
    assert value != m.NumericEntry.Final(1.0)


def test_what_is_not_available_is_not_written() -> None:
    entry = m.SerializedEntry.not_available()
    assert (entry.formatted, entry.serialized) == ("epoch N/A - batch N/A", "N/A")
    assert entry.is_not_available() and not m.SerializedEntry("x", "0").is_not_available()
    assert m.SerializedEntry.NOT_AVAILABLE == "N/A"


def test_an_entry_that_is_made_late_equals_the_one_made_at_once() -> None:
    state = m.NumericMetricState()
    state.update(0.5, 1)
    late = state.compute_update(m.FormatOptions("Loss"))
    assert late == m.SerializedEntry("epoch 0.5 - batch 0.5", "0.5,1")
    assert hash(late) == hash(m.SerializedEntry("epoch 0.5 - batch 0.5", "0.5,1"))
    state.update(1.5, 1)
    assert late.serialized == "0.5,1"


def test_lines_of_many_entries_are_those_of_each() -> None:
    loss = m.LossMetric()
    values = [0.1, 1e-300, 1e22, -0.0, math.nan, math.inf, 1 / 3]
    said = [loss.add(value, n) for n, value in enumerate(values)]
    lines = "".join(f"{entry.serialized}\n" for entry in said)
    assert type(said[0]).lines(said) == m.SerializedEntry.lines(said) == lines
    assert lines.startswith("0.1,0\n0.000") and type(said[0]).lines([]) == ""


def test_lines_leave_out_what_is_not_available() -> None:
    entries = [m.SerializedEntry("", text) for text in ("1,2", "N/A", "", "3")]
    assert m.SerializedEntry.lines(entries) == "1,2\n3\n"


def test_a_weight_that_is_no_int_is_written_as_python_has_it() -> None:
    entry = m.LossMetric().add(0.5, 2.5)  # type: ignore[arg-type]
    assert entry.serialized == "0.5,2.5" and type(entry).lines([entry]) == "0.5,2.5\n"


def test_a_derived_class_of_entries_writes_its_own_lines() -> None:
    class Percent(MeanText):
        __slots__ = ()

        @property
        def serialized(self) -> str:
            return f"{super().serialized}%"

    entry = Percent(m.LossMetric(), (0.5, 1, 0.5, 1))
    assert Percent.lines([entry, entry]) == "0.5,1%\n0.5,1%\n"


@pytest.mark.parametrize(
    ("snapshot", "error"),
    [
        (("0.5", 1, 0.5, 1), TypeError),
        ((None, 1, 0.5, 1), TypeError),
        (0.5, TypeError),
        ((0.5, 1), ValueError),
    ],
)
def test_lines_of_what_is_no_snapshot_are_refused(snapshot: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        mean_lines([snapshot])


def test_a_weight_of_zero_leaves_the_mean_and_a_nan_with_weight_does_not() -> None:
    state = m.NumericMetricState()
    state.update(2.0, 3)
    state.update(math.nan, 0)
    assert state.running_value() == m.NumericEntry.Aggregated(2.0, 3)
    state.update(math.nan, 1)
    assert math.isnan(state.running())
    state.reset()
    assert math.isnan(state.running()) and math.isnan(state.current_value().current())
