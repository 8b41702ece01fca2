"""A display in a notebook's cell."""

from __future__ import annotations

import html
import time
from collections.abc import Callable
from typing import Any, Protocol

from burnpy.train.renderer.run_state import MODES
from burnpy.train.renderer.state_renderer import StateRenderer
from burnpy.train.renderer.time_left import duration_text

__all__ = ["CellDisplay", "NotebookMetricsRenderer"]


class CellDisplay(Protocol):
    """Shows HTML in the place where it showed some before."""

    def __call__(self, text: str, /) -> object:
        """Show it."""


class NotebookMetricsRenderer(StateRenderer):
    """Progress, time left and a table of metrics with their best values, drawn anew at most twice a second.

    Args:
        interval_s: seconds between drawings.
        display: what shows the HTML; by default IPython, imported at the first drawing.
        clock: what gives the time in seconds.

    Raises:
        ImportError: at the first drawing: IPython is not installed.

    Example:
        >>> renderer = NotebookMetricsRenderer(display=print)
        >>> renderer.start(2, 1, label="digits")
        <div>...digits...</div>
    """

    def __init__(
        self,
        *,
        interval_s: float = 0.5,
        display: CellDisplay | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock)
        if not interval_s >= 0.0:
            raise ValueError(f"interval_s must be at least 0, got {interval_s}")
        self._interval_s = interval_s
        self._display = display
        self._given = display
        self._shown_s = float("-inf")

    def changed(self, kind: str) -> None:
        """Draw what is due; a run gets a place of its own."""
        if kind == "start":
            self._display = self._given or _ipython_display()
        now_s = self.state.clock()
        if self._display is not None and (kind != "batch" or now_s - self._shown_s >= self._interval_s):
            self._shown_s = now_s
            self._display(self.html())

    def html(self) -> str:
        """What is shown."""
        state = self.state
        unit = "test" if state.is_evaluation else "epoch"
        title = state.label or ("Evaluation" if state.is_evaluation else "Training")
        total = "" if state.items_total is None else f"/{state.items_total}"
        done = f"{MODES.get(state.mode, '')} {state.items}{total}" if state.mode else ""
        left = "" if state.is_evaluation else f" · {duration_text(state.seconds_left())} left"
        lines = [
            f"<b>{html.escape(title)}</b> · {unit} {state.epoch}/{state.epochs}{left}",
            f"{_bar(state.run_fraction())} {_bar(state.split_fraction())} {done}",
            self._table(),
        ]
        return f"<div>{'<br>'.join(line for line in lines if line.strip())}</div>"

    def _table(self) -> str:
        rows = [
            "".join(
                f"<td>{html.escape(cell)}</td>" for cell in (name, group, reading.text, reading.best_text())
            )
            for name, groups in self.state.readings.items()
            for group, reading in groups.items()
        ]
        if not rows:
            return ""
        head = "".join(f"<th>{title}</th>" for title in ("Metric", "Split", "Value", "Best"))
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _bar(fraction: float | None) -> str:
    return "" if fraction is None else f'<progress value="{fraction:.4f}"></progress>'


def _ipython_display() -> CellDisplay:
    try:
        from IPython.display import HTML, display
    except ImportError as error:
        raise ImportError("NotebookMetricsRenderer needs IPython, which is not installed") from error
    handle: Any = display(HTML(""), display_id=True)
    return lambda text: handle.update(HTML(text))
