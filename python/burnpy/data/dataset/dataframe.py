"""The rows of a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from burnpy.data.dataset.dataset import Dataset, check_index
from burnpy.data.dataset.item import ItemType
from burnpy.errors import DataframeDatasetError

__all__ = ["DataframeDataset"]


class DataframeDataset(Dataset[Any]):
    """Item i is row i of a polars or pandas frame, or of anything with ``columns``, ``len`` and columns by name.

    A missing value (null, NaN of pandas in a column that is not of floats, NaT) is ``None``; a date or time for a field
    of type ``int`` is the days since 1970, or the nanoseconds since midnight, as in Burn. The frame must not change.

    Args:
        frame: the frame.
        item: what items are, as in :meth:`InMemDataset.from_csv`; without it, dicts of the columns.

    Raises:
        DataframeDatasetError: a field has no column (``MissingColumn``); when a row is asked for, a value is of
            another type (``Conversion``).
        TypeError: this is no frame.

    Example:
        >>> class Frame(dict):
        ...     columns = property(list)
        ...     def __len__(self):
        ...         return 2
        >>> frame = Frame(name=["a", "b"], size=[1, 2], more=[0, 0])
        >>> DataframeDataset(frame, {"size": float, "name": str}).get(1)
        {'size': 2.0, 'name': 'b'}

    Source: Burn ``data::dataset::DataframeDataset``.
    """

    def __init__(self, frame: Any, item: Any = None) -> None:
        if not (hasattr(frame, "columns") and hasattr(frame, "__len__") and hasattr(frame, "__getitem__")):
            raise TypeError(
                f"a data frame has columns, a length and columns by name, got {type(frame).__name__}"
            )
        self._length = len(frame)
        self._kind = None if item is None else ItemType[Any](item, "frame")
        present = list(frame.columns)
        names = self._kind.names if self._kind is not None and self._kind.names else present
        if missing := [name for name in names if name not in present]:
            raise DataframeDatasetError(
                f"there is no column {', '.join(map(repr, missing))}, the frame has {present}",
                kind="MissingColumn",
            )
        # Column by column: a row of a pandas frame has one type for all its values.
        self._columns = {name: _values(frame[name]) for name in names}

    def __len__(self) -> int:
        return self._length

    def get(self, index: int) -> Any:
        """The row."""
        index = check_index(index, self._length)
        row = {name: _plain(column[index]) for name, column in self._columns.items()}
        if self._kind is None:
            return row
        try:
            return self._kind.from_mapping(row)
        except ValueError as error:
            raise DataframeDatasetError(f"row {index}: {error}", kind="Conversion") from error


def _values(column: Any) -> Sequence[Any]:
    array = getattr(column, "array", None)  # pandas: by place, whatever the index is
    values: Sequence[Any] = column if array is None or callable(array) else array
    return values


def _plain(value: Any) -> Any:
    kind = type(value).__name__
    if kind in ("NaTType", "NAType") or value is None:
        return None
    if kind in ("ndarray", "Series"):
        return value.tolist() if kind == "ndarray" else value.to_list()
    return value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value
