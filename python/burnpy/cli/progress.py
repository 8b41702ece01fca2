"""How far a long conversion is, on a terminal: a bar where rich is installed, else a line that counts."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from burnpy.cli.text import escape, shorten, size_text

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["ProgressBar"]

_AFTER_S = 1.0
_EVERY_S = 0.2
_NAME_CELLS = 40


class ProgressBar:
    """What ``burnpy.convert`` calls as ``progress``; work of less than a second shows nothing, nor does a file."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._start_s = time.monotonic()
        self._shown_s = 0.0
        self._bar: Any = None
        self._task: Any = None

    def __call__(self, name: str, done: int, total: int) -> None:
        """Show the name of the tensor whose turn it is, and how much is done."""
        now_s = time.monotonic()
        if not self._is_terminal or now_s - self._start_s < _AFTER_S or now_s - self._shown_s < _EVERY_S:
            return
        self._shown_s = now_s
        name = shorten(escape(name), _NAME_CELLS)
        if self._bar is None:
            self._bar = _rich_bar()
        if self._bar is False:
            percent = 100 * done // max(total, 1)
            print(f"{percent:3d}% of {size_text(total)}: {name}", file=sys.stderr)
            self._shown_s += 2.0  # lines stay, so they come more slowly
            return
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task("", total=total)
        self._bar.update(self._task, completed=done, description=name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._bar.stop()


def _rich_bar() -> Any:
    """A bar that goes away at the end; ``False`` where rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )
    except ImportError:
        return False
    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
