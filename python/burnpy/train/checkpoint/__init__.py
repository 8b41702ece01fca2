"""Checkpoints of a run: what is kept, where, and for how long."""

from burnpy.train.checkpoint.async_checkpointer import AsyncCheckpointer
from burnpy.train.checkpoint.checkpoint_set import CheckpointSet, complete_sets
from burnpy.train.checkpoint.checkpointer import Checkpoint, Checkpointer, CheckpointerError, FileCheckpointer
from burnpy.train.checkpoint.learning_checkpointer import LearningCheckpointer, Snapshot
from burnpy.train.checkpoint.strategy import (
    CheckpointingAction,
    CheckpointingStrategy,
    ComposedCheckpointingStrategy,
    ComposedCheckpointingStrategyBuilder,
    KeepLastNCheckpoints,
    MetricCheckpointingStrategy,
)
from burnpy.train.checkpoint.trainer_record import TrainerRecord

__all__ = [
    "AsyncCheckpointer",
    "Checkpoint",
    "CheckpointSet",
    "Checkpointer",
    "CheckpointerError",
    "CheckpointingAction",
    "CheckpointingStrategy",
    "ComposedCheckpointingStrategy",
    "ComposedCheckpointingStrategyBuilder",
    "FileCheckpointer",
    "KeepLastNCheckpoints",
    "LearningCheckpointer",
    "MetricCheckpointingStrategy",
    "Snapshot",
    "TrainerRecord",
    "complete_sets",
]
