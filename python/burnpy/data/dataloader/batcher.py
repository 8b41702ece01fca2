"""From a list of items to a batch of tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from burnpy._core import Device, Tensor
from burnpy.data.dataset.arrays import Rows
from burnpy.errors import DatasetError

__all__ = ["AnyBatcher", "Batcher", "StackBatcher"]

T_contra = TypeVar("T_contra", contravariant=True)
B_co = TypeVar("B_co", covariant=True)


class Batcher(Protocol[T_contra, B_co]):
    """What makes a batch; called in the workers, from several threads at once.

    Source: Burn ``data::dataloader::batcher::Batcher``.
    """

    def batch(self, items: Sequence[T_contra], device: Device, /) -> B_co:
        """One batch of some items, with its tensors on ``device``.

        ``items`` of a :class:`TensorDataset` have ``columns``, already gathered.
        """
        ...


AnyBatcher: TypeAlias = Batcher[Any, Any] | Callable[[Sequence[Any], Device], Any]
"""A batcher, or a function of items and device."""


class StackBatcher:
    """Stacks the parts of items, and gives a batch that is formed like an item.

    Numbers become an ``Int``, ``Float`` or ``Bool`` tensor of shape ``(items,)``, arrays and tensors get a first axis,
    tuples, dicts, named tuples and dataclasses are stacked part by part; text and all else stays a list. The batcher of
    a loader that is given none.

    Raises:
        ShapeError: arrays of different shapes.

    Example:
        >>> batch = StackBatcher().batch([{"x": [1.0, 2.0], "y": 3}, {"x": [4.0, 5.0], "y": 6}], Device())
        >>> batch["y"].tolist(), [column.tolist() for column in batch["x"]]
        ([3, 6], [[1.0, 4.0], [2.0, 5.0]])
    """

    def batch(self, items: Sequence[Any], device: Device) -> Any:
        """The stacked items."""
        return items.stacked(device) if isinstance(items, Rows) else _stack(list(items), device)


def _stack(items: list[Any], device: Device) -> Any:
    first = items[0]
    if isinstance(first, Tensor):
        return Tensor.stack([item.to_device(device) for item in items])
    if isinstance(first, bool):
        return Tensor(items, device=device)
    if isinstance(first, int):
        return Tensor.from_ints(items, device)
    if isinstance(first, float):
        return Tensor.from_floats(items, device)
    if hasattr(first, "__array__") and hasattr(first, "dtype"):
        return Tensor.stack([Tensor.from_numpy(item, device=device) for item in items])
    return _stack_parts(first, items, device)


def _stack_parts(first: Any, items: list[Any], device: Device) -> Any:
    if isinstance(first, dict):
        return {key: _stack([item[key] for item in items], device) for key in first}
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        names = [field.name for field in dataclasses.fields(first)]
        parts = {name: _stack([getattr(item, name) for item in items], device) for name in names}
        return type(first)(**parts)
    if isinstance(first, tuple | list):
        if any(len(item) != len(first) for item in items):
            raise DatasetError(
                f"items of a batch have {sorted({len(item) for item in items})} parts, not one number"
            )
        columns = [_stack(list(column), device) for column in zip(*items, strict=True)]
        if hasattr(first, "_fields"):
            return type(first)(*columns)
        return columns if isinstance(first, list) else tuple(columns)
    return items
