"""Data sets: where items come from."""

from burnpy.data.dataset.arrays import Rows, TensorDataset
from burnpy.data.dataset.dataset import Dataset, DatasetIterator, as_dataset
from burnpy.data.dataset.in_memory import InMemDataset
from burnpy.errors import DatasetError

__all__ = [
    "Dataset",
    "DatasetError",
    "DatasetIterator",
    "InMemDataset",
    "Rows",
    "TensorDataset",
    "as_dataset",
]
