"""A safetensors file as an archive of ``burnpy.open``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnpy._core import ForeignFile
from burnpy.store.foreign import ForeignArchive

if TYPE_CHECKING:
    from burnpy.pack import Limits

__all__ = ["SafetensorsArchive"]


class SafetensorsArchive(ForeignArchive):
    """A safetensors file: its header was read, with every check that the format asks for."""

    def __init__(self, path: str, limits: Limits | None = None) -> None:
        super().__init__(ForeignFile.safetensors(path, limits), path)
