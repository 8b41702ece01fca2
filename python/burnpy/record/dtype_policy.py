"""Which dtype a parameter has after a load."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from burnpy.record.entry import Entry, kind_of

__all__ = ["DTypePolicy"]


class DTypePolicy(Enum):
    """Whose dtype a parameter has after a load: the record's or the module's.

    Parameters of bools always hold bools: what is not zero is true. A quantized tensor stays quantized.

    Unlike Burn: which makes an "int" parameter of floats if a record has floats; that is refused here, unless the
    module's dtype is asked for.

    Example:
        >>> DTypePolicy("FromRecord")
        <DTypePolicy.FromRecord: 'FromRecord'>
    """

    FromRecord = "FromRecord"
    CastToModule = "CastToModule"

    def fits(self, entry: Entry, kind: Literal["float", "int", "bool"]) -> bool:
        """Whether a record's tensor can become a parameter of that kind."""
        if entry.dtype == "qfloat":
            return kind == "float"
        return entry.kind == kind or kind == "bool" or self is DTypePolicy.CastToModule

    def dtype(self, entry: Entry, module: str) -> str:
        """The dtype that a record's tensor gets, if the module's parameter has ``module``."""
        if kind_of(module) == "bool":
            return "bool"
        # Nothing is quantized by a load: a quantized parameter takes floats as they are.
        kept = self is DTypePolicy.FromRecord or "qfloat" in (entry.dtype, module)
        return entry.dtype if kept else module
