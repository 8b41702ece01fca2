"""Rows of text in columns, as wide as the terminal lets them be."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from burnpy.cli.text import cells, shorten

__all__ = ["lines", "terminal_width"]

_GAP = 2
_MIN_FIRST = 16


def terminal_width() -> int | None:
    """Columns of the terminal; ``None`` where the output is no terminal, so that nothing there is cut."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError, AttributeError):
        return None


def lines(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    width: int | None = None,
) -> Iterator[str]:
    """Lay out rows under a header; the first column gives way where the width does not suffice.

    Args:
        header: names of the columns.
        rows: as many texts each.
        right: columns that are flush right.
        width: columns of the terminal, ``None`` for no limit.
    """
    widths = [max(map(cells, column)) for column in zip(header, *rows, strict=True)]
    if width is not None:
        others = sum(widths[1:]) + _GAP * (len(widths) - 1)
        widths[0] = min(widths[0], max(width - others, _MIN_FIRST))
    for row in (header, *rows):
        texts = [shorten(row[0], widths[0]), *row[1:]]
        padded = (_pad(text, widths[i], i in right) for i, text in enumerate(texts))
        yield (" " * _GAP).join(padded).rstrip()


def _pad(text: str, width: int, right: bool) -> str:
    space = " " * (width - cells(text))
    return space + text if right else text + space
