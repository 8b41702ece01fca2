import pytest

from burnpy.cli.table import lines
from burnpy.cli.text import cells, escape, shorten, size_text


@pytest.mark.parametrize(
    ("num_bytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_951, "1.0 MB"),
        (1e15, "1,000.0 TB"),
    ],
)
def test_sizes_take_the_unit_that_keeps_them_short(num_bytes: float, text: str) -> None:
    assert size_text(int(num_bytes)) == text


@pytest.mark.parametrize("width", range(3, 12))
def test_a_shortened_text_fits_whatever_its_characters(width: int) -> None:
    for text in ("abcdefghijkl", "日本日本日本日本", "a日" * 6, "e\u0301" * 12):
        assert cells(shorten(text, width)) <= width


def test_a_text_that_fits_is_left_alone() -> None:
    assert shorten("weight", 6) == "weight"
    assert escape("日本 / weight") == "日本 / weight"


def test_columns_are_as_wide_as_their_widest_text() -> None:
    assert list(lines(("name", "n"), [("a", "10"), ("bcdefg", "9")], right=(1,))) == [
        "name     n", "a       10", "bcdefg   9",
    ]  # fmt: skip


def test_a_table_without_rows_is_its_header() -> None:
    assert list(lines(("a", "b"), [])) == ["a  b"]
