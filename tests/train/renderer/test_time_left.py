"""How long a run will still take."""

import pytest

from burnpy.train.renderer.time_left import TimeLeft, duration_text, run_fraction


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 secs"), (1, "1 sec"), (55, "55 secs"), (61, "1 min"), (122, "2 mins"), (3601, "1 hour"),
        (7202, "2 hours"), (86424, "1 day"), (172848, "2 days"), (None, "---"),
    ],
)  # fmt: skip
def test_a_duration_is_told_in_its_largest_unit(seconds: int | None, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(
    ("items", "items_per_epoch", "warm_items", "fraction"), [(5, 10, 0, 0.25), (110, 1000, 10, 100 / 1990)]
)
def test_the_fraction_is_of_what_there_was_to_do_after_the_warm_up(
    items: int, items_per_epoch: int, warm_items: int, fraction: float
) -> None:
    left = TimeLeft(resumed_epoch=8)
    left.update(0.0, 0)
    left.update(30.0, warm_items)
    assert left.fraction(9, 10, items, items_per_epoch) == pytest.approx(fraction)


@pytest.mark.parametrize(
    ("seconds", "items", "is_warm"), [(9.0, 50, False), (10.0, 9, False), (10.0, 10, True), (30.0, 1, True)]
)
def test_the_warm_up_ends_after_ten_items_or_half_a_minute(seconds: float, items: int, is_warm: bool) -> None:
    left = TimeLeft(0)
    left.update(0.0, 0)
    left.update(seconds, items)
    assert (left.seconds(seconds + 10.0, 1, 2, items + 10, 100) is not None) == is_warm


def test_the_estimate_goes_by_the_speed_since_the_warm_up() -> None:
    left = TimeLeft(0)
    left.update(0.0, 0)
    left.update(40.0, 20)
    assert left.seconds(80.0, 1, 1, 60, 100) == 40
    assert left.seconds(80.0, 1, 1, 100, 100) == 0
    assert left.seconds(40.0, 1, 1, 20, 100) is None
    assert left.seconds(80.0, 1, 1, 60, None) is None


def test_a_run_whose_items_are_not_known_has_no_fraction() -> None:
    assert run_fraction(1, 2, 5, None) is None
    assert run_fraction(2, 2, 5, 10) == 0.75
