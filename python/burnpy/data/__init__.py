"""Data: sets of items, what is made of them, and loaders that give batches.

Example:
    >>> import numpy as np
    >>> dataset = TensorDataset(x=np.zeros((100, 3), np.float32), y=np.arange(100))
    >>> loader = DataLoaderBuilder(batch_size=32).shuffle(42).num_workers(2).build(dataset)
    >>> [batch["x"].shape for batch in loader]
    [(32, 3), (32, 3), (32, 3), (4, 3)]
"""

from burnpy.data.dataloader import (
    Batcher,
    BatchStrategy,
    DataLoader,
    DataLoaderBuilder,
    DataLoaderIterator,
    FixBatchStrategy,
    Progress,
    StackBatcher,
    batch_rng,
    split_dataloader,
)
from burnpy.data.dataset import (
    Dataset,
    DatasetError,
    DatasetIterator,
    InMemDataset,
    Rows,
    TensorDataset,
    as_dataset,
)
from burnpy.data.transform import (
    ComposedDataset,
    Mapper,
    MapperDataset,
    PartialDataset,
    RngSource,
    SamplerDataset,
    SamplerDatasetOptions,
    SelectionDataset,
    ShuffledDataset,
    SizeConfig,
    WindowsDataset,
    iota,
    random_split,
    shuffled_indices,
)

__all__ = [
    "BatchStrategy",
    "Batcher",
    "ComposedDataset",
    "DataLoader",
    "DataLoaderBuilder",
    "DataLoaderIterator",
    "Dataset",
    "DatasetError",
    "DatasetIterator",
    "FixBatchStrategy",
    "InMemDataset",
    "Mapper",
    "MapperDataset",
    "PartialDataset",
    "Progress",
    "RngSource",
    "Rows",
    "SamplerDataset",
    "SamplerDatasetOptions",
    "SelectionDataset",
    "ShuffledDataset",
    "SizeConfig",
    "StackBatcher",
    "TensorDataset",
    "WindowsDataset",
    "as_dataset",
    "batch_rng",
    "iota",
    "random_split",
    "shuffled_indices",
    "split_dataloader",
]
