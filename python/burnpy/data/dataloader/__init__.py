"""Loaders: batches of a data set, epoch after epoch."""

from burnpy.data.dataloader.batcher import Batcher, StackBatcher
from burnpy.data.dataloader.builder import DataLoaderBuilder
from burnpy.data.dataloader.iterator import DataLoaderIterator
from burnpy.data.dataloader.loader import DataLoader, split_dataloader
from burnpy.data.dataloader.part import BatchParts, part_of, shard_bounds
from burnpy.data.dataloader.progress import Progress
from burnpy.data.dataloader.reader import batch_rng
from burnpy.data.dataloader.strategy import BatchStrategy, FixBatchStrategy

__all__ = [
    "BatchParts",
    "BatchStrategy",
    "Batcher",
    "DataLoader",
    "DataLoaderBuilder",
    "DataLoaderIterator",
    "FixBatchStrategy",
    "Progress",
    "StackBatcher",
    "batch_rng",
    "part_of",
    "shard_bounds",
    "split_dataloader",
]
