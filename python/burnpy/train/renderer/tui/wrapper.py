"""The dashboard on a terminal."""

from __future__ import annotations

import atexit
import io
import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, Self

from burnpy.train.renderer.renderer import MetricState, Numeric, Stoppable
from burnpy.train.renderer.state_renderer import StateRenderer
from burnpy.train.renderer.tui.dashboard import Dashboard
from burnpy.train.renderer.tui.history import History
from burnpy.train.renderer.tui.keys import Keys

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

    from burnpy.train.metric.metric import MetricDefinition

__all__ = ["TuiMetricsRendererWrapper"]

_LOGGER = logging.getLogger("burnpy.train.renderer")


class TuiMetricsRendererWrapper(StateRenderer):
    """A dashboard on the whole terminal: progress, time left, a table of metrics with their best values, live plots.

    It is drawn on a thread of its own, at most ten times a second, and never holds a run up. Keys: ``q`` stops the run
    after the batch at hand, arrows choose metric and plot. What is printed meanwhile comes out when the terminal is
    given back, and then the table of metrics and the summary: at the end of a run, by ``close``, or when the process
    ends. If drawing fails, the log tells why, and the run goes on.

    Unlike Burn: Ctrl-C interrupts, and ``q`` stops without asking.

    Args:
        interrupter: what ``q`` stops.
        checkpoint: the epoch after which a run is resumed.
        console: rich's, for tests.
        keys: the keys, for tests.
        interval_s: seconds between drawings.

    Raises:
        ImportError: at the start of a run: rich is not installed (extra ``ui``).

    Source: Burn ``renderer::tui::TuiMetricsRendererWrapper``.
    """

    def __init__(
        self,
        interrupter: Stoppable | None = None,
        checkpoint: int | None = None,
        *,
        console: Console | None = None,
        keys: Keys | None = None,
        interval_s: float = 0.1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock)
        if not interval_s > 0.0:
            raise ValueError(f"interval_s must be above 0, got {interval_s}")
        self.interrupter = interrupter
        self.checkpoint = checkpoint
        self.dashboard = Dashboard(self.state)
        self._console = console
        self._keys = keys or Keys()
        self._interval_s = interval_s
        self._persistent = False
        self._screen: _Screen | None = None
        self._quit = threading.Event()

    def persistent(self) -> Self:
        """Leave the dashboard open after a run until the user presses ``q``; returns the renderer."""
        self._persistent = True
        return self

    def register_metric(self, definition: MetricDefinition) -> None:
        """Learn of a metric; those of numbers get a plot."""
        super().register_metric(definition)
        with self.lock:
            if definition.attributes is not None:
                self.dashboard.histories.setdefault(definition.name, History(ratio=self._ratio))

    def _ratio(self, group: str) -> float:
        """Items of the split at hand by items of the training."""
        total, train = self.state.items_total, self.state.train_total
        return 1.0 if group == "Train" or not total or not train else total / train

    def updated(self, group: str, state: MetricState) -> None:
        """Put a number into its plot."""
        if isinstance(state, Numeric):
            name = state.entry.metric_id
            history = self.dashboard.histories.setdefault(name, History(ratio=self._ratio))
            history.push(group, state.numeric_entry)

    def changed(self, kind: str) -> None:
        """Open the dashboard when a run starts; all else is drawn when it is time to."""
        if kind == "start" and self._screen is None:
            self.dashboard.message = ""
            self._quit.clear()
            screen = _Screen(self._console, self._keys, self._draw, self._press, self._interval_s)
            screen.open()
            self._screen = screen
            atexit.register(self.close)

    def on_train_end(self, summary: object | None) -> None:
        """Give the terminal back, after the user's ``q`` if it is persistent, and print table and summary."""
        if self._persistent:
            with self.lock:
                self.dashboard.message = "done: q  close"
            self.manual_close()
        self.close()
        if summary is not None:
            print(summary)

    def on_test_end(self, summary: object | None) -> None:
        """As after a training."""
        self.on_train_end(summary)

    def manual_close(self) -> None:
        """Wait for the user's ``q``; returns at once if the dashboard is closed."""
        while self._screen is not None and self._screen.is_open() and not self._quit.is_set():
            self._quit.wait(self._interval_s)

    def close(self) -> None:
        """Give the terminal back; then what was printed meanwhile, and the table of metrics, is printed."""
        screen, self._screen = self._screen, None
        if screen is None:
            return
        atexit.unregister(self.close)
        screen.close()
        if self.state.readings:
            with self.lock:
                screen.console.print(self.dashboard.table())

    def _draw(self, width: int, height: int) -> Any:
        with self.lock:
            return self.dashboard.layout(width, height)

    def _press(self, key: str) -> None:
        with self.lock:
            self.dashboard.press(key)
            if key != "q":
                return
            self._quit.set()
            if self.interrupter is not None and self.dashboard.message == "":
                self.dashboard.message = "stopping after this batch"
                self.interrupter.stop("stopped by the user")


class _Screen:
    """The terminal while a dashboard is on it: the thread that draws, keys, and what others print."""

    def __init__(
        self,
        console: Console | None,
        keys: Keys,
        draw: Callable[[int, int], Any],
        press: Callable[[str], None],
        interval_s: float,
    ) -> None:
        try:
            from rich.console import Console as RichConsole
            from rich.live import Live as RichLive
        except ImportError as error:
            raise ImportError("the dashboard needs rich: pip install burnpy[ui]") from error
        # The stream itself: what replaces `sys.stdout` meanwhile must not get the dashboard.
        self.console = console or RichConsole(file=sys.stdout)
        self._live: Live = RichLive(
            console=self.console,
            screen=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._keys, self._draw, self._press = keys, draw, press
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._printed = {"stdout": io.StringIO(), "stderr": io.StringIO()}
        self._streams: dict[str, IO[str]] = {}
        self._thread = threading.Thread(target=self._run, name="burnpy-renderer", daemon=True)

    def open(self) -> None:
        for name, buffer in self._printed.items():
            self._streams[name] = getattr(sys, name)
            setattr(sys, name, buffer)
        try:
            self._keys.__enter__()
            self._live.start()
            self._thread.start()
        except BaseException:
            self._restore()
            raise

    def is_open(self) -> bool:
        return self._thread.is_alive()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._restore()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._refresh()
                self._stop.wait(self._interval_s)
            self._refresh()
        except Exception:
            self._restore()
            _LOGGER.exception("the dashboard cannot be drawn any more; the run goes on")

    def _refresh(self) -> None:
        for key in self._keys.read():
            self._press(key)
        width, height = self.console.size
        self._live.update(self._draw(width, height), refresh=True)

    def _restore(self) -> None:
        try:
            self._live.stop()
        finally:
            self._keys.__exit__(None, None, None)
            for name, stream in self._streams.items():
                if getattr(sys, name) is self._printed[name]:
                    setattr(sys, name, stream)
                stream.write(self._printed[name].getvalue())
                stream.flush()
            self._streams.clear()
