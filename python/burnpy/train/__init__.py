"""Training that can be watched, stopped, killed and resumed.

Example:
    >>> from burnpy.train import MetricEarlyStoppingStrategy, StoppingCondition
    >>> from burnpy.train.metric.store import Aggregate, Direction, Split
    >>> patience = StoppingCondition.NoImprovementSince(n_epochs=3)
    >>> MetricEarlyStoppingStrategy("Loss", Aggregate.Mean, Direction.Lowest, Split.Valid, patience).best_epoch
    1
"""

from burnpy.errors import TrainingError
from burnpy.train.early_stopping import (
    EarlyStoppingStrategy,
    MetricEarlyStoppingStrategy,
    StoppingCondition,
)
from burnpy.train.evaluator import Evaluator, EvaluatorBuilder
from burnpy.train.event import EvaluationItem, EvaluatorEvent, LearnerEvent, TrainingItem
from burnpy.train.event_processor import EvaluationProcessor, TrainingProcessor
from burnpy.train.failure import MetricError
from burnpy.train.interrupter import Interrupter, Interruption
from burnpy.train.item import (
    ClassificationOutput,
    ItemLazy,
    MultiLabelClassificationOutput,
    RegressionOutput,
    SequenceOutput,
)
from burnpy.train.learner import Learner
from burnpy.train.logger import ApplicationLoggerInstaller, FileApplicationLoggerInstaller
from burnpy.train.result import EvaluationResult, LearningResult
from burnpy.train.step import InferenceStep, TrainOutput, TrainStep
from burnpy.train.strategy import (
    DataParallelStrategy,
    ExecutionStrategy,
    SingleDeviceStrategy,
    SupervisedLearningStrategy,
    TrainingComponents,
)
from burnpy.train.summary import LearnerSummary, LearnerSummaryConfig
from burnpy.train.supervised import SupervisedTraining

__all__ = [
    "ApplicationLoggerInstaller",
    "ClassificationOutput",
    "DataParallelStrategy",
    "EarlyStoppingStrategy",
    "EvaluationItem",
    "EvaluationProcessor",
    "EvaluationResult",
    "Evaluator",
    "EvaluatorBuilder",
    "EvaluatorEvent",
    "ExecutionStrategy",
    "FileApplicationLoggerInstaller",
    "InferenceStep",
    "Interrupter",
    "Interruption",
    "ItemLazy",
    "Learner",
    "LearnerEvent",
    "LearnerSummary",
    "LearnerSummaryConfig",
    "LearningResult",
    "MetricEarlyStoppingStrategy",
    "MetricError",
    "MultiLabelClassificationOutput",
    "RegressionOutput",
    "SequenceOutput",
    "SingleDeviceStrategy",
    "StoppingCondition",
    "SupervisedLearningStrategy",
    "SupervisedTraining",
    "TrainOutput",
    "TrainStep",
    "TrainingComponents",
    "TrainingError",
    "TrainingItem",
    "TrainingProcessor",
]
