"""Who writes what happens in a run.

A training tells its :class:`MetricLogger` objects, through the event store of ``burnpy.train.metric.store``, what
metrics say; its :class:`TrainingProgressLogger` how far it has come; and Python's logger ``burnpy`` the rest, which an
:class:`ApplicationLoggerInstaller` writes to ``experiment.log``.
"""

from burnpy.train.logger.application import ApplicationLoggerInstaller, FileApplicationLoggerInstaller
from burnpy.train.logger.csv_metric_logger import CsvMetricLogger
from burnpy.train.logger.file_metric_logger import FileMetricLogger
from burnpy.train.logger.in_memory_metric_logger import InMemoryMetricLogger
from burnpy.train.logger.json_lines_metric_logger import JsonLinesMetricLogger
from burnpy.train.logger.logger import AsyncLogger, FileLogger, InMemoryLogger, Logger
from burnpy.train.logger.metric_logger import MetricLogger
from burnpy.train.logger.mlflow import MlflowMetricLogger
from burnpy.train.logger.progress_logger import (
    EvaluationProgressLogger,
    ProgressSnapshot,
    TrainingProgressLogger,
)
from burnpy.train.logger.tensorboard import TensorboardMetricLogger

__all__ = [
    "ApplicationLoggerInstaller",
    "AsyncLogger",
    "CsvMetricLogger",
    "EvaluationProgressLogger",
    "FileApplicationLoggerInstaller",
    "FileLogger",
    "FileMetricLogger",
    "InMemoryLogger",
    "InMemoryMetricLogger",
    "JsonLinesMetricLogger",
    "Logger",
    "MetricLogger",
    "MlflowMetricLogger",
    "ProgressSnapshot",
    "TensorboardMetricLogger",
    "TrainingProgressLogger",
]
