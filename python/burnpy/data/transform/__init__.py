"""Data sets made of other data sets: all are lazy, nothing is read before an item is asked for."""

from burnpy.data.random import RngSource, iota, shuffled_indices
from burnpy.data.transform.composed import ComposedDataset
from burnpy.data.transform.mapper import Mapper, MapperDataset
from burnpy.data.transform.partial import PartialDataset
from burnpy.data.transform.sampler import SamplerDataset, SamplerDatasetOptions, SizeConfig
from burnpy.data.transform.selection import SelectionDataset, ShuffledDataset, random_split
from burnpy.data.transform.window import WindowsDataset

__all__ = [
    "ComposedDataset",
    "Mapper",
    "MapperDataset",
    "PartialDataset",
    "RngSource",
    "SamplerDataset",
    "SamplerDatasetOptions",
    "SelectionDataset",
    "ShuffledDataset",
    "SizeConfig",
    "WindowsDataset",
    "iota",
    "random_split",
    "shuffled_indices",
]
