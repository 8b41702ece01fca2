"""A text file that grows, and can be cut back to where it was."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

__all__ = ["cut", "open_fresh", "open_to_append", "size"]


def open_fresh(path: Path) -> IO[str]:
    """An empty file, with the folders that lead to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return open(path, "w", encoding="utf-8", newline="\n")


def open_to_append(path: Path) -> IO[str]:
    """The file at its end, with the folders that lead to it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return open(path, "a", encoding="utf-8", newline="\n")


def size(path: Path) -> int:
    """Its bytes; 0 if it is not there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def cut(path: Path, position: int) -> None:
    """Leave the first bytes of a file.

    Raises:
        ValueError: it has fewer.
    """
    found = size(path)
    if found < position:
        raise ValueError(f"{path} should have at least {position} bytes, it has {found}")
    if found > position:
        os.truncate(path, position)
