"""The data of the guide: Fashion-MNIST, or the small digits that burnpy carries, as batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnpy import Device, Tensor
from burnpy.data import DataLoader, DataLoaderBuilder, DigitsDataset, FashionMnistDataset

# The class of a set and the largest value of its pixels.
SETS: dict[str, tuple[Any, float]] = {
    "fashion": (FashionMnistDataset, 255.0),
    "digits": (DigitsDataset, 16.0),
}


@dataclass
class Batch:
    """Images ``(N, 1, size, size)`` with values from 0 to 1, and their classes ``(N,)``."""

    images: Tensor
    targets: Tensor


@dataclass
class Batcher:
    """Makes a batch of items; runs in the workers of a loader."""

    largest: float

    def batch(self, items: Sequence[Any], device: Device) -> Batch:
        """The items as tensors, whole columns at a time."""
        columns = items.columns  # type: ignore[attr-defined]
        images = columns["image"].to_device(device).cast("f32") / self.largest
        return Batch(images.unsqueeze_dim(1), columns["label"].to_device(device).cast("i32"))


def loaders(name: str, batch_size: int, seed: int, num_workers: int = 1) -> tuple[DataLoader, DataLoader]:
    """Shuffled batches to learn from, and batches to test with."""
    dataset, largest = SETS[name]
    builder = DataLoaderBuilder(Batcher(largest)).batch_size(batch_size).num_workers(num_workers)
    test = builder.set_device(Device.cpu()).build(dataset.test())
    return builder.set_device(Device()).shuffle(seed).build(dataset.train()), test
