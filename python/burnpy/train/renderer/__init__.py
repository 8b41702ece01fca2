"""Who shows a run.

A training calls its renderer on the thread of the metrics, in this order: ``register_metric`` for each metric;
``start``; per epoch and split ``start_split``, then per batch ``update_batch``, which calls ``update_train`` or
``update_valid`` for each metric, ``update_split`` and ``log_event_training("Iteration")``; at the end of a split
``update_train`` or ``update_valid`` with the values of the epoch, then ``end_split``; ``update_epoch``; at last ``end``
and ``on_train_end(summary)``. Whatever happened, it calls ``close`` before it returns or raises: that gives the
terminal back. An evaluation calls ``start_global_progress``, ``start_test``, ``update_test``, ``update_test_progress``,
``end_test``, ``end_global_progress`` and ``on_test_end`` likewise, and ``close``. A renderer may be used for several
runs.
"""

from burnpy.train.renderer.choose import default_renderer
from burnpy.train.renderer.cli import CliMetricsRenderer
from burnpy.train.renderer.notebook import NotebookMetricsRenderer
from burnpy.train.renderer.quiet import QuietMetricsRenderer
from burnpy.train.renderer.renderer import (
    EvaluationName,
    MetricsRenderer,
    MetricsRendererEvaluation,
    MetricsRendererTraining,
    MetricState,
)

__all__ = [
    "CliMetricsRenderer",
    "EvaluationName",
    "MetricState",
    "MetricsRenderer",
    "MetricsRendererEvaluation",
    "MetricsRendererTraining",
    "NotebookMetricsRenderer",
    "QuietMetricsRenderer",
    "default_renderer",
]
