"""What the dashboard shows, as a layout of rich."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from burnpy.train.renderer.run_state import MODES, RunState
from burnpy.train.renderer.time_left import duration_text
from burnpy.train.renderer.tui.chart import PlotKind, chart, style_of
from burnpy.train.renderer.tui.history import History

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.layout import Layout
    from rich.table import Table

__all__ = ["Dashboard"]

_SPLIT_STYLES = {"train": "bright_red", "valid": "bright_blue", "test": "bright_green"}


@dataclass(slots=True)
class Dashboard:
    """The state of a run, the histories of its metrics, and what the user has chosen to see.

    Attributes:
        state: of the run.
        histories: of the metrics of numbers, in the order in which they were registered.
        kind: of the plot.
        chosen: the number of the metric that is plotted.
        message: what the user is told.
    """

    state: RunState
    histories: dict[str, History] = field(default_factory=dict)
    kind: PlotKind = PlotKind.FULL
    chosen: int = 0
    message: str = ""

    def press(self, key: str) -> None:
        """Choose another metric or plot."""
        if key in ("left", "right") and self.histories:
            self.chosen = (self.chosen + (1 if key == "right" else -1)) % len(self.histories)
        elif key in ("up", "down"):
            self.kind = self.kind.next(1 if key == "down" else -1)

    def layout(self, width: int, height: int) -> Layout:
        """All of it, for a terminal of so many cells."""
        from rich.layout import Layout

        layout = Layout()
        layout.split_column(Layout(name="body"), Layout(self._progress(), size=4))
        left, right = Layout(ratio=38), Layout(self._plots(round(width * 0.62) - 4, height - 10), ratio=62)
        layout["body"].split_row(left, right)
        left.split_column(
            Layout(self._controls(), size=5),
            Layout(self._metrics(), minimum_size=6),
            Layout(self._status(), size=8),
        )
        return layout

    def table(self) -> Table:
        """The metrics with their last and best values."""
        from rich.table import Table
        from rich.text import Text

        table = Table(expand=True, box=None, pad_edge=False)
        for title in ("Metric", "Split", "Value", "Best"):
            table.add_column(title, overflow="fold", no_wrap=title == "Best")
        for name, groups in self.state.readings.items():
            for number, (group, reading) in enumerate(groups.items()):
                shown = Text(name if number == 0 else "", style="bold yellow")
                best = reading.best_text()
                table.add_row(shown, Text(group, style=style_of(group)), Text(reading.text), best)
        return table

    def _controls(self) -> RenderableType:
        from rich.panel import Panel
        from rich.text import Text

        text = self.message or "q  stop after this batch"
        return Panel(Text(f"{text}\n← →  metric\n↑ ↓  plot"), title="Controls")

    def _metrics(self) -> RenderableType:
        from rich.panel import Panel

        return Panel(self.table(), title="Metrics")

    def _status(self) -> RenderableType:
        from rich.panel import Panel
        from rich.text import Text

        state = self.state
        total = "?" if state.items_total is None else str(state.items_total)
        lines = [
            f"Mode: {MODES.get(state.mode, '-')}",
            f"{'Test' if state.is_evaluation else 'Epoch'}: {state.epoch}/{state.epochs}",
            f"Items: {state.items}/{total}",
            *(f"{event}: {count}" for event, count in state.counters.items()),
        ]
        title = f"Status: {state.label}" if state.label else "Status"
        return Panel(Text("\n".join(lines)), title=Text(title))

    def _plots(self, width: int, height: int) -> RenderableType:
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        names = list(self.histories)
        if not names:
            return Panel(Text("no metrics of numbers"), title="Plots")
        tabs = Text(no_wrap=True, overflow="ellipsis")
        # From the chosen one on, so that it is seen however many there are.
        for number in [*range(self.chosen, len(names)), *range(self.chosen)]:
            tabs.append(f" {names[number]} ", style="reverse" if number == self.chosen else "dim")
        body = chart(self.histories[names[self.chosen]], self.kind, max(width, 10), max(height - 2, 3))
        return Panel(Group(tabs, Text(self.kind.value, style="bold"), body), title="Plots")

    def _progress(self) -> RenderableType:
        from rich.panel import Panel
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        state = self.state
        grid = Table.grid(expand=True, padding=(0, 1))
        grid.add_column()
        grid.add_column(ratio=1)
        grid.add_column(justify="right")
        left = "" if state.is_evaluation else f"({duration_text(state.seconds_left())})"
        rows = [
            (state.group or "-", state.split_fraction(), _SPLIT_STYLES.get(state.mode, "dim"), ""),
            ("All", state.run_fraction(), "yellow", left),
        ]
        for name, fraction, style, note in rows:
            percent = "-" if fraction is None else f"{100 * fraction:.0f} %"
            bar = ProgressBar(
                total=1.0, completed=fraction or 0.0, complete_style=style, finished_style=style
            )
            grid.add_row(Text(name), bar, f"{percent} {note}".strip())
        return Panel(grid)
