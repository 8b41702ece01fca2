"""The dashboard on a terminal."""

from burnpy.train.renderer.tui.wrapper import TuiMetricsRendererWrapper

__all__ = ["TuiMetricsRendererWrapper"]
