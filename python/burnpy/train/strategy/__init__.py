"""Ways through the epochs of a training."""

from burnpy.train.strategy.components import TrainingComponents
from burnpy.train.strategy.data_parallel import DataParallelStrategy
from burnpy.train.strategy.execution import ExecutionStrategy
from burnpy.train.strategy.single import SingleDeviceStrategy
from burnpy.train.strategy.supervised_strategy import SupervisedLearningStrategy

__all__ = [
    "DataParallelStrategy",
    "ExecutionStrategy",
    "SingleDeviceStrategy",
    "SupervisedLearningStrategy",
    "TrainingComponents",
]
