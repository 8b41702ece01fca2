"""Aliases that signatures share."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Literal, TypeAlias, Union

if TYPE_CHECKING:
    from burnpy.storage.location import Location

__all__ = ["Backend", "Framework", "PathLike", "Place"]

PathLike: TypeAlias = str | os.PathLike[str]
"""A path as ``open`` takes it."""

Place: TypeAlias = Union[str, os.PathLike[str], "Location", IO[bytes]]
"""A path, a URL, a file object, or what ``burnpy.storage.at`` makes."""

Backend: TypeAlias = Literal["auto", "mmap", "pread"]
"""How a file is reached: mapped, or read."""

Framework: TypeAlias = Literal["numpy", "np", "torch", "pt", "pytorch", "jax", "flax"]
"""Whose tensors are made, in burnpy's words and in those of safetensors."""
