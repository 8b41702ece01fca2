"""Arrays as a data set: items are rows, and batches are gathered at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from burnpy._core import Device, Tensor
from burnpy.data.dataset.dataset import Dataset, check_index

__all__ = ["Rows", "TensorDataset"]


class TensorDataset(Dataset[Any]):
    """Arrays of equal length: item i holds row i of each.

    The way to many items a second: a batch is gathered in one pass over each array, without an object per item, and
    arrives in the batcher as :class:`Rows`, whose ``columns`` are the tensors. Transforms that choose items keep that.

    Args:
        arrays: tensors, or NumPy arrays, which are shared and must not change; items are tuples.
        named: the same with names, instead; items are dicts.
        item: what makes an item of the rows, by position or by keyword, in place of a tuple or dict.

    Raises:
        ValueError: no array, arrays with and without names, a scalar, or different lengths.

    Example:
        >>> import numpy as np
        >>> dataset = TensorDataset(image=np.zeros((100, 28, 28), np.uint8), label=np.arange(100) % 10)
        >>> dataset.get(42)["label"].item()
        2
        >>> dataset.get_many([3, 14, 15]).columns["image"].shape
        (3, 28, 28)
    """

    def __init__(self, *arrays: Any, item: Callable[..., Any] | None = None, **named: Any) -> None:
        if bool(arrays) == bool(named):
            raise ValueError("arrays must be given either by position or by name")
        self.names = tuple(named) or None
        self.arrays = tuple(_plain(array) for array in (arrays or named.values()))
        self.item = item
        shapes = [array.shape for array in self.arrays]
        if not all(shapes) or len({shape[0] for shape in shapes}) > 1:
            raise ValueError(f"arrays must have the same number of rows, their shapes are {shapes}")

    def __len__(self) -> int:
        return self.arrays[0].shape[0]

    def get(self, index: int) -> Any:
        """The rows of number ``index``."""
        index = check_index(index, len(self))
        return self.make([array[index] for array in self.arrays])

    def get_many(self, indexes: Sequence[int]) -> Rows:
        """The rows of several numbers, gathered."""
        length = len(self)
        if len(indexes) and not (min(indexes) >= 0 and max(indexes) < length):
            for index in indexes:
                check_index(index, length)
        if isinstance(indexes, range) and indexes.step == 1:
            # A stretch is a view.
            columns = [array[indexes.start : indexes.stop] for array in self.arrays]
        else:
            places = Tensor.from_ints(list(indexes), Device.cpu())
            columns = [array.select(0, places) for array in self.arrays]
        return Rows(self, columns, len(indexes))

    def make(self, parts: Sequence[Any]) -> Any:
        """What has the form of an item, of one part for each array."""
        named = dict(zip(self.names, parts, strict=True)) if self.names else {}
        if self.item is not None:
            return self.item(**named) if self.names else self.item(*parts)
        return named if self.names else tuple(parts)


class Rows(Sequence[Any]):
    """Some items of a :class:`TensorDataset`: a sequence, whose items are made when they are asked for.

    Example:
        >>> import numpy as np
        >>> rows = TensorDataset(np.arange(6).reshape(3, 2)).get_many([2, 0])
        >>> rows.columns[0].tolist(), len(rows), rows[1][0].tolist()
        ([[4, 5], [0, 1]], 2, [0, 1])
    """

    def __init__(self, dataset: TensorDataset, columns: list[Tensor], length: int) -> None:
        self._dataset = dataset
        self._columns = columns
        self._length = length

    @property
    def columns(self) -> Any:
        """One tensor for each array, ``(rows, …)``: a dict where arrays have names, else a tuple."""
        names = self._dataset.names
        return dict(zip(names, self._columns, strict=True)) if names else tuple(self._columns)

    def stacked(self, device: Device) -> Any:
        """All rows as one item: its parts are the columns, on a device."""
        return self._dataset.make([column.to_device(device) for column in self._columns])

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(self._length))]
        place = check_index(index + self._length if index < 0 else index, self._length)
        return self._dataset.make([column[place] for column in self._columns])

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(self._length))


def _plain(array: Any) -> Tensor:
    if isinstance(array, Tensor):
        return array.detach().without_autodiff()
    import numpy as np

    return Tensor.from_numpy(np.asarray(array), copy=False, device=Device.cpu())
