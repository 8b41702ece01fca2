"""Where Burn keeps data sets that were fetched or made."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

__all__ = ["cache_dir", "file_name"]


def cache_dir() -> Path:
    """The folder ``burn-dataset`` of the user's cache; not created.

    Example:
        >>> cache_dir().name
        'burn-dataset'
    """
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "burn-dataset"


def file_name(name: str) -> str:
    """A name without what no file may have in its.

    Raises:
        ValueError: nothing is left.

    Example:
        >>> file_name("ag/news: all")
        'agnews all'
    """
    kept = re.sub(r'[/\\?<>:*|"\x00-\x1f\x7f-\x9f]', "", name).rstrip(". ")
    if not kept:
        raise ValueError(f"name {name!r} has no character that a file may have in its")
    return kept
