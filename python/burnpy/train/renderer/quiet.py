"""Nothing at all."""

from __future__ import annotations

from burnpy.train.renderer.renderer import MetricsRenderer

__all__ = ["QuietMetricsRenderer"]


class QuietMetricsRenderer(MetricsRenderer):
    """Shows nothing, not even the summary: for tests, and runs that only their files tell of.

    Example:
        >>> QuietMetricsRenderer().on_train_end("the summary")
    """

    def on_train_end(self, summary: object | None) -> None:
        """Do nothing."""

    def on_test_end(self, summary: object | None) -> None:
        """Do nothing."""
