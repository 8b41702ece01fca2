"""Data sets and batchers of the tests, in a module that worker processes can import."""

import os
import threading
import time
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from burnpy import Device
from burnpy.data import Dataset, batch_rng
from burnpy.errors import DatasetError


def as_list(items: Sequence[Any], device: Device) -> list[Any]:
    return list(items)


def flat(lists: Iterable[Iterable[Any]]) -> list[Any]:
    return list(chain.from_iterable(lists))


def with_random_number(items: Sequence[Any], device: Device) -> list[float]:
    return [item + batch_rng().random() for item in items]


class Counting(Dataset[int]):
    """Item i is i; counts the bulk reads and remembers the indices."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.reads: list[list[int]] = []

    def __len__(self) -> int:
        return self.length

    def get(self, index: int) -> int:
        return self.get_many([index])[0]

    def get_many(self, indexes: Sequence[int]) -> list[int]:
        assert all(type(index) is int for index in indexes)
        self.reads.append(list(indexes))
        return list(indexes)


class Failing(Dataset[int]):
    """Item i is i, but at one index something happens."""

    def __init__(self, length: int, at: int, how: str) -> None:
        self.length, self.at, self.how = length, at, how

    def __len__(self) -> int:
        return self.length

    def get(self, index: int) -> int:
        if index == self.at:
            self._fail()
        return index

    def _fail(self) -> None:
        if self.how == "dataset":
            raise DatasetError("the source is gone", kind="Io", path="/nowhere")
        if self.how == "value":
            raise ValueError("not a number")
        if self.how == "odd":
            raise Unreadable("left", "right")
        if self.how == "exit":
            raise SystemExit(3)
        os.kill(os.getpid(), 9)


class Unreadable(Exception):
    """Can be pickled but not read back: its arguments are not those of its constructor."""

    def __init__(self, left: str, right: str) -> None:
        super().__init__(f"{left} and {right}")


class Uneven(Dataset[int]):
    """Item i is i, and some take longer than others."""

    def __len__(self) -> int:
        return 40

    def get(self, index: int) -> int:
        if index % 7 == 0:
            time.sleep(0.003)
        return index


class ByWeight:
    """A strategy: as many items as weigh at most 10 together; it learns where a batch ends from the next item."""

    def __init__(self) -> None:
        self.items: list[int] = []

    def add(self, item: int) -> None:
        self.items.append(item)

    def batch(self, force: bool) -> list[int] | None:
        if sum(self.items) > 10 and len(self.items) > 1:
            items, self.items = self.items[:-1], self.items[-1:]
            return items
        if force and self.items:
            items, self.items = self.items, []
            return items
        return None

    def clone_dyn(self) -> "ByWeight":
        return ByWeight()

    def batch_size(self) -> int | None:
        return None


class OnlyHere:
    """Can be sent to another process, and not be made there."""

    def __init__(self) -> None:
        self.pid = os.getpid()

    def __setstate__(self, state: dict[str, int]) -> None:
        if state["pid"] != os.getpid():
            raise RuntimeError("made in another process")

    def batch(self, items: Sequence[Any], device: Device) -> list[Any]:
        return list(items)


def returns_a_lock(items: Sequence[Any], device: Device) -> Any:
    return threading.Lock()
