"""A loader, choice by choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from burnpy.data.dataloader.loader import DataLoader

if TYPE_CHECKING:
    from burnpy._core import Device
    from burnpy.data.dataloader.batcher import AnyBatcher
    from burnpy.data.dataloader.strategy import BatchStrategy
    from burnpy.data.dataloader.worker import WorkerKind
    from burnpy.data.dataset.dataset import Dataset

__all__ = ["DataLoaderBuilder"]


class DataLoaderBuilder:
    """Builds a :class:`DataLoader`; what is not chosen is as there. Each method is also a keyword.

    Values are checked by :meth:`build`.

    Example:
        >>> builder = DataLoaderBuilder(lambda items, device: sum(items)).batch_size(2)
        >>> list(builder.build(range(5)))
        [1, 5, 4]
        >>> list(DataLoaderBuilder(lambda items, device: sum(items), batch_size=3, num_workers=2).build(range(5)))
        [3, 7]

    Source: Burn ``data::dataloader::DataLoaderBuilder``.
    """

    def __init__(
        self,
        batcher: AnyBatcher | None = None,
        *,
        batch_size: int = 1,
        shuffle: int | None = None,
        num_workers: int = 0,
        worker: WorkerKind = "thread",
        prefetch: int | None = None,
        device: Device | None = None,
        strategy: BatchStrategy | None = None,
    ) -> None:
        self._batcher = batcher
        self._chosen: dict[str, Any] = {
            "batch_size": batch_size,
            "shuffle": shuffle,
            "num_workers": num_workers,
            "worker": worker,
            "prefetch": prefetch,
            "device": device,
            "strategy": strategy,
        }

    def batch_size(self, batch_size: int) -> Self:
        """How many items a batch has."""
        return self._choose(batch_size=batch_size)

    def shuffle(self, seed: int) -> Self:
        """Another order of items in each epoch, from a seed."""
        return self._choose(shuffle=seed)

    def num_workers(self, num_workers: int) -> Self:
        """How many read ahead."""
        return self._choose(num_workers=num_workers)

    def worker(self, kind: WorkerKind) -> Self:
        """Whether they are threads or processes."""
        return self._choose(worker=kind)

    def prefetch(self, batches: int) -> Self:
        """How many batches all workers may hold ready."""
        return self._choose(prefetch=batches)

    def set_device(self, device: Device) -> Self:
        """Where the batcher puts tensors."""
        return self._choose(device=device)

    def strategy(self, strategy: BatchStrategy) -> Self:
        """Batches of another kind than that of a fixed size."""
        return self._choose(strategy=strategy)

    def build(self, dataset: Dataset[Any] | Sequence[Any]) -> DataLoader:
        """The loader of a data set; a builder may build several."""
        return DataLoader(dataset, self._batcher, **self._chosen)

    def _choose(self, **chosen: Any) -> Self:
        self._chosen |= chosen
        return self
