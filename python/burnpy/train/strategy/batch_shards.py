"""Batches cut into shards, and what came of the shards put together again."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from burnpy.data.dataloader import BatchParts, shard_bounds
from burnpy.distributed import sum_in_order
from burnpy.tensor import Tensor
from burnpy.train.loader import length_of

__all__ = ["combined", "cut", "weighted_sum"]

T = TypeVar("T")


def cut(batch: Any, num_shards: int) -> BatchParts:
    """All shards of a batch of a loader that can read only whole ones.

    Arrays, tensors and lists as long as the batch are cut, wherever in tuples, lists, dicts and objects they are;
    anything else goes into each shard.

    Example:
        >>> parts = cut((Tensor([[1.0], [2.0], [3.0]]), "all"), 2).parts
        >>> [(shard, n, x.tolist(), rest) for shard, n, (x, rest) in parts]
        [(0, 1, [[1.0]], 'all'), (1, 2, [[2.0], [3.0]], 'all')]
    """
    items = length_of(batch)
    bounds = shard_bounds(items, num_shards)
    spans = [(shard, bounds[shard], bounds[shard + 1]) for shard in range(num_shards)]
    parts = [
        (shard, end - start, _slice(batch, items, start, end)) for shard, start, end in spans if end > start
    ]
    return BatchParts(0, 0, items, parts)


def _slice(value: Any, items: int, start: int, end: int) -> Any:
    if isinstance(value, Tensor):
        return value[start:end] if value.shape[:1] == (items,) else value
    if hasattr(value, "shape"):
        return value[start:end] if tuple(value.shape[:1]) == (items,) else value
    if isinstance(value, Mapping):
        return {key: _slice(part, items, start, end) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return _slice_sequence(value, items, start, end)
    if hasattr(value, "__dict__") and not callable(value):
        part = copy.copy(value)
        part.__dict__.update({name: _slice(old, items, start, end) for name, old in vars(value).items()})
        return part
    return value


def _slice_sequence(value: Any, items: int, start: int, end: int) -> Any:
    if len(value) == items and not any(hasattr(part, "shape") for part in value):
        return value[start:end]
    parts = [_slice(part, items, start, end) for part in value]
    if hasattr(value, "_fields"):
        return type(value)(*parts)
    return type(value)(parts)


def weighted_sum(tensors: Sequence[Tensor], counts: Sequence[int]) -> Tensor:
    """The mean of shards' tensors, each weighed by its items, summed in an order that the shards alone decide."""
    total = sum(counts)
    weighed = [t if n == total else t * (n / total) for t, n in zip(tensors, counts, strict=True)]
    return sum_in_order(weighed)


def combined(items: Sequence[T], counts: Sequence[int]) -> T:
    """The output of a whole batch, of those of its shards.

    A tensor with a value or row for each item of its shard becomes one of the batch; other tensors of floats, such as
    a loss, become their mean, weighed by items; anything else is taken from the first shard. An output that wants it
    otherwise has a class method ``combine(items, counts)``.

    Args:
        items: one for each shard, in order.
        counts: how many items each shard has.

    Raises:
        TypeError: tensors of the shards do not fit together; the message names the attribute.

    Example:
        >>> from burnpy.train import RegressionOutput
        >>> one, three = [[1.0]], [[2.0], [3.0], [4.0]]
        >>> parts = [RegressionOutput(Tensor([8.0]), Tensor(one), Tensor(one)),
        ...          RegressionOutput(Tensor([4.0]), Tensor(three), Tensor(three))]
        >>> whole = combined(parts, [1, 3])
        >>> whole.loss.item(), whole.output.flatten(0, 1).tolist()
        (5.0, [1.0, 2.0, 3.0, 4.0])
    """
    first: Any = items[0]
    if len(items) == 1:
        return items[0]
    if hasattr(type(first), "combine"):
        whole: T = type(first).combine(items, counts)
        return whole
    if isinstance(first, Tensor):
        return _joined("the output", items, counts)  # type: ignore[arg-type, return-value]
    result = copy.copy(first)
    for name, value in getattr(first, "__dict__", {}).items():
        if isinstance(value, Tensor):
            setattr(result, name, _joined(name, [getattr(item, name) for item in items], counts))
    return result  # type: ignore[no-any-return]


def _joined(name: str, tensors: Sequence[Tensor], counts: Sequence[int]) -> Tensor:
    shapes = [tensor.shape for tensor in tensors]
    by_item = all(shape[:1] == (n,) for shape, n in zip(shapes, counts, strict=True))
    # One item a shard and one value: a loss, unless it is something that cannot be averaged.
    is_mean = not by_item or (name == "loss" and all(shape == (1,) for shape in shapes))
    try:
        if not is_mean:
            return Tensor.cat(list(tensors))
        return weighted_sum(tensors, counts) if tensors[0].kind == "float" else tensors[0]
    except Exception as error:
        raise TypeError(
            f"{name!r} of the shards cannot be put together, shapes {', '.join(map(str, shapes))}: {error}; "
            f"give the output a class method combine(items, counts)"
        ) from error
