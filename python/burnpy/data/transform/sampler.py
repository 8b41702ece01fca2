"""Random draws from a data set."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from burnpy.data.dataset.dataset import Dataset, as_dataset, check_index
from burnpy.data.random import RngSource, draws, fork, permutation, stream
from burnpy.data.transform.selection import SelectionDataset

__all__ = ["SamplerDataset", "SamplerDatasetOptions", "SizeConfig"]

T = TypeVar("T")


@dataclass(frozen=True)
class SizeConfig:
    """How many draws a pass has: ``SizeConfig.Default()``, ``SizeConfig.Ratio(r)`` or ``SizeConfig.Fixed(n)``.

    Raises:
        ValueError: a ratio or a number that is negative or not finite.

    Example:
        >>> SizeConfig.Default().resolve(10), SizeConfig.Ratio(1.59).resolve(10), SizeConfig.Fixed(3).resolve(10)
        (10, 15, 3)

    Source: Burn ``data::dataset::transform::SizeConfig``.
    """

    ratio: float | None = None
    fixed: int | None = None

    def __post_init__(self) -> None:
        if self.ratio is not None and not 0 <= self.ratio < float("inf"):
            raise ValueError(f"ratio must be finite and not negative, got {self.ratio}")
        if self.fixed is not None and self.fixed < 0:
            raise ValueError(f"the number of draws must not be negative, got {self.fixed}")

    @staticmethod
    def Default() -> SizeConfig:
        """As many as there are items."""
        return SizeConfig()

    @staticmethod
    def Ratio(ratio: float) -> SizeConfig:
        """``ratio`` times as many as there are items, rounded down."""
        return SizeConfig(ratio=ratio)

    @staticmethod
    def Fixed(size: int) -> SizeConfig:
        """So many."""
        return SizeConfig(fixed=size)

    def resolve(self, source_size: int) -> int:
        """The number of draws from ``source_size`` items."""
        if self.ratio is not None:
            return int(source_size * self.ratio)
        return source_size if self.fixed is None else self.fixed


@dataclass(frozen=True)
class SamplerDatasetOptions:
    """How a sampler draws: with replacement or without, how often, and from which randomness.

    Example:
        >>> SamplerDatasetOptions().without_replacement().with_size_ratio(0.5).with_seed(1).replace_samples
        False

    Source: Burn ``data::dataset::transform::SamplerDatasetOptions``.
    """

    replace_samples: bool = True
    size_config: SizeConfig = SizeConfig()
    rng_source: RngSource = None

    @staticmethod
    def of(options: SamplerDatasetOptions | SizeConfig | int | None) -> SamplerDatasetOptions:
        """Options as they are; a number alone is that of the draws."""
        if options is None:
            return SamplerDatasetOptions()
        return (
            options
            if isinstance(options, SamplerDatasetOptions)
            else SamplerDatasetOptions().with_size(options)
        )

    def with_replace_samples(self, replace_samples: bool, /) -> SamplerDatasetOptions:
        """Whether an item goes back after its draw."""
        return replace(self, replace_samples=replace_samples)

    def with_replacement(self) -> SamplerDatasetOptions:
        """Each draw is from all items."""
        return self.with_replace_samples(True)

    def without_replacement(self) -> SamplerDatasetOptions:
        """No item is drawn again before all were."""
        return self.with_replace_samples(False)

    def with_size(self, size: SizeConfig | int, /) -> SamplerDatasetOptions:
        """How many draws, as a number or a rule."""
        return replace(self, size_config=size if isinstance(size, SizeConfig) else SizeConfig.Fixed(size))

    def with_source_size(self) -> SamplerDatasetOptions:
        """As many draws as items."""
        return self.with_size(SizeConfig.Default())

    def with_fixed_size(self, size: int, /) -> SamplerDatasetOptions:
        """So many draws."""
        return self.with_size(SizeConfig.Fixed(size))

    def with_size_ratio(self, ratio: float, /) -> SamplerDatasetOptions:
        """So many draws for each item."""
        return self.with_size(SizeConfig.Ratio(ratio))

    def with_rng(self, rng: RngSource, /) -> SamplerDatasetOptions:
        """Where the randomness comes from."""
        return replace(self, rng_source=rng)

    def with_seed(self, seed: int, /) -> SamplerDatasetOptions:
        """Draws that depend on a seed alone."""
        return self.with_rng(seed)

    def with_system_rng(self) -> SamplerDatasetOptions:
        """Draws from the operating system's randomness."""
        return self.with_rng(None)


