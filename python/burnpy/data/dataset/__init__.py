"""Data sets: where items come from."""

from burnpy.data.dataset.arrays import Rows, TensorDataset
from burnpy.data.dataset.dataframe import DataframeDataset
from burnpy.data.dataset.dataset import Dataset, DatasetIterator, as_dataset
from burnpy.data.dataset.idx import read_idx
from burnpy.data.dataset.image import (
    Annotation,
    BoundingBox,
    BoundingBoxes,
    ImageDatasetItem,
    Label,
    MultiLabel,
    PixelData,
    SegmentationMask,
)
from burnpy.data.dataset.image_folder import ImageFolderDataset
from burnpy.data.dataset.in_memory import InMemDataset
from burnpy.data.dataset.mnist import DigitsDataset, FashionMnistDataset, MnistDataset, MnistItem
from burnpy.data.dataset.sqlite_dataset import SqliteDataset
from burnpy.data.dataset.sqlite_storage import SqliteDatasetStorage
from burnpy.data.dataset.sqlite_writer import SqliteDatasetWriter
from burnpy.data.dataset.text_folder import TextData, TextDatasetItem, TextFolderDataset
from burnpy.errors import DataframeDatasetError, DatasetError, ImageLoaderError, SqliteDatasetError

__all__ = [
    "Annotation",
    "BoundingBox",
    "BoundingBoxes",
    "DataframeDataset",
    "DataframeDatasetError",
    "Dataset",
    "DatasetError",
    "DatasetIterator",
    "DigitsDataset",
    "FashionMnistDataset",
    "ImageDatasetItem",
    "ImageFolderDataset",
    "ImageLoaderError",
    "InMemDataset",
    "Label",
    "MnistDataset",
    "MnistItem",
    "MultiLabel",
    "PixelData",
    "Rows",
    "SegmentationMask",
    "SqliteDataset",
    "SqliteDatasetError",
    "SqliteDatasetStorage",
    "SqliteDatasetWriter",
    "TensorDataset",
    "TextData",
    "TextDatasetItem",
    "TextFolderDataset",
    "as_dataset",
    "read_idx",
]
