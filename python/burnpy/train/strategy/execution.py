"""Where a training computes."""

from __future__ import annotations

from typing import Any

from burnpy.train.strategy.data_parallel import DataParallelStrategy
from burnpy.train.strategy.single import SingleDeviceStrategy

__all__ = ["ExecutionStrategy"]


class ExecutionStrategy:
    """The strategies of Burn, under its names; what they give is for ``with_training_strategy``.

    Example:
        >>> ExecutionStrategy.multi(2, num_shards=4).num_shards
        4

    Source: Burn ``train::ExecutionStrategy``.
    """

    @staticmethod
    def single(device: Any = None) -> SingleDeviceStrategy:
        """One model, in this thread. There is one device, so ``device`` is not looked at."""
        return SingleDeviceStrategy()

    @staticmethod
    def multi(devices: int, *, num_shards: int | None = None) -> DataParallelStrategy:
        """So many replicas in threads of this process; see :class:`DataParallelStrategy`.

        Raises:
            ValueError: ``devices`` is less than 1, or more than ``num_shards``.
        """
        if isinstance(devices, bool) or not isinstance(devices, int):
            raise TypeError(f"devices must be how many replicas there are, got {devices!r}")
        return DataParallelStrategy(devices, num_shards=num_shards)

    @staticmethod
    def ddp(*, num_shards: int | None = None) -> DataParallelStrategy:
        """The processes that ``mpirun`` started, one if it did not; see :class:`DataParallelStrategy`."""
        return DataParallelStrategy(num_shards=num_shards)
