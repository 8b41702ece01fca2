"""How a load that goes on tells what it could not do."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from burnpy.errors import RecordValidationError, RecordWarning

__all__ = ["tell"]

# How many names of a kind a text tells.
_SHOWN = 20


def tell(record: str, found: Mapping[str, Sequence[str]], *, strict: bool, report: object = None) -> None:
    """Warn of what was found, by kind; say nothing if it is nothing.

    Raises:
        RecordValidationError: something was found, and ``strict``.

    Example:
        >>> tell("scheduler", {"unused": ["step"]}, strict=True)
        Traceback (most recent call last):
        burnpy.errors.RecordValidationError: scheduler record: unused: step
    """
    parts = [f"{kind}: {_listed(names)}" for kind, names in found.items() if names]
    if not parts:
        return
    text = f"{record} record: {'; '.join(parts)}"
    if strict:
        raise RecordValidationError(text, report=report)
    warnings.warn(text, RecordWarning, stacklevel=4)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
