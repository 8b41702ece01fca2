"""How far a pass has come."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Progress"]


# Not frozen: one is made for each batch, and a frozen one takes three times as long.
@dataclass(slots=True, unsafe_hash=True)
class Progress:
    """Items so far, of how many; ``items_total`` is ``None`` where nobody knows.

    Example:
        >>> Progress(3, 10), str(Progress(3, 10)), Progress(10, 10).is_completed()
        (Progress(items_processed=3, items_total=10, unit='items'), '3/10', True)
        >>> Progress.aggregate([Progress(1, 2), Progress(3, 4)])
        Progress(items_processed=4, items_total=6, unit='items')

    Source: Burn ``data::dataloader::Progress``.
    """

    items_processed: int
    items_total: int | None
    unit: str = "items"

    def is_completed(self) -> bool:
        """Whether all items have been processed; never where their number is not known."""
        return self.items_processed == self.items_total

    @staticmethod
    def aggregate(parts: Iterable[Progress]) -> Progress:
        """The sum; the total is known if that of each part is."""
        parts = list(parts)
        totals = [part.items_total for part in parts]
        known = [total for total in totals if total is not None]
        total = sum(known) if len(known) == len(totals) else None
        unit = parts[0].unit if parts else "items"
        return Progress(sum(part.items_processed for part in parts), total, unit)

    def __str__(self) -> str:
        return f"{self.items_processed}" + ("" if self.items_total is None else f"/{self.items_total}")
