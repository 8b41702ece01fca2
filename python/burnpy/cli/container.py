"""A file opened for a command, and what JSON says of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

from burnpy.cli.text import json_float

if TYPE_CHECKING:
    from burnpy._shards import ShardedReader
    from burnpy._typing import Backend
    from burnpy.pack import Reader, Scalar

    Container: TypeAlias = Reader | ShardedReader

__all__ = ["Container", "opened", "opened_file", "scalar_json"]

if not TYPE_CHECKING:
    Container = object


@contextmanager
def opened(path: str, *, backend: Backend = "pread") -> Iterator[Container]:
    """Open a file, or all files of an index, for as long as the block runs.

    Reads through the open file, not a map: a command should not die of a file that another process cuts.
    """
    # Here, not at the top: `burnpy --help` need not load what reads files.
    from burnpy.safe_open import open_reader

    with closing(open_reader(path, backend=backend)) as reader:
        yield reader


@contextmanager
def opened_file(path: str) -> Iterator[Reader]:
    """Open a single file."""
    from burnpy.pack import Reader

    with Reader._find(path, backend="auto") as reader:
        yield reader


def scalar_json(scalar: Scalar) -> dict[str, Any]:
    """A scalar's kind and value; a float that JSON cannot say is a word."""
    value = scalar.value
    return {"kind": scalar.kind, "value": json_float(value) if isinstance(value, float) else value}
