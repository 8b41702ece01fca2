"""Plain lines, for files, pipes and simple terminals."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import IO

from burnpy.train.renderer.run_state import MODES
from burnpy.train.renderer.state_renderer import StateRenderer
from burnpy.train.renderer.time_left import duration_text

__all__ = ["CliMetricsRenderer"]


class CliMetricsRenderer(StateRenderer):
    """A line at the start and the end of each split, and in between at most one per interval, with all metrics.

    Unlike Burn: whose lines, one per batch, have no values.

    Args:
        interval_s: seconds between lines inside a split.
        file: where to; ``sys.stdout`` at the time of printing if it is not given.
        clock: what gives the time in seconds.

    Example:
        >>> renderer = CliMetricsRenderer()
        >>> renderer.start(2, 1, label="digits")
        digits: epochs 1 to 2
        >>> renderer.start_split("train", 640)
        epoch 1/2, Training: 640 items
    """

    def __init__(
        self,
        *,
        interval_s: float = 10.0,
        file: IO[str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock)
        if not interval_s >= 0.0:
            raise ValueError(f"interval_s must be at least 0, got {interval_s}")
        self._interval_s = interval_s
        self._file = file
        self._shown_s = clock()

    def changed(self, kind: str) -> None:
        """Print what is due."""
        state = self.state
        if kind == "batch":
            if state.clock() - self._shown_s >= self._interval_s:
                self._print(", ".join(filter(None, (self._where(), self._progress(), self._values()))))
        elif kind == "start":
            name = state.label or ("evaluation" if state.is_evaluation else "training")
            told = (
                f"{state.epochs} tests" if state.is_evaluation else f"epochs {state.epoch} to {state.epochs}"
            )
            self._print(f"{name}: {told}")
        elif kind == "split":
            total = "" if state.items_total is None else f": {state.items_total} items"
            self._print(f"{self._where()}{total}")
        elif kind == "split_end":
            done = f"{state.items} items in {state.split_seconds():.1f} s"
            self._print(", ".join(filter(None, (self._where(), done, self._values()))))
        elif kind == "end":
            name = state.label or ("evaluation" if state.is_evaluation else "training")
            self._print(f"{name}: done")

    def on_train_end(self, summary: object | None) -> None:
        """Print the summary."""
        if summary is not None:
            self._print(str(summary))

    def on_test_end(self, summary: object | None) -> None:
        """Print the summary."""
        self.on_train_end(summary)

    def _where(self) -> str:
        state = self.state
        if state.is_evaluation:
            return f"test {state.epoch}/{state.epochs}, {state.group.removesuffix(' Test')}"
        return f"epoch {state.epoch}/{state.epochs}, {MODES.get(state.mode, state.group)}"

    def _progress(self) -> str:
        state = self.state
        total = "" if state.items_total is None else f"/{state.items_total}"
        left = state.seconds_left()
        return f"{state.items}{total} items" + ("" if left is None else f", {duration_text(left)} left")

    def _values(self) -> str:
        group = self.state.group
        return ", ".join(
            f"{name}: {readings[group].text}"
            for name, readings in self.state.readings.items()
            if group in readings
        )

    def _print(self, line: str) -> None:
        self._shown_s = self.state.clock()
        print(line, file=self._file or sys.stdout, flush=True)
