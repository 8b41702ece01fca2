"""A chart of the series of one metric, as text of rich."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from burnpy.train.metric.number_text import format_float
from burnpy.train.renderer.tui.canvas import Canvas

if TYPE_CHECKING:
    from rich.text import Text

    from burnpy.train.renderer.tui.history import History, Point

__all__ = ["PlotKind", "chart", "style_of"]

_STYLES = {"Train": "bright_red", "Valid": "bright_blue"}


class PlotKind(enum.Enum):
    """What a plot shows of a metric."""

    FULL = "Full History"
    RECENT = "Recent History"
    SUMMARY = "Summary"

    def next(self, by: int = 1) -> PlotKind:
        """The kind that many further, round and round."""
        kinds = list(PlotKind)
        return kinds[(kinds.index(self) + by) % len(kinds)]


def style_of(group: str) -> str:
    """The colour of a group."""
    return _STYLES.get(group, "bright_green")


def chart(history: History, kind: PlotKind, width: int, height: int) -> Text:
    """A line of all, dots of the last values, or a bar per group, with labels and a legend, in so many cells."""
    if kind is PlotKind.SUMMARY:
        return _bars(history, width)
    series = {
        group: [
            point
            for point in (each.full if kind is PlotKind.FULL else each.recent)
            if math.isfinite(point[1])
        ]
        for group, each in history.series.items()
    }
    return _plot(series, kind, width, height)


def _plot(series: dict[str, list[Point]], kind: PlotKind, width: int, height: int) -> Text:
    from rich.text import Text

    points = [point for group in series.values() for point in group]
    if not points or height < 3:
        return Text("no values yet")
    x_bounds = (min(x for x, _ in points), max(x for x, _ in points))
    y_bounds = (min(y for _, y in points), max(y for _, y in points))
    labels = [format_float(y, 2) for y in y_bounds]
    margin = max(map(len, labels)) + 1
    canvas = Canvas(width - margin, height - 2, x_bounds, y_bounds)
    for index, group in enumerate(series.values()):
        (canvas.line if kind is PlotKind.FULL else canvas.scatter)(index, group)
    text = Text(no_wrap=True, overflow="crop")
    _rows(text, canvas, list(series), labels, margin)
    low, high = (str(x) for x in x_bounds)
    text.append(f"{' ' * margin}{low}{high.rjust(max(width - margin - len(low), 0))}\n", style="dim")
    text.append(" " * margin)
    for name in series:
        text.append(f"● {name}  ", style_of(name))
    return text


def _rows(text: Text, canvas: Canvas, groups: Sequence[str], labels: Sequence[str], margin: int) -> None:
    rows = canvas.rows()
    for number, row in enumerate(rows):
        label = labels[1] if number == 0 else labels[0] if number == len(rows) - 1 else ""
        text.append(label.rjust(margin - 1) + "│", style="dim")
        for character, owner in row:
            text.append(character, style=None if owner is None else style_of(groups[owner]))
        text.append("\n")


def _bars(history: History, width: int) -> Text:
    from rich.text import Text

    bars = {group: series.bar for group, series in history.series.items()}
    shown = {group: value for group, value in bars.items() if value is not None and math.isfinite(value)}
    if not shown:
        return Text("no values yet")
    highest = max(map(abs, shown.values())) or 1.0
    name_width = max(map(len, shown))
    room = max(width - name_width - 14, 1)
    text = Text(no_wrap=True, overflow="crop")
    for group, value in shown.items():
        bar = "█" * max(round(abs(value) / highest * room), 1 if value else 0)
        text.append(f"{group.ljust(name_width)} {bar} {value:.2f}\n", style=style_of(group))
    return text
