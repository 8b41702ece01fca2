"""Which renderer suits where a program runs."""

from __future__ import annotations

import importlib.util
import os
import sys

from burnpy.train.renderer.cli import CliMetricsRenderer
from burnpy.train.renderer.notebook import NotebookMetricsRenderer
from burnpy.train.renderer.renderer import MetricsRenderer, Stoppable

__all__ = ["default_renderer"]


def default_renderer(interrupter: Stoppable | None = None, checkpoint: int | None = None) -> MetricsRenderer:
    """A display in a notebook's cell, the dashboard on a terminal with rich, else plain lines.

    Args:
        interrupter: what the key ``q`` of the dashboard stops.
        checkpoint: the epoch after which a run is resumed.

    Example:
        >>> type(default_renderer()).__name__
        'CliMetricsRenderer'

    Source: Burn ``renderer::default_renderer``.
    """
    if _is_notebook():
        return NotebookMetricsRenderer()
    if _is_terminal() and importlib.util.find_spec("rich") is not None:
        from burnpy.train.renderer.tui import TuiMetricsRendererWrapper

        return TuiMetricsRendererWrapper(interrupter, checkpoint)
    return CliMetricsRenderer()


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _is_notebook() -> bool:
    # Not imported: where a notebook runs, it is there.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
