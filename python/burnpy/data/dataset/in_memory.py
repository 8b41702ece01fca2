"""Items in memory, also from lines of JSON and from CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from burnpy.data.dataset.dataset import Dataset, as_dataset, check_index
from burnpy.data.dataset.item import ItemType
from burnpy.errors import DatasetError

if TYPE_CHECKING:
    from burnpy._typing import PathLike

__all__ = ["InMemDataset"]

T = TypeVar("T")


class InMemDataset(Dataset[T]):
    """A list of items.

    Items are handed out as they are, not copied (Burn copies): do not change them.

    Example:
        >>> InMemDataset(["a", "b"]).get(1)
        'b'

    Source: Burn ``data::dataset::InMemDataset``.
    """

    def __init__(self, items: Iterable[T]) -> None:
        self.items = list(items)

    def __len__(self) -> int:
        return len(self.items)

    def get(self, index: int) -> T:
        """The item."""
        return self.items[check_index(index, len(self.items))]

    def get_many(self, indexes: Sequence[int]) -> list[T]:
        """The items."""
        items, length = self.items, len(self.items)
        return [items[check_index(index, length)] for index in indexes]

    @staticmethod
    def from_dataset(dataset: Dataset[T] | Sequence[T]) -> InMemDataset[T]:
        """All items of another data set, read now."""
        return InMemDataset(as_dataset(dataset))

    @staticmethod
    def from_json_rows(path: PathLike, item: Any = None) -> InMemDataset[Any]:
        """One item from each line of JSON; blank lines are skipped, unlike Burn.

        Args:
            path: the file, in UTF-8.
            item: what an item is, as in :meth:`from_csv`; without it, what the JSON says.

        Raises:
            OSError: the file cannot be read.
            DatasetError: a line is no JSON, or not of the item's type; with file and line.
        """
        kind = None if item is None else ItemType[Any](item, "json")
        return InMemDataset(_json_rows(Path(path), kind))

    @staticmethod
    def from_csv(
        path: PathLike,
        item: Any = None,
        *,
        delimiter: str = ",",
        has_headers: bool = True,
        quote: str | None = '"',
    ) -> InMemDataset[Any]:
        r"""One item from each row of a CSV file.

        Args:
            path: the file, in UTF-8, with or without byte order mark.
            item: a dataclass or named tuple, a mapping of names to types (items are dicts), or a ``tuple[…]``. Fields
                are found by name if there are headers, else by position; surplus columns are ignored if there are
                headers. Without it, a dict of strings, or a tuple of them where there are no headers.
            delimiter: what stands between two columns.
            has_headers: whether the first row names the columns.
            quote: what encloses a value with delimiters in it; ``None`` for nothing.

        Numbers, ``true`` and ``false`` are read as such where the type says so, an empty value as ``None`` where it
        may be.

        Raises:
            OSError: the file cannot be read.
            DatasetError: rows of different lengths, a column missing, a value of another type; with file and line.

        Example:
            >>> _ = Path("cities.csv").write_text("name,people\nUlm,129882\nBonn,\n")
            >>> list(InMemDataset.from_csv("cities.csv", {"people": int | None, "name": str}))
            [{'people': 129882, 'name': 'Ulm'}, {'people': None, 'name': 'Bonn'}]
        """
        kind = None if item is None else ItemType[Any](item, "text")
        options: dict[str, Any] = {"delimiter": delimiter, "strict": True}
        options |= {"quoting": csv.QUOTE_NONE} if quote is None else {"quotechar": quote}
        return InMemDataset(_csv_rows(Path(path), kind, has_headers, options))


def _json_rows(path: Path, kind: ItemType[Any] | None) -> Iterator[Any]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                yield row if kind is None else _from_json(kind, row)
            except (ValueError, RecursionError) as error:
                raise DatasetError(f"{path}, line {number}: {error}", path=str(path)) from error


def _from_json(kind: ItemType[Any], row: Any) -> Any:
    if isinstance(row, dict):
        return kind.from_mapping(row)
    return kind.from_sequence(row if isinstance(row, list) and not kind.is_single else [row])


def _csv_rows(
    path: Path, kind: ItemType[Any] | None, has_headers: bool, options: dict[str, Any]
) -> Iterator[Any]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file, **options)
        try:
            yield from _csv_items(rows, kind, has_headers)
        except (ValueError, csv.Error) as error:
            raise DatasetError(f"{path}, line {rows.line_num}: {error}", path=str(path)) from error


def _csv_items(rows: Any, kind: ItemType[Any] | None, has_headers: bool) -> Iterator[Any]:
    headers: list[str] | None = next(rows, []) if has_headers else None
    if headers and kind is not None and (missing := [name for name in kind.names if name not in headers]):
        raise ValueError(f"there is no column {', '.join(map(repr, missing))}, the file has {headers}")
    width = len(headers) if headers else None
    for row in rows:
        if not row:
            continue
        width = len(row) if width is None else width
        if len(row) != width:
            raise ValueError(f"the row has {len(row)} columns, the first one {width}")
        if headers is None:
            yield tuple(row) if kind is None else kind.from_sequence(row)
        else:
            named = dict(zip(headers, row, strict=True))
            yield named if kind is None else kind.from_mapping(named)