class SamplerDataset(Dataset[T]):
    """A given number of random draws from a data set.

    Read by itself, ``get`` gives the next draw, whatever the index: reading an index twice gives two items, as in Burn.
    In a loader each epoch is a fixed draw instead, a function of the seed and the epoch (:meth:`at_epoch`).
    Without replacement a pass holds each item ⌊size / len⌋ or ⌈size / len⌉ times.

    Args:
        dataset: what is drawn from.
        options: a :class:`SamplerDatasetOptions`, or the number of draws (with replacement).

    Raises:
        ValueError: draws are asked for, and there is no item.

    Example:
        >>> options = SamplerDatasetOptions().without_replacement().with_size_ratio(3).with_seed(42)
        >>> sorted(SamplerDataset("abc", options))
        ['a', 'a', 'a', 'b', 'b', 'b', 'c', 'c', 'c']

    Source: Burn ``data::dataset::transform::SamplerDataset``.
    """

    def __init__(
        self,
        dataset: Dataset[T] | Sequence[T],
        options: SamplerDatasetOptions | SizeConfig | int | None = None,
    ) -> None:
        self.dataset = as_dataset(dataset)
        self.options = SamplerDatasetOptions.of(options)
        self._source_size = len(self.dataset)
        self._size = self.options.size_config.resolve(self._source_size)
        if self._size and not self._source_size:
            raise ValueError(f"{self._size} draws were asked for from a data set without items")
        self._key = fork(self.options.rng_source)
        self._lock = threading.Lock()
        self._pass = 0
        self._pool: list[int] = []

    @classmethod
    def with_replacement(cls, dataset: Dataset[T] | Sequence[T], size: int) -> SamplerDataset[T]:
        """``size`` draws from all items each."""
        return cls(dataset, SamplerDatasetOptions().with_replacement().with_fixed_size(size))

    @classmethod
    def without_replacement(cls, dataset: Dataset[T] | Sequence[T], size: int) -> SamplerDataset[T]:
        """``size`` draws, no item again before all were."""
        return cls(dataset, SamplerDatasetOptions().without_replacement().with_fixed_size(size))

    def is_with_replacement(self) -> bool:
        """Whether an item goes back after its draw."""
        return self.options.replace_samples

    def __len__(self) -> int:
        return self._size

    def get(self, index: int) -> T:
        """The next draw."""
        check_index(index, self._size)
        return self.dataset.get(self._draw())

    def get_many(self, indexes: Sequence[int]) -> Sequence[T]:
        """The next draws, read at once."""
        for index in indexes:
            check_index(index, self._size)
        return self.dataset.get_many([self._draw() for _ in indexes])

    def at_epoch(self, epoch: int) -> SelectionDataset[T]:
        """The draws of one epoch, in a fixed order."""
        # Apart from the passes of `get`, so that reading single items does not shift what a loader sees.
        return SelectionDataset(self.dataset.at_epoch(epoch), self._draws(stream(self._key, 1, epoch)))

    def _draw(self) -> int:
        with self._lock:
            if not self._pool:
                self._pool = self._draws(stream(self._key, 0, self._pass))[::-1]
                self._pass += 1
            return self._pool.pop()

    def _draws(self, key: bytes) -> list[int]:
        if self.options.replace_samples:
            return draws(self._source_size, self._size, key)
        if not self._size:
            return []
        copies, rest = divmod(self._size, self._source_size)
        some = permutation(self._source_size, stream(key, 0))[:rest].tolist()
        indices = [*range(self._source_size)] * copies + some
        return [indices[place] for place in permutation(self._size, stream(key, 1)).tolist()]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())
