"""The arithmetic of the tables of computations."""

import pytest

from benches.python.compute import Line, Row, measure


def line(unit: str, *values: float) -> Line:
    return Line("row", "peer", 1, unit, values)


@pytest.mark.parametrize(
    ("unit", "ratio"),
    [("GB/s", 2.0), ("us", 0.5)],
)
def test_a_ratio_is_the_median_of_the_ratios_of_the_rounds(unit: str, ratio: float) -> None:
    # The ratio of the medians would be 1.
    assert line(unit, 2.0, 4.0, 1.0).times_better_than(line(unit, 1.0, 2.0, 5.0)) == ratio


def test_quartiles_are_of_the_rounds() -> None:
    assert line("us", 5.0, 1.0, 2.0, 4.0, 3.0).quartiles == (2.0, 4.0)
    assert line("us", 7.0).quartiles == (7.0, 7.0)


def test_what_a_call_uses_up_is_made_for_all_calls_of_a_sample() -> None:
    ready: list[int] = []
    row = Row("row", "us", 1, {"own": ready.pop}, {"own": lambda calls: ready.extend(range(calls))})
    found = measure(row, threads=1, rounds=3)
    assert [len(found), len(found[0].values), ready] == [1, 3, []]
